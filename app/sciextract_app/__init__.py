"""The review desk: ``sciextract tui``."""
