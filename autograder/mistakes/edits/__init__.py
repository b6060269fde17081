"""Small edits of a function's source text, each in one place. This package needs only the standard library."""
