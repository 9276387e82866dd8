"""Models from a plan: which stages make a model, from encoder and data to the folder that is shipped."""
