"""What a person can do to a project. :class:`~sciextract.store.actions.api.Actions` is the door."""
