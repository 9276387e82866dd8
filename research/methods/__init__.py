"""Published methods beside those of the product, each measured once: research/notes/methods.md has what came of it."""
