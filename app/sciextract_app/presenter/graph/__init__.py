"""What the view of a knowledge graph shows, without a terminal."""
