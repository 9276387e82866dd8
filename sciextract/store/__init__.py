"""A project: one SQLite file with documents, annotations, decisions and the log of every action.

Other packages import what most of them need from here: :func:`create_project` and :func:`open_project` give a
:class:`Project`; its actions take references (:class:`EntityRef`, ...) and give an :class:`Outcome`; a
:class:`DocumentState` holds the rows of one document.
"""

from __future__ import annotations

from sciextract.store.actions.editing import (
    AttributeRef,
    EntityRef,
    ItemRef,
    LinkRef,
    RelationRef,
)
from sciextract.store.document_state import DocumentState, Outcome
from sciextract.store.opening import create_project, open_project
from sciextract.store.project import Project
from sciextract.store.rows import (
    AttributeRow,
    Completeness,
    EntityRow,
    ItemRow,
    LinkRow,
    RelationRow,
)

__all__ = [
    "AttributeRef",
    "AttributeRow",
    "Completeness",
    "DocumentState",
    "EntityRef",
    "EntityRow",
    "ItemRef",
    "ItemRow",
    "LinkRef",
    "LinkRow",
    "Outcome",
    "Project",
    "RelationRef",
    "RelationRow",
    "create_project",
    "open_project",
]
