"""A whole grid with a tiny encoder: trained once, resumed, shared, shown beside what was published."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from research.paper.cells import CellFolder
from research.paper.run import GridOrder, GridRun, prepare
from research.paper.table import NOT_RUN, UNFINISHED, Scored, as_markdown
from sciextract.errors import InputMissingError, UsageError
from sciextract.retraining.events import Resumed, Step, TrainingEvent
from tests.trainer.corpus import TEN_SENTENCES
from tests.trainer.records import scierc_line

GRID = """
title = "Ten sentences"
source = "an invented paper"
schema = "scierc"
runs = 2
notes = ["A note."]
[settings]
epochs = 3
evaluate_every = 1
encoder_lr = 2e-3
head_lr = 5e-3
dropout = 0.0
span_width = 16
hidden_width = 16
max_span_width = 4
ema = 0.0
bf16 = false
freeze_embeddings = false
[[columns]]
name = "NER"
score = "entity_width8"
settings = { entity_weight = 1.0, relation_weight = 0.0, coreference_weight = 0.0, select_by = "entity" }
[[columns]]
name = "RE"
score = "given_micro"
settings = { given_entities = true, entity_weight = 0.0, coreference_weight = 0.0, select_by = "relation" }
[[published]]
encoder = "Famous"
column = "NER"
f1 = 67.9
sd = 0.5
source = "its table"
"""
Make = Callable[..., GridOrder]


@pytest.fixture
def order(tmp_path: Path, encoder_folder: Path) -> Make:
    (tmp_path / "grid.toml").write_text(GRID, encoding="utf-8")
    data = tmp_path / "data" / "scierc"
    data.mkdir(parents=True)
    for name in ("train", "dev"):
        text = "".join(scierc_line(item) for item in TEN_SENTENCES)
        (data / f"{name}.jsonl").write_text(text, encoding="utf-8")

    def make(**changes: Any) -> GridOrder:
        asked: dict[str, Any] = {
            "name": str(tmp_path / "grid.toml"),
            "data": tmp_path / "data",
            "encoders": (f"Tiny={encoder_folder}",),
            "folder": tmp_path / "runs",
            "device": "cpu",
        }
        return GridOrder(**{**asked, **changes})

    return make


def run(order: GridOrder) -> tuple[GridRun, list[TrainingEvent]]:
    grid_run, events = prepare(order), list[TrainingEvent]()
    grid_run.train(events.append)
    return grid_run, events


def kinds(events: list[TrainingEvent]) -> list[str]:
    return [event.kind for event in events if event.kind != "step"]


def test_a_grid_is_trained_once_and_shown_beside_what_was_published(order: Make) -> None:
    grid_run, events = run(order())
    assert kinds(events).count("cell") == 4  # two columns, two seeds
    table, path = grid_run.write_table()
    text = path.read_text(encoding="utf-8")
    assert "**Ours on dev** (5 documents" in text and "**published on test**" in text
    assert "| encoder | NER, ours (dev) | NER, published (test) |" in text
    assert f"| Famous | {NOT_RUN} | 67.9 ± 0.5 | {NOT_RUN} | not stated |" in text
    tiny = next(line for line in text.splitlines() if line.startswith("| Tiny"))
    assert "±" in tiny and "not stated" in tiny and "- A note." in text
    stored = json.loads((path.parent / "grid.json").read_text(encoding="utf-8"))
    scored = {name for cell in stored["cells"] for name in cell["result"]["scores"]}
    assert scored == {"entity", "entity_width8", "given_micro", "given_macro"}
    assert stored["splits"] == {"ours": "dev", "published": "test"}
    assert len(stored["cells"]) == 4 and table.unfinished == 0
    assert {row["column"] for row in stored["rows"] if row["published_test"]} == {"NER"}
    again, later = run(order())
    assert kinds(later) == ["scored"] * 4
    assert as_markdown(again.table()) == text


def test_checkpoints_of_a_finished_cell_are_let_go(order: Make, tmp_path: Path) -> None:
    run(order(runs=1, only=("NER",)))
    [cell] = (tmp_path / "runs" / "cells").iterdir()
    assert {file.name for file in cell.iterdir()} == {"cell.json", "lock"}


def test_an_interrupted_cell_goes_on_and_ends_the_same(order: Make, tmp_path: Path) -> None:
    asked = {"runs": 1, "only": ("NER",)}
    whole, _ = run(order(**asked, folder=tmp_path / "whole"))
    cut = prepare(order(**asked))

    def interrupt(event: TrainingEvent) -> None:
        if isinstance(event, Step) and event.epoch == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cut.train(interrupt)
    assert f"| Tiny | {UNFINISHED} |" in as_markdown(cut.table())
    [cell] = cut.cells
    seconds, _ = cut.folder_of(cell).spent()
    assert seconds > 0
    resumed, events = run(order(**asked))
    assert Resumed(epoch=2) in events
    mine, theirs = (job.folder_of(cell).result() for job in (resumed, whole))
    assert mine is not None and theirs is not None
    assert mine.scores == theirs.scores and mine.best_epoch == theirs.best_epoch
    assert mine.seconds > seconds


def test_a_grid_that_shares_a_cell_does_not_train_it(order: Make, tmp_path: Path) -> None:
    run(order(runs=1, only=("NER",)))
    other = tmp_path / "other.toml"
    other.write_text(GRID.replace('name = "NER"', 'name = "Names"').replace(
        'column = "NER"', 'column = "Names"'), encoding="utf-8")  # fmt: skip
    _, events = run(order(name=str(other), runs=1, only=("Names",)))
    assert kinds(events) == ["scored"]


def test_a_cell_in_other_hands_is_left_alone(order: Make) -> None:
    grid_run = prepare(order(runs=1))
    events: list[TrainingEvent] = []
    busy = next(cell for cell in grid_run.cells if cell.column.name == "NER")
    with grid_run.folder_of(busy).taken() as free:
        assert free
        grid_run.train(events.append)
    assert kinds(events)[0] == "taken" and kinds(events).count("scored") == 1
    assert grid_run.table().unfinished == 1


def test_one_bad_cell_does_not_stop_the_others(
    order: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sciextract_trainer.loop import LossError, train

    def broken(config: Any, *words: Any, **named: Any) -> Any:
        if not config.given_entities:
            raise LossError("the loss is nan at the document otters")
        return train(config, *words, **named)

    monkeypatch.setattr("research.paper.run.train", broken)
    grid_run, events = run(order(runs=1))
    assert kinds(events)[:2] == ["cell", "failed"] and "scored" in kinds(events)
    assert grid_run.table().unfinished == 1


def test_a_changed_default_is_noticed(order: Make) -> None:
    grid_run, _ = run(order(runs=1, only=("NER",)))
    [cell] = grid_run.cells
    file = grid_run.folder_of(cell).path / "cell.json"
    values = json.loads(file.read_text(encoding="utf-8"))
    values["config"]["clip"] = 1.0
    file.write_text(json.dumps(values), encoding="utf-8")
    assert grid_run.folder_of(cell).result() is None


def test_a_torn_result_counts_as_none(order: Make, tmp_path: Path) -> None:
    [cell, *_] = prepare(order()).cells
    folder = CellFolder(tmp_path / "cell", cell)
    folder.path.mkdir()
    (folder.path / "cell.json").write_text('{"result": {"sco', encoding="utf-8")
    assert folder.result() is None and folder.spent() == (0.0, 0.0)


def test_fewer_documents_are_said(order: Make) -> None:
    grid_run = prepare(order(documents=2))
    assert "the first 2 of 5 training documents" in as_markdown(grid_run.table())


@pytest.mark.parametrize("documents", [0, 6])
def test_documents_that_are_not_there(order: Make, documents: int) -> None:
    with pytest.raises(UsageError, match=f"--documents {documents}"):
        prepare(order(documents=documents))


def test_data_that_are_not_there(order: Make, tmp_path: Path) -> None:
    with pytest.raises(InputMissingError, match=r"train\.jsonl"):
        prepare(order(data=tmp_path / "nowhere"))


def test_the_reference_frame_is_trained_too(order: Make) -> None:
    grid_run, _ = run(order(network="dygie", runs=1, epochs=1, only=("NER",)))
    assert "network `dygie`" in as_markdown(grid_run.table())
    assert grid_run.table().unfinished == 0


def test_missing_runs_are_said_beside_the_mean() -> None:
    assert Scored((60.0, 62.0), 2, 9.0, 9.0).text() == "61.0 ± 1.4"
    assert Scored((60.0,), 2, 9.0, 9.0).text() == "60.0 (1 of 2 runs)"
