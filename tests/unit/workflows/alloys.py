"""Six abstracts about alloys with labels that no bundled model knows, and a person who finishes them."""

from __future__ import annotations

from sciextract.documents.annotations import Span
from sciextract.documents.schema_file import parse_schema
from sciextract.store import Project

ALLOYS = ("brass", "bronze", "steel", "nitinol", "invar", "solder")
OWN = parse_schema(
    {
        "name": "metals",
        "coreference": True,
        "entities": [
            {"label": "Alloy", "key": "a", "colour": "#112233"},
            {"label": "Heat treatment", "key": "h", "colour": "#223344"},
        ],
        "relations": [{"label": "Treated by", "key": "t", "colour": "#334455"}],
    },
    "schema of the test",
)


def text(alloy: str) -> str:
    return f"We study {alloy} after annealing. The grains of {alloy} grow during annealing at noon."


def finish(project: Project, number: int) -> None:
    """Add both alloys and both treatments of an abstract, a relation, and say that it is done."""
    of = project.document_state(number).text
    ids = []
    for word, label in ((ALLOYS[number - 1], "Alloy"), ("annealing", "Heat treatment")):
        start = of.index(word)
        for at in (start, of.index(word, start + 1)):
            project.actions.add_entity(number, [Span(at, at + len(word))], label)
            ids.append(at)
    rows = {row.char_start: row.id for row in project.document_state(number).entities}
    project.actions.add_relation(number, rows[ids[0]], rows[ids[2]], "Treated by")
    project.actions.mark_done(number, undecided="reject")
