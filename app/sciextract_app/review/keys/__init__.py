"""What a key of the review does."""
