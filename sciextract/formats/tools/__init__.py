"""Formats of annotation tools: Prodigy, doccano, Label Studio, spaCy DocBin."""
