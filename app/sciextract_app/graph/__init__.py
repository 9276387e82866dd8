"""The view of a knowledge graph."""
