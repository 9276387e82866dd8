"""Formats that put annotations beside or below the text: brat, PubTator, CoNLL columns."""
