"""Runs over many abstracts: worker processes, folders of parts, Ray."""
