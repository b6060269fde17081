"""Optional features. Each registers its own commands; nothing outside imports from here."""
