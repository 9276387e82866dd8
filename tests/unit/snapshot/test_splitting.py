"""Splits go by the text's hash, and stay."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from sciextract.documents.annotations import Layer, State
from sciextract.snapshot.documents import Split, place_of, split_of
from sciextract.snapshot.files import build_snapshot, read_snapshot
from sciextract.store import EntityRef, Project
from tests.unit.snapshot.abstracts import placed, put_gold, sha256, texts
from tests.unit.store.projects import guess, place, predict, put


def test_shares() -> None:
    hashes = [sha256(str(index)) for index in range(20_000)]
    counts = Counter(map(split_of, hashes))
    assert counts[Split.DEV] / 20_000 == pytest.approx(0.1, abs=0.01)
    assert counts[Split.GATE] / 20_000 == pytest.approx(0.2, abs=0.01)


def test_edges() -> None:
    assert place_of("0" * 64) == 0.0
    assert place_of("f" * 64) < 1.0
    assert split_of("1999" + "0" * 60) is Split.DEV
    assert split_of("199a" + "0" * 60) is Split.GATE


def test_nothing_moves_when_documents_come_and_decisions_change(
    project: Project, tmp_path: Path
) -> None:
    given = [*texts(Split.TRAIN, 3), *texts(Split.DEV, 2), *texts(Split.GATE, 2)]
    numbers = [put_gold(project, text) for text in given]
    build_snapshot(project, tmp_path / "one")
    before = placed(read_snapshot(tmp_path / "one"))
    assert before == {text: split_of(sha256(text)) for text in given}

    for text in [*texts(Split.GATE, 3, "bees"), *texts(Split.TRAIN, 4, "bees")]:
        put_gold(project, text)
    for number in numbers:
        row = project.document_state(number).entities[0]
        project.actions.set_label(number, EntityRef(row.id), "Task")
        project.actions.reject(number, EntityRef(project.document_state(number).entities[1].id))
        project.actions.mark_done(number, tuple(Layer))
    build_snapshot(project, tmp_path / "two")
    after = placed(read_snapshot(tmp_path / "two"))
    assert after.items() > before.items()
    assert after == {text: split_of(sha256(text)) for text in after}


def test_a_document_enters_with_its_first_decision(project: Project, tmp_path: Path) -> None:
    put_gold(project, texts(Split.TRAIN)[0])
    text = texts(Split.TRAIN, 2)[1]
    put(project, text=text)
    predict(project, guess("P", place("net", 0, text)), number=2)
    build_snapshot(project, tmp_path / "one")
    assert text not in placed(read_snapshot(tmp_path / "one"))

    row = project.document_state(2).entities[0]
    project.actions.reject(2, EntityRef(row.id))
    build_snapshot(project, tmp_path / "two")
    snapshot = read_snapshot(tmp_path / "two")
    found = next(example for example in snapshot.train if example.annotated.document.text == text)
    assert found.complete == frozenset()
    assert [entity.state for entity in found.annotated.annotations.entities] == [State.REJECTED]


def test_an_abstract_that_is_done_without_any_item_enters(project: Project, tmp_path: Path) -> None:
    put_gold(project, texts(Split.TRAIN)[0])
    text = texts(Split.GATE)[0]
    put(project, text=text)
    project.actions.mark_done(2, (Layer.ENTITIES,))
    build_snapshot(project, tmp_path / "s")
    (found,) = read_snapshot(tmp_path / "s").gate
    assert found.complete == frozenset({Layer.ENTITIES})
    assert not found.annotated.annotations.entities


@pytest.mark.parametrize("split", [Split.DEV, Split.GATE])
def test_held_out_abstracts_wait_for_a_done_layer(
    project: Project, tmp_path: Path, split: Split
) -> None:
    put_gold(project, texts(Split.TRAIN)[0])
    number = put_gold(project, texts(split)[0], done=())
    manifest = build_snapshot(project, tmp_path / "one")
    assert manifest.splits[split].documents == 0
    assert sum(manifest.left_out.values()) == 1
    assert any("without any done layer" in warning for warning in manifest.warnings)
    project.actions.mark_done(number, (Layer.RELATIONS,))
    manifest = build_snapshot(project, tmp_path / "two")
    assert manifest.splits[split].complete == {"relations": 1}
