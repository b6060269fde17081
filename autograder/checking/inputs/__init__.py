"""The inputs that an exercise allows: a contract's arguments, the categories they imply, and calls drawn from them."""
