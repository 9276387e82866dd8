"""The event log: changes, events, undo and redo, rebuilding the state."""
