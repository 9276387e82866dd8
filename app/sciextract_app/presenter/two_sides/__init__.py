"""One abstract as two sources have it, side by side."""
