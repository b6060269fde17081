"""Generate small edits of a function's source text. This package needs only the standard library."""
