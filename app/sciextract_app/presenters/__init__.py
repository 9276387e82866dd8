"""What is shown and what keys do, in plain Python: no terminal, no SQL."""
