"""Where a training runs: devices, groups of processes."""
