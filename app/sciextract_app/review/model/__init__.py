"""What the review shows, and in which mode it is."""
