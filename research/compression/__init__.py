"""Models with fewer bits, subwords or heads, and means of the weights of several trainings."""
