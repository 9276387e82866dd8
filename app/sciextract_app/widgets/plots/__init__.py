"""Plots of block characters: every terminal has them, and lengths differ where colours do not."""
