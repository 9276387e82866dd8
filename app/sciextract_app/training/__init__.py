"""Trainings from the desk: what one would be made of, how it goes, and its result."""
