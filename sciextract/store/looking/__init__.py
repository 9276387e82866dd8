"""Questions about a project: search, status, statistics."""
