"""Encoders of every family: settings, weights, tokenizer and room for positions, with what can be wrong with them."""
