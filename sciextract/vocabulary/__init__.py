"""Vocabularies that mentions are linked to: files of concepts with ids and names, and candidates for a mention.

Each is an SQLite file of its own beside the user's models, not part of a project: the promise of one file holds for
what people decide, and a million names would travel with every copy and backup. A project keeps the ids.
"""
