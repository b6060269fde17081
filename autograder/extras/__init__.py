"""Optional features, which register their own commands. No other part of autograder imports them."""
