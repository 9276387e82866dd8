"""What runs beside the keys: each function opens the project for itself, and only posts messages."""
