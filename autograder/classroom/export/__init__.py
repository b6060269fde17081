"""Export marks to Canvas, Moodle and spreadsheets."""
