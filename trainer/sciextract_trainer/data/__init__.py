"""Documents to training examples, and examples to batches."""
