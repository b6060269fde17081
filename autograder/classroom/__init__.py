"""Grade a class: from the submissions to the gradebook and the feedback pages."""
