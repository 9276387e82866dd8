"""Smaller models from trained ones: averaged weights, fewer bits, fewer subwords, fewer heads."""
