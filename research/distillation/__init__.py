"""Encoders and models that learn from other models, and from their own predictions."""
