"""From exact text to tokens and sentences, and back: pure functions on strings and offsets."""
