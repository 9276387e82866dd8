"""Continued pretraining of an encoder on unlabelled abstracts."""
