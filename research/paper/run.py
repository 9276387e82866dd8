"""Trains the cells of a grid one after the other, and continues where an earlier sitting stopped."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import torch

from research.paper.cells import (
    Cell,
    CellFolder,
    Material,
    Result,
    cells_of,
    encoders_at_hand,
    write_whole,
)
from research.paper.events import CellEvent, CellFailed, CellScored, CellStarted, CellTaken
from research.paper.grid import Grid, load_grid, scores_of
from research.paper.table import Sitting, Table, as_json, as_markdown
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import load_schema
from sciextract.errors import InputMissingError, UsageError
from sciextract.resources import user_runs
from sciextract.retraining.events import Listener, TrainingEvent
from sciextract_trainer.build import family_of, labels_for, load_subword_rules
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.gold import read_gold, sha256
from sciextract_trainer.evaluate import DevScores, dev_report
from sciextract_trainer.hardware import choose_device, describe, has_fast_bf16
from sciextract_trainer.loop import LossError, TrainingData, selection_score, train

_NOTE_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GridOrder:
    """What is wanted of a grid.

    Attributes:
        name: The grid, or a TOML file.
        data: Folder with ``train.jsonl`` and ``dev.jsonl``, or one that has it in a folder of the schema's name.
        encoders: Hub ids or folders, each maybe as ``NAME=...``; those in the local cache when empty.
        runs: Seeds 1 to this; the grid's when ``None``.
        epochs: Epochs, instead of the grid's.
        only: Names of the cells that are wanted; all when empty.
        documents: Training documents, the first ones; all when ``None``.
        folder: Where cells and tables lie; next to the other runs when ``None``.
        network: ``joint`` or ``dygie``.
        evaluate_every: Epochs between evaluations, instead of the grid's.
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``.
    """

    name: str
    data: Path
    encoders: tuple[str, ...] = ()
    runs: int | None = None
    epochs: int | None = None
    only: tuple[str, ...] = ()
    documents: int | None = None
    folder: Path | None = None
    network: str = "joint"
    evaluate_every: int | None = None
    device: str = "auto"

    @property
    def place(self) -> Path:
        """Where cells and tables lie."""
        return self.folder or user_runs() / "paper"

    @property
    def changes(self) -> dict[str, Any]:
        """Settings that replace the grid's."""
        named = {"epochs": self.epochs, "evaluate_every": self.evaluate_every}
        return {key: value for key, value in named.items() if value is not None}


@dataclass(frozen=True, slots=True)
class _Data:
    schema: LabelSchema
    train: list[AnnotatedDocument]
    dev: list[AnnotatedDocument]
    material: Material


@dataclass(frozen=True, slots=True)
class GridRun:
    """A grid with everything that was asked of it, checked.

    Attributes:
        order: What was asked.
        grid: The grid.
        cells: Its cells, in the order in which they are trained.
    """

    order: GridOrder
    grid: Grid
    cells: list[Cell]
    _data: _Data
    _device: torch.device

    def folder_of(self, cell: Cell) -> CellFolder:
        """Where a cell lies."""
        return CellFolder(self.order.place / "cells" / cell.key, cell)

    def train(self, report: Listener) -> None:
        """Trains what is not finished yet. An interrupt leaves everything resumable.

        A cell whose loss is not a number is reported as failed, and the others go on.

        Raises:
            OutputError: The folder cannot be written.
        """
        for number, cell in enumerate(self.cells, start=1):
            report(self._result(cell, number, report))

    def _result(self, cell: Cell, number: int, report: Listener) -> CellEvent:
        """The end of a cell."""
        folder = self.folder_of(cell)
        place: dict[str, Any] = {"cell": cell.name, "number": number, "of": len(self.cells)}
        if (result := folder.result()) is None:
            with folder.taken() as free:
                if not free:
                    return CellTaken(**place)
                report(CellStarted(epochs=cell.config.epochs, **place))
                try:
                    result = folder.result() or self._trained(cell, folder, report)
                except LossError as error:
                    return CellFailed(message=error.message, **place)
        return CellScored(scores=result.scores, seconds=result.seconds, **place)

    def table(self) -> Table:
        """The table as far as cells are finished."""
        results = {cell.key: self.folder_of(cell).result() for cell in self.cells}
        material = self._data.material
        sitting = Sitting(
            network=self.order.network,
            epochs=sorted({cell.config.epochs for cell in self.cells}),
            chosen=any(cell.config.evaluate_every < cell.config.epochs for cell in self.cells),
            runs=max(cell.config.seed for cell in self.cells),
            documents=material.documents,
            documents_at_all=len(self._data.train),
            dev_documents=len(self._data.dev),
            train_hash=material.train,
            dev_hash=material.dev,
        )
        return Table(self.grid, sitting, self.cells, results)

    def write_table(self, json_path: Path | None = None) -> tuple[Table, Path]:
        """Writes the table as Markdown and JSON; returns it and the Markdown file.

        Raises:
            OutputError: It cannot be written.
        """
        table, place = self.table(), self.order.place
        write_whole(place / f"{self.grid.name}.md", as_markdown(table))
        write_whole(json_path or place / f"{self.grid.name}.json", as_json(table))
        return table, place / f"{self.grid.name}.md"

    def _trained(self, cell: Cell, folder: CellFolder, report: Listener) -> Result:
        clock = _Clock(folder)

        def hear(event: TrainingEvent) -> None:
            clock.tick()
            report(event)

        try:
            scores, best_epoch = _train(cell, self._data, folder.training, hear, self._device)
        except BaseException:  # the time of an interrupted sitting counts, too
            clock.note()
            raise
        seconds, processor_seconds = clock.spent()
        finished = time.strftime("%FT%TZ", time.gmtime())
        device = describe(self._device)
        result = Result(scores, best_epoch, seconds, processor_seconds, finished, device)
        folder.finish(result)
        return result


def prepare(order: GridOrder) -> GridRun:
    """Reads and checks everything before any training.

    Raises:
        InputMissingError: No such grid, data or encoder.
        UsageError: A word or a setting cannot work.
        FormatError: A record of the data is bad.
        DeviceError: There is no such device here.
    """
    device, grid = choose_device(order.device), load_grid(order.name)
    encoders = encoders_at_hand(grid, order.encoders)
    data = _read(order, grid)
    cells = cells_of(
        grid, encoders, data.material, order.changes,
        network=order.network, runs=order.runs or grid.runs, only=order.only,
    )  # fmt: skip
    return GridRun(order, grid, cells, data, device)


def _read(order: GridOrder, grid: Grid) -> _Data:
    schema = load_schema(grid.schema)
    folder = _data_folder(order.data, grid.schema)
    train, dev = folder / "train.jsonl", folder / "dev.jsonl"
    documents = read_gold(train, schema)
    count = len(documents) if order.documents is None else order.documents
    if not 1 <= count <= len(documents):
        raise UsageError(
            f"--documents {count} is not possible", f"{train} has {len(documents)} documents"
        )
    material = Material(schema.content_hash, sha256(train), sha256(dev), count)
    return _Data(schema, documents, read_gold(dev, schema), material)


def _data_folder(data: Path, name: str) -> Path:
    for folder in (data, data / name):
        if (folder / "train.jsonl").is_file() and (folder / "dev.jsonl").is_file():
            return folder
    raise InputMissingError(
        f"{data} holds no train.jsonl with a dev.jsonl next to it, nor does {data / name}",
        "name the folder of the data set with --data",
    )


def _train(
    cell: Cell, data: _Data, folder: Path, report: Listener, device: torch.device
) -> tuple[dict[str, float], int]:
    """Trains one cell; returns its scores and the epoch that has them."""
    config = replace(cell.config, bf16=cell.config.bf16 and has_fast_bf16(device))
    family, rules = family_of(config), load_subword_rules(config.encoder)
    labels = labels_for(config, data.schema)
    documents = data.train[: data.material.documents]
    examples = list(family.examples(documents, labels, rules))
    examined = TrainingData(examples, data.dev)
    network = train(config, labels, rules, examined, folder, report, device=device)
    predict = family.predictor(network, labels, rules)
    report_on_dev = dev_report(predict, data.dev, labels.relations.symmetric)
    return scores_of(report_on_dev, config), _best_epoch(folder, config)


def _best_epoch(folder: Path, config: TrainConfig) -> int:
    """The epoch whose weights were kept, from the log of the evaluations."""
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    scored = [
        (selection_score(DevScores(**_headline(entry)), config.select_by), entry)
        for entry in entries
    ]
    return int(max(scored, key=lambda pair: (pair[0], -pair[1]["epoch"]))[1]["epoch"])


def _headline(entry: dict[str, Any]) -> dict[str, float | None]:
    """The scores of a logged evaluation."""
    return {field.name: entry[field.name] for field in fields(DevScores) if field.name in entry}


class _Clock:
    """Adds up the time of all sittings, and keeps it now and then, for a process can be killed."""

    def __init__(self, folder: CellFolder) -> None:
        self._folder, self._before = folder, folder.spent()
        self._began, self._processor = time.monotonic(), time.process_time()
        self._noted = self._began

    def spent(self) -> tuple[float, float]:
        """Seconds and processor seconds."""
        seconds, processor = self._before
        return (
            seconds + time.monotonic() - self._began,
            processor + time.process_time() - self._processor,
        )

    def tick(self) -> None:
        """Something happened."""
        if time.monotonic() - self._noted > _NOTE_SECONDS:
            self.note()

    def note(self) -> None:
        """Keeps the time so far."""
        self._noted = time.monotonic()
        self._folder.note_spent(*self.spent())
