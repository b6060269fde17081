"""Write, validate and release a chapter."""
