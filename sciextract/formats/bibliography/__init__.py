"""Readers of bibliographic formats."""
