"""Many abstracts at once: inputs cut into chunks, an engine that predicts them, and a sink that keeps the results."""
