"""What draws the presenter's values: one widget a file, without access to store or model."""
