"""Encoders of the time before transformers: word vectors as they are, or read by a bidirectional LSTM."""
