"""Adjudications of the merged project, and what the tests ask of them."""

from __future__ import annotations

from sciextract.documents.annotations import Entity
from sciextract.store import Project
from sciextract.workflows.adjudicate import disputes
from sciextract.workflows.disagreements import Decisions, other_sources
from sciextract_app.adjudication.presenter import Adjudication

ALL, FIRST = 15, 13
"""Differences of the project, and of its first abstract."""


def against(project: Project, name: str, number: int = 1) -> Adjudication:
    sides = other_sources(project, Decisions(project))
    return Adjudication(project, [side for side in sides if side.name == name], number)


def kinds(desk: Adjudication) -> list[str]:
    return [line.kind for line in desk.view().lines]


def look_at(desk: Adjudication, kind: str, words: str = "") -> None:
    """Put the focus on the difference of a kind, by keys."""
    for _ in desk.view().lines:
        [now] = [line for line in desk.view().lines if line.focused]
        if now.kind == kind and words in f"{now.here} {now.there}":
            return
        assert not desk.press("tab").problem
    raise AssertionError(f"no difference {kind!r} among {kinds(desk)}")


def holds(project: Project) -> object:
    """The current view of the first abstract."""
    return project.document(1).annotations


def waiting(project: Project) -> set[str]:
    return {dispute.key for dispute in disputes(project)}


def entities(project: Project) -> list[Entity]:
    return list(project.document(1).annotations.entities)


def fragments_of(project: Project, entity_id: str) -> object:
    return project.document(1).annotations.entity(entity_id).fragments
