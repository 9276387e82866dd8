"""Training on from a model folder, without any download."""
