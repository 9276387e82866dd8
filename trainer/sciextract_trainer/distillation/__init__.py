"""Encoder distillation: a small encoder learns what a large one makes of unlabelled abstracts."""
