"""Create a working course folder, add exercises with all their parts, and update stubs from their references."""
