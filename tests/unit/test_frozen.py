"""Files that released versions wrote are read: graphs for their repairs, adapters, releases, exports."""

from __future__ import annotations

import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from sciextract.documents.annotations import Annotations, Completeness, Layer, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import read
from sciextract.graph.database import open_graph
from sciextract.graph.repairs import repairs_of
from sciextract.inference.adapter.folder import load_adapter
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_folder import open_folder
from sciextract.resources import bundled_models
from tests.unit.frozen import FROZEN, WRITERS


def _annotations(file: Path) -> list[Annotations]:
    documents = [*read([str(file)])]
    return [
        document.annotations for document in documents if isinstance(document, AnnotatedDocument)
    ]


def test_there_is_a_frozen_file_of_every_version() -> None:
    assert {file.name for file in FROZEN.iterdir()} >= {*WRITERS}


@pytest.mark.parametrize("script", FROZEN.glob("graph_*.sql"), ids=lambda script: script.stem)
def test_repairs_of_a_graph(tmp_path: Path, script: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "graph")) as connection:
        connection.executescript(script.read_text("utf-8"))
    with open_graph(tmp_path / "graph", earlier=True) as connection:
        [repair] = repairs_of(connection)
    assert (repair.kind, repair.name, repair.other) == ("merge", "neural networks", "SVM")


@pytest.mark.parametrize("packed", FROZEN.glob("adapter_*"), ids=lambda packed: packed.name)
def test_an_adapter(tmp_path: Path, packed: Path) -> None:
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path, filter="data")
    folder, base = open_folder(tmp_path / "frozen"), open_folder(bundled_models() / "sci")
    pipeline = Extractor.load("sci").pipeline
    assert load_adapter(folder, base, pipeline).layers == {*Layer}


@pytest.mark.parametrize("export", FROZEN.glob("export_*.jsonl"), ids=lambda export: export.stem)
def test_an_export(export: Path) -> None:
    first, second = _annotations(export)
    assert (len(first.entities), len(second.entities), len(first.relations)) == (4, 2, 1)


def test_an_export_with_the_state_of_its_project() -> None:
    items = [*read([str(FROZEN / "export_1_with_state.jsonl")])]
    states = [item.project_state for item in items if isinstance(item, AnnotatedDocument)]
    assert [state and state.note for state in states] == ["", "doubtful: \u03b1-tuned?"]
    assert states[1] and {*states[1].layers.values()} == {Completeness.DONE}
    assert [entity.state for entity in states[1].everything.entities].count(State.REJECTED) == 1


@pytest.mark.parametrize("release", FROZEN.glob("release_*"), ids=lambda release: release.name)
def test_a_release(release: Path) -> None:
    found = [
        annotation for file in (release / "data").iterdir() for annotation in _annotations(file)
    ]
    assert sorted(len(said.entities) for said in found) == [2, 4]
