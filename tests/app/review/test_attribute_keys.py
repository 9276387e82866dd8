"""Keys a decision of attributes: counted on invented abstracts of two fields, by hand and with what was learned."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.annotations import State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema_file import parse_schema
from sciextract.inference.extractor import Extractor
from sciextract.store import AttributeRef, create_project
from sciextract.store.ingest import Import
from sciextract.text.analyse import make_document
from sciextract.workflows.learn import annotate_with_adapter
from sciextract_app.review.keys.desk import Desk
from tests.app.review.abstracts import press

SCHEMA = parse_schema(
    {
        "name": "review",
        "entities": [{"label": "Finding", "key": "f", "colour": "#112233"}],
        "attributes": [
            {"label": "measured", "key": "m", "on": ["abstract"]},
            {"label": "setting", "key": "s", "on": ["abstract"], "kind": "choice", "values": ["outdoors", "laboratory"]},
        ],
    },
    "test",
)  # fmt: skip
# What is said: whether something was measured, and where.
FIELDS = {
    "stone": (
        ("We measured salt in the limestone of twelve churches on the coast by weighing.", True, "outdoors"),
        ("Cubes of marble were frozen in a climate chamber, and their mass was measured.", True, "laboratory"),
        ("This essay asks who owns the ruins of abbeys that stand in open fields.", False, "outdoors"),
        ("We discuss how test rigs of the laboratory came to imitate rain on stone.", False, "laboratory"),
        ("Crack widths of sandstone bridges were measured through two winters of rain.", True, "outdoors"),
        ("Mortar prisms were soaked in a bath at the laboratory, and strength was measured.", True, "laboratory"),
        ("This essay tells how villages along the coast have named their quarries.", False, "outdoors"),
        ("We discuss why chambers for frost tests differ between laboratories.", False, "laboratory"),
        ("Moisture of cathedral walls facing the sea was measured with probes.", True, "outdoors"),
        ("Slate plates were cut and their porosity was measured in a test chamber.", True, "laboratory"),
        ("This essay follows walls of dry stone across the hills and their makers.", False, "outdoors"),
        ("We discuss the bath that laboratories use for salt tests of mortar.", False, "laboratory"),
    ),
    "sleep of birds": (
        ("We recorded the sleep of wild gulls on a cliff and measured their heart rate.", True, "outdoors"),
        ("Finches slept in cages of a laboratory while their brain waves were measured.", True, "laboratory"),
        ("This review asks what is known about roosts of starlings in reed beds.", False, "outdoors"),
        ("We argue that cages of laboratories are no place to understand how pigeons doze.", False, "laboratory"),
        ("Body temperature of owls in forest nests was measured by small loggers.", True, "outdoors"),
        ("Quails were kept in chambers under dim light, and their rest was measured.", True, "laboratory"),
        ("This review looks at storks that rest on roofs during their migration.", False, "outdoors"),
        ("We argue for larger chambers in laboratories where hens are watched asleep.", False, "laboratory"),
        ("Eye closure of ducks on a lake was measured from films taken at night.", True, "outdoors"),
        ("Doves rested in a laboratory chamber, and their breathing was measured.", True, "laboratory"),
        ("This review gathers tales of swifts that sleep above the forest.", False, "outdoors"),
        ("We argue that lamps in laboratory cages keep songbirds awake.", False, "laboratory"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("field", FIELDS)
def test_keys_a_decision(field: str, tmp_path: Path) -> None:
    abstracts, half = FIELDS[field], 6
    with create_project(tmp_path / "p.sciextract", SCHEMA, "ann") as project:
        items = [make_document(f"d{n}", text, {}) for n, (text, *_) in enumerate(abstracts)]
        Import(project, "import:t", {}).add([(AnnotatedDocument(item), ()) for item in items])
        desk, counts = Desk(project), []
        for number, (_, measured, setting) in enumerate(abstracts, start=1):
            if number == half + 1:
                annotate_with_adapter(project, Extractor.load("science", threads=1))
            desk.refresh()
            desk.open(number)
            wanted = {"setting": setting} | ({"measured": ""} if measured else {})
            keys = 0
            for row in list(project.document_state(number).attributes):
                if row.state is State.UNDECIDED and wanted.get(row.label) == row.value:
                    desk.focus_item(AttributeRef(row.id))
                    keys += press(desk, "enter")
                elif row.state is State.UNDECIDED and row.label not in wanted:
                    desk.focus_item(AttributeRef(row.id))
                    keys += press(desk, "x")
            said = {
                row.label: row.value
                for row in project.document_state(number).attributes
                if row.in_view
            }
            if said.get("setting") != setting:
                keys += press(desk, f"' s {1 + (setting == 'laboratory')}")
            if measured and "measured" not in said:
                keys += press(desk, "' m")
            counts.append(keys)
            said = {
                row.label: row.value
                for row in project.document_state(number).attributes
                if row.in_view
            }
            assert said == wanted
            project.actions.mark_done(number, undecided="reject")
    decisions = [1 + measured for _, measured, _ in abstracts]
    by_hand = sum(counts[:half]) / sum(decisions[:half])
    learned = sum(counts[half:]) / sum(decisions[half:])
    print(f"{field}: {by_hand:.2f} keys a value by hand, {learned:.2f} with suggestions")
    assert by_hand <= 2.7
    assert learned < by_hand
