"""Smaller models from trained ones: averaged weights, fewer bits, fewer pieces, fewer heads."""
