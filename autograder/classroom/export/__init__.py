"""Marks on their way to other systems: Canvas, Moodle, spreadsheets."""
