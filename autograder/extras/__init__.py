"""Optional features. Each registers its own commands, and no other part of autograder imports them."""
