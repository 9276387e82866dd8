"""Scripts that run on the other machine: each is sent to its Python, needs 3.8 and nothing else."""
