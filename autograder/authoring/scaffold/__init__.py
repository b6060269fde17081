"""What an author begins with: a course folder that works at once, an exercise with all its parts, stubs that follow their references."""
