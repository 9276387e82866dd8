"""The commands of ``python -m research``, one module each; heavy imports only when one runs."""
