"""What the review desk shows and what its keys do, in plain Python: no terminal, no widgets."""
