"""A project into which another annotator's work was merged, with every kind of difference between them."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path

from sciextract.documents.annotations import Layer, Span
from sciextract.store import EntityRef, LinkRef, Project, RelationRef, open_project
from sciextract.workflows.divide import merge_projects
from tests.app.review.abstracts import AGAIN, TEXT, gold, place, project_with

BEN = "import:ben.sciextract"
LAST = "We parse \x1b[31mhostile[12] text with taggers."
STUDY = "error study"


def merged_project(folder: Path) -> Path:
    """Ann's project with Ben's merged into it; both have worked on all three abstracts."""
    path = folder / "p.sciextract"
    path.write_bytes(_made())
    return path


@cache
def _made() -> bytes:
    """The closed project, made once."""
    with tempfile.TemporaryDirectory() as folder:
        return _merged(Path(folder)).read_bytes()


def _merged(folder: Path) -> Path:
    with project_with(folder, gold(), (TEXT, AGAIN, LAST)) as project:
        project.actions.mark_done(1, undecided="accept")
        path = project.path
    ben = Path(shutil.copy(path, folder / "ben.sciextract"))
    with open_project(path, "ann") as project:
        _add(project, 2, AGAIN, "graph tagger", 0, "Method")
        project.actions.mark_done(2, (Layer.ENTITIES,))
        _add(project, 3, LAST, "taggers", 0, "Method")
    with open_project(ben, "ben") as project:
        _bens_first(project)
        _add(project, 2, AGAIN, "graph tagger", 1, "Generic")
        project.actions.mark_done(2, (Layer.ENTITIES,))
        _add(project, 3, LAST, "taggers", 0, "Method")
    with open_project(path, "ann") as project:
        merge_projects(project, ben)
    return path


def _bens_first(project: Project) -> None:
    """Another type, another edge, more, less, another direction, another relation, another cluster."""
    actions = project.actions
    actions.set_label(1, EntityRef("lexicon"), "OtherScientificTerm")
    actions.move_edge(1, "corpus", "start", 1)
    study = _add(project, 1, TEXT, STUDY, 0, "Method")
    actions.reject(1, EntityRef("speed"))
    actions.invert(1, "encoder tagger2")
    actions.set_label(1, RelationRef("features window"), "FEATURE-OF")
    actions.add_relation(1, study, "clauses", "USED-FOR")
    [second] = [
        cluster.id for cluster in project.document_state(1).clusters if cluster.id == "of window"
    ]
    actions.join(1, "it", second)
    actions.reject(1, LinkRef("of tagger1", "approach"))


def _add(project: Project, number: int, text: str, words: str, which: int, label: str) -> str:
    span = place(words, which, text)
    project.actions.add_entity(number, [Span(span.char_start, span.char_end)], label)
    return project.document_state(number).on_fragments((span,))[0].id
