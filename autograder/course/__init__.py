"""The course folder: its settings, its chapters, its secret and its notebooks."""
