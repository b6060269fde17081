"""Grade submitted notebooks."""
