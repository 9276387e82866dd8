"""Masked-language training of encoders on unlabelled abstracts."""
