"""A student's terminal: a notebook judged by the examples beside it, the course laid out, and checks at each save."""
