"""A corpus worth citing: the finished abstracts of a project as a folder with data, card, guideline and checksums."""
