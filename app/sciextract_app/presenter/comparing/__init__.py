"""What a model said about the open abstract, against what holds there now."""
