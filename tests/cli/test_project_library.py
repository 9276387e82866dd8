"""From a reference manager to brat and back: nothing is lost, nothing is doubled."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from sciextract.documents.annotations import State
from sciextract.errors import ExitCode
from sciextract.resources import bundled_models, data_root
from sciextract.store import EntityRef, Project, RelationRef, open_project
from sciextract.store.state_tables import find_differing
from tests.cli.conftest import Command
from tests.cli.projects import documents, view

pytestmark = pytest.mark.skipif(
    not (bundled_models() / "sci" / "manifest.json").is_file(), reason="no bundled model yet"
)
LIBRARY = data_root() / "sample_data" / "library.ris"


def decide(project: Project) -> None:
    """What a person does to a library: bulk decisions, single ones, additions."""
    actions = project.actions
    actions.accept_above(0.5)
    for number in project.numbers()[:4]:
        draft = project.document_state(number)
        waiting = [entity for entity in draft.entities if entity.state is State.UNDECIDED]
        actions.reject(number, EntityRef(waiting[0].id))
        actions.set_label(number, EntityRef(waiting[1].id), "Material")
        found = [relation for relation in draft.relations if relation.state is State.UNDECIDED]
        if found:
            actions.accept(number, RelationRef(found[0].id))
        accepted = [entity for entity in draft.entities if entity.state is State.ACCEPTED]
        actions.new_cluster(number, [entity.id for entity in accepted[:3]])
        actions.mark_done(number, undecided="reject")


def items(path: Path) -> Counter[str]:
    """How many items of each kind a project's current view has."""
    found = Counter[str]()
    for document in documents(path):
        found["entities"] += len(document.annotations.entities)
        found["relations"] += len(document.annotations.relations)
        found["clusters"] += len(document.annotations.clusters)
    return found


def test_ris_to_brat_and_back(command: Command, work: Path) -> None:
    library, again = Path("library.sciextract"), Path("again.sciextract")
    command("init", library)
    assert json.loads(command("import", LIBRARY, "--json").out)["documents"] == 26
    assert command("annotate", "--json").code == ExitCode.DONE
    with open_project(library, "ann") as project:
        decide(project)
    before, counts = view(library), items(library)
    assert counts["entities"] > 100 and counts["relations"] > 10 and counts["clusters"] > 5

    exported = command("export", "--to", "brat", "--output", "corpus", "--strict", "--json")
    assert (exported.code, json.loads(exported.out)["losses"]) == (ExitCode.DONE, {})

    command("init", again)
    imported = command("import", "corpus", "--project", again, "--json")
    assert imported.code == ExitCode.DONE, imported.err
    summary = json.loads(imported.out)
    assert (summary["documents"], summary["added_labels"], summary["bad"]) == (26, [], 0)
    assert view(again) == before
    keys = [
        sorted(document.document.doc_key for document in documents(path))
        for path in (library, again)
    ]
    assert keys[0] == keys[1]

    same = json.loads(command("import", "corpus", "--project", library, "--json").out)
    assert (same["documents"], same["known"], same["items"]) == (0, 26, 0)
    assert view(library) == before and items(library) == counts
    assert {document.document.fields["year"] for document in documents(library)} > {2019, 2021}
    with open_project(library, read=True) as project:
        assert find_differing(project.connection) == []
