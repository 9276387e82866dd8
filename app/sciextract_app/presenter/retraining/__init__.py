"""Retraining as plain values: what would be trained on, how it goes, what came of it."""
