"""Scripts that run on the other machine with its own Python; only the standard library is there."""
