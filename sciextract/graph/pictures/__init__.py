"""Pictures of a graph: a neighbourhood as SVG or as a page to look at, trends as lines."""
