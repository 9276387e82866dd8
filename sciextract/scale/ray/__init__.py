"""The Ray engine; Ray is imported nowhere else."""
