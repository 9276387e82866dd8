"""What several parts of the desk share: keys, values to draw, the open abstract, background jobs. No terminal, except in ``jobs.py``."""
