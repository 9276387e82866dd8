"""``--base`` and ``--gate``: each text once, gold complete, and files that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.annotations import Layer, State
from sciextract.errors import (
    FormatError,
    InputMissingError,
    SchemaError,
    SciextractError,
    TrainingDataError,
    UsageError,
)
from sciextract.snapshot.documents import Origin, Split
from sciextract.snapshot.files import Snapshot, build_snapshot, read_snapshot, read_undecided
from sciextract.store import Project
from tests.unit.snapshot.abstracts import (
    gold_file,
    placed,
    put_gold,
    texts,
    texts_of,
)
from tests.unit.store.projects import put

TRAIN, DEV, GATE = (texts(split, 3) for split in Split)


def built(
    project: Project, folder: Path, base: Path | None = None, gate: Path | None = None
) -> Snapshot:
    build_snapshot(project, folder / "s", base=base, gate=gate)
    return read_snapshot(folder / "s")


def test_a_base_only_trains_and_neither_chooses_nor_judges(
    project: Project, tmp_path: Path
) -> None:
    put_gold(project, TRAIN[0])
    base = gold_file(tmp_path / "base.jsonl", TRAIN[1], DEV[0], GATE[0])
    found = built(project, tmp_path, base)
    assert placed(found) == {
        TRAIN[0]: Split.TRAIN,
        TRAIN[1]: Split.TRAIN,
        GATE[0]: Split.TRAIN,
        DEV[0]: Split.TRAIN,
    }
    assert [example.origin for example in found.train] == [Origin.PROJECT, *[Origin.BASE] * 3]
    assert found.manifest.share_of_base == pytest.approx(3 / 4, abs=1e-4)
    assert all(example.complete == frozenset(Layer) for example in found.train[1:])


def test_a_base_alone_is_enough(project: Project, tmp_path: Path) -> None:
    found = built(project, tmp_path, gold_file(tmp_path / "b.jsonl", *TRAIN))
    assert found.manifest.share_of_base == 1.0


def test_what_the_project_holds_out_never_trains(project: Project, tmp_path: Path) -> None:
    put_gold(project, TRAIN[0])
    put_gold(project, GATE[0])
    put(project, text=GATE[1])  # nobody has decided anything about it, yet
    found = built(project, tmp_path, gold_file(tmp_path / "b.jsonl", *GATE))
    assert texts_of(found.gate) == [GATE[0]]
    assert texts_of(found.train) == [TRAIN[0], GATE[2]]
    assert found.manifest.left_out == {"the project holds the text out": 2}


def test_decisions_of_the_project_win_over_the_base(project: Project, tmp_path: Path) -> None:
    put_gold(project, TRAIN[0], (Layer.ENTITIES,))
    put(project, text=TRAIN[1])
    put_gold(project, DEV[0], ())
    found = built(project, tmp_path, gold_file(tmp_path / "b.jsonl", *TRAIN[:2], DEV[0]))
    assert [example.origin for example in found.train] == [Origin.PROJECT, Origin.BASE]
    assert found.train[0].complete == {Layer.ENTITIES}
    assert found.dev == ()  # its layers are not done, and the base does not stand in for them
    assert list(read_undecided(tmp_path / "s")) == []


def test_a_text_of_the_gate_file_is_nowhere_else(project: Project, tmp_path: Path) -> None:
    put_gold(project, TRAIN[0])
    put_gold(project, TRAIN[1])
    put(project, text=TRAIN[2])
    gate = gold_file(tmp_path / "gate.jsonl", TRAIN[1], TRAIN[2], DEV[0], DEV[0])
    base = gold_file(tmp_path / "base.jsonl", DEV[0], DEV[1], DEV[1])
    found = built(project, tmp_path, base, gate)
    assert placed(found) == {
        TRAIN[0]: Split.TRAIN,
        TRAIN[1]: Split.GATE,
        TRAIN[2]: Split.GATE,
        DEV[0]: Split.GATE,
        DEV[1]: Split.TRAIN,
    }
    assert len(found.gate) == 3
    assert found.manifest.left_out == {
        "the gate file has the text": 2,
        "the same text a second time": 2,
    }
    assert list(read_undecided(tmp_path / "s")) == []


def test_a_layer_that_the_file_does_not_annotate_is_not_complete(
    project: Project, tmp_path: Path
) -> None:
    base = tmp_path / "b.jsonl"
    base.write_text(
        '{"doc_key": "d", "sentences": [["A", "net", "."]], "ner": [[[1, 1, "Method"]]], '
        '"relations": [[]], "clusters": []}\n',
        "utf-8",
    )
    found = built(project, tmp_path, base)
    (document,) = (*found.train, *found.dev)
    assert document.complete == {Layer.ENTITIES}
    assert any("no relations in it" in warning for warning in found.manifest.warnings)


def test_predictions_are_no_gold(project: Project, tmp_path: Path) -> None:
    put_gold(project, TRAIN[0])
    guesses = gold_file(tmp_path / "g.jsonl", TRAIN[1], state=State.UNDECIDED)
    with pytest.raises(TrainingDataError, match="nothing in it is annotated") as caught:
        built(project, tmp_path, guesses)
    assert "predictions are not gold" in caught.value.hint
    mixed = gold_file(tmp_path / "m.jsonl", TRAIN[2])
    mixed.write_text(mixed.read_text("utf-8") + guesses.read_text("utf-8"), "utf-8")
    found = built(project, tmp_path, mixed)
    (guessed,) = (example for example in found.train if example.annotated.document.text == TRAIN[1])
    assert guessed.complete == frozenset()
    assert any("with undecided items" in warning for warning in found.manifest.warnings)


def test_a_split_of_another_snapshot_keeps_its_layers(project: Project, tmp_path: Path) -> None:
    put_gold(project, TRAIN[0])
    put_gold(project, GATE[0], (Layer.RELATIONS,))
    built(project, tmp_path)
    earlier = (tmp_path / "s" / "gate.jsonl").rename(tmp_path / "gate.jsonl")
    project.undo()  # done
    found = built(project, tmp_path, gate=earlier)
    assert [example.complete for example in found.gate] == [frozenset({Layer.RELATIONS})]


def test_records_that_cannot_be_read_are_told(project: Project, tmp_path: Path) -> None:
    base = gold_file(tmp_path / "b.jsonl", TRAIN[0])
    base.write_text(base.read_text("utf-8") + "{broken\n", "utf-8")
    warnings = built(project, tmp_path, base).manifest.warnings
    assert any("left out: 1" in warning and "b.jsonl:2" in warning for warning in warnings)


def test_labels_that_the_schema_lacks(project: Project, tmp_path: Path) -> None:
    base = gold_file(tmp_path / "b.jsonl", TRAIN[0])
    base.write_text(base.read_text("utf-8").replace('"Task"', '"Gene"'), "utf-8")
    with pytest.raises(SchemaError, match=r"entities: 'Gene' \(1\); it has Method, Task") as caught:
        built(project, tmp_path, base)
    assert f"sciextract import {base} --add-labels --project" in caught.value.hint
    assert not (tmp_path / "s").exists()


def test_the_project_itself_is_refused_unread(project: Project, tmp_path: Path) -> None:
    put_gold(project, TRAIN[0])
    with pytest.raises(UsageError, match="is the project itself"):
        built(project, tmp_path, gate=project.path)
    put_gold(project, TRAIN[1])


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("-", None, UsageError),
        ("missing.jsonl", None, InputMissingError),
        ("empty.jsonl", b"", FormatError),
        ("database", b"SQLite format 3\x00....", FormatError),
        ("plain.txt", b"An abstract about bees.", TrainingDataError),
    ],
)
def test_files_that_cannot_be_used(
    project: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    content: bytes | None,
    error: type[SciextractError],
) -> None:
    monkeypatch.chdir(tmp_path)
    put_gold(project, TRAIN[0])
    if content is not None:
        Path(name).write_bytes(content)
    with pytest.raises(error):
        built(project, tmp_path, Path(name))
    assert not (tmp_path / "s").exists()
