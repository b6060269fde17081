"""What a teacher reads of a class that was graded: tables of marks, and a page about a chapter. Nothing here grades."""
