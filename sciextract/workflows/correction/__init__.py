"""A correction round around its training: what it begins with, and what is judged in the end; no torch here."""
