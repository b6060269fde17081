"""Small edits of a function's source text, each in one place. Standard library only."""
