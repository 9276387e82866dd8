"""What corrections bring, and in which order: simulations in which gold labels play the annotator."""
