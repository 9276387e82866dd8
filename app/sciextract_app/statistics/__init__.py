"""The statistics of a project as pages of plots."""
