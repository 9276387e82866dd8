"""The model ``sci-base`` of sciextract: the folder ``model`` beside this file."""
