"""Grade the submissions of a class, enter the marks in the gradebook and write the feedback pages."""
