"""Questions to a graph: nodes, neighbours, paths, rankings, trends; each answer with what supports it."""
