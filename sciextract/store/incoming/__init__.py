"""What comes in: imports, model runs, other projects."""
