"""How the bundled models are built, and what was measured and simulated on the way; not part of the wheel."""
