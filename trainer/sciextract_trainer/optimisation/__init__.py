"""What changes weights: optimisers, rates, averages, layers that begin anew."""
