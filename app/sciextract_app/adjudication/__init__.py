"""Two sides of an abstract: a model and a person, or several people, compared and adjudicated."""
