"""Small heads on the states of a frozen encoder, trained in seconds on what a person has decided (NumPy only)."""
