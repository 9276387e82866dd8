"""Scores that say how often predictions are right: one temperature per task, fitted on dev."""
