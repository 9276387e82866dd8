"""Typed, frozen objects for text, annotations and label schemas."""
