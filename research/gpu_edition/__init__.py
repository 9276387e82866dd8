"""A fifth edition of ``sci`` within minutes of a lent GPU: what travels there, its stages against the clock, what comes back."""
