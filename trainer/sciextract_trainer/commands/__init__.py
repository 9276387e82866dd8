"""The commands of ``sciextract-trainer``, one module each; heavy imports only when one runs."""
