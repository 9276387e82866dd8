"""Training on several data sets of which each knows only some of the types."""
