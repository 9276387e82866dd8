"""How many edges are right: a random sample to judge by hand, and what the judgements say about the graph."""
