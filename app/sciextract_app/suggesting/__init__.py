"""What the models do beside the keys: they predict abstracts, and learn from finished ones."""
