"""A correction round: from a project's decisions to a model that is judged, registered and used."""
