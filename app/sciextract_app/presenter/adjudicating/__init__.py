"""Deciding where another person, a model or a file differs from what holds here."""
