"""Training of sciextract models: data, networks, a readable loop, export."""

import sciextract  # noqa: F401  (switches the Hub's telemetry off before transformers is imported)
