"""Training on what was corrected: snapshot, run, remote machines, promotion."""
