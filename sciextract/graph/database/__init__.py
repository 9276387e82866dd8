"""The graph file: contributions as they came in, and the nodes and edges that follow from them."""
