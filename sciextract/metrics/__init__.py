"""Scores of predictions against gold: pure functions for trainer, command line and store alike."""
