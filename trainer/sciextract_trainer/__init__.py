"""Training of sciextract models: data, networks, a readable loop, export."""
