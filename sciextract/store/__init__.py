"""A project: one SQLite file with documents, annotations, decisions and the log of every action.

:func:`create_project` and :func:`open_project` are the doors; :class:`Project` is what they give.
"""

from __future__ import annotations

from sciextract.store.opening import create_project, open_project
from sciextract.store.project import Project

__all__ = ["Project", "create_project", "open_project"]
