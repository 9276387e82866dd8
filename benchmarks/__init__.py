"""Benchmarks: run them as scripts, such as ``python benchmarks/annotate.py``."""
