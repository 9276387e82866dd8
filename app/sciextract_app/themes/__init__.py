"""Colours of the desk as data: themes, and the colours of a label schema made readable on them."""
