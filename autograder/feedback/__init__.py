"""The page that a student gets back: their notebook, what it put out, and at each exercise what the checks found."""
