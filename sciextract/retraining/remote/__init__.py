"""Trainings on other machines, through the ``ssh`` of the person."""
