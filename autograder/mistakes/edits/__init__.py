"""Single small edits of a function's source text: what may be wrong in one place of it. Standard library only."""
