"""Which bundled model suits a text: a cheap test of its words."""
