"""How the view of a knowledge graph looks."""
