"""Work on a project that needs ever more room, for the tests of full disks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sciextract.documents.annotations import Annotations, Span, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.store import Project, open_project
from sciextract.store.ingest import Import
from tests.unit.store.projects import document, entity, relation

#: Texts long enough that a few dozen of them fill some hundred kilobytes.
WORDS = " ".join(f"word{number % 97} net" for number in range(150))


def many(first: int, count: int) -> list[tuple[AnnotatedDocument, tuple[str, ...]]]:
    """Long abstracts with forty undecided items each."""
    return [(_abstract(number), ()) for number in range(first, first + count)]


@contextmanager
def prepared(path: Path, kind: str) -> Iterator[Iterator[int]]:
    """Steps of a kind of work, each of which grows the file; each says how many were finished before."""
    with open_project(path, "filler") as project:
        yield _importing(project) if kind == "import" else _deciding(project)


def _importing(project: Project) -> Iterator[int]:
    run = Import(project, "import:fill.jsonl", {"path": "fill.jsonl"})
    for step in range(10_000):
        run.add(many(1_000 + 5 * step, 5))
        yield step


def _deciding(project: Project) -> Iterator[int]:
    """Bulk decisions over the project and their undo: the log grows with each."""
    for step in range(10_000):
        numbers = project.documents_with_undecided()
        project.perform("fill", {"step": step}, numbers, _accept_all)
        project.undo()
        yield step


def _accept_all(doc, context) -> None:  # type: ignore[no-untyped-def]
    from sciextract.store.actions.editing import Edit

    Edit(doc, context).accept_above(0.0)


def _abstract(number: int) -> AnnotatedDocument:
    text = f"Abstract {number}. {WORDS}"
    starts = [place for place in range(len(text)) if text.startswith("net", place)][:30]
    entities = [
        entity(f"e{place}", Span(start, start + 3), "Method", 0.5, State.UNDECIDED)
        for place, start in enumerate(starts)
    ]
    relations = [
        relation(f"r{place}", f"e{place}", f"e{place + 1}", "Like", 0.5, State.UNDECIDED)
        for place in range(10)
    ]
    return AnnotatedDocument(
        document(text, f"f{number}"), Annotations(tuple(entities), tuple(relations))
    )
