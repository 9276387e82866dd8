"""Adapters: small heads that run on the encoder of another model, in NumPy only. They are trained in ``sciextract.learning``."""
