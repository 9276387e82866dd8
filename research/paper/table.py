"""A grid's table as Markdown and as JSON: ours on dev next to what was published on test."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, stdev

from research.paper.cells import Cell, Result
from research.paper.grid import NOT_STATED, Grid, Part, Published

UNFINISHED = "…"
NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Sitting:
    """What all cells of a table have in common.

    Attributes:
        network: ``joint`` or ``dygie``.
        epochs: The numbers of epochs that occur.
        chosen: Whether dev chose the epoch; else the last one was scored.
        runs: Seeds for each cell.
        documents: Training documents.
        documents_at_all: How many the file has.
        dev_documents: Documents that were scored.
        train_hash: SHA-256 of the training file.
        dev_hash: SHA-256 of the dev file.
    """

    network: str
    epochs: list[int]
    chosen: bool
    runs: int
    documents: int
    documents_at_all: int
    dev_documents: int
    train_hash: str
    dev_hash: str


@dataclass(frozen=True, slots=True)
class Scored:
    """Our runs of one place of the table.

    Attributes:
        values: F1 of each finished run.
        wanted: Runs there should be.
        seconds: Mean seconds of a run.
        processor_seconds: Mean processor seconds of a run.
    """

    values: tuple[float, ...]
    wanted: int
    seconds: float
    processor_seconds: float

    @property
    def mean(self) -> float | None:
        """Mean F1; ``None`` before the first run is finished."""
        return fmean(self.values) if self.values else None

    @property
    def sd(self) -> float | None:
        """Standard deviation over runs (n - 1); ``None`` for fewer than two."""
        return stdev(self.values) if len(self.values) > 1 else None

    def text(self) -> str:
        """The cell as it stands in the table.

        >>> Scored((60.0, 62.0), 2, 9.0, 9.0).text(), Scored((60.0,), 2, 9.0, 9.0).text()
        ('61.0 ± 1.4', '60.0 (1 of 2 runs)')
        """
        if self.mean is None:
            return UNFINISHED
        spread = "" if self.sd is None else f" ± {self.sd:.1f}"
        few = (
            ""
            if len(self.values) == self.wanted
            else f" ({len(self.values)} of {self.wanted} runs)"
        )
        return f"{self.mean:.1f}{spread}{few}"


@dataclass(frozen=True, slots=True)
class Table:
    """A grid, the cells that were asked for, and their results by key.

    Attributes:
        grid: The grid.
        sitting: What all cells have in common.
        cells: The cells.
        results: The result of each key, ``None`` as long as it is unfinished.
    """

    grid: Grid
    sitting: Sitting
    cells: Sequence[Cell]
    results: Mapping[str, Result | None]

    @property
    def unfinished(self) -> int:
        """Trainings that are not finished."""
        return sum(result is None for result in self.results.values())

    def rows(self) -> list[tuple[str, str]]:
        """Encoder and variant of every row: ours first, then published ones that were not run."""
        ours = dict.fromkeys((cell.place[0], cell.place[1]) for cell in self.cells)
        theirs = dict.fromkeys((entry.encoder, entry.variant) for entry in self.grid.published)
        return [*ours, *(row for row in theirs if row not in ours)]

    def scored(self, encoder: str, variant: str, column: Part) -> Scored | None:
        """Our runs of one place; ``None`` when none was asked for."""
        place = (encoder, variant, column.name)
        keys = [cell.key for cell in self.cells if cell.place == place]
        done = [result for key in keys if (result := self.results[key]) is not None]
        if not keys:
            return None
        return Scored(
            tuple(result.scores[column.score] for result in done),
            len(keys),
            fmean([result.seconds for result in done]) if done else 0.0,
            fmean([result.processor_seconds for result in done]) if done else 0.0,
        )

    def published(self, encoder: str, variant: str, column: Part) -> Published | None:
        """The published figure of one place."""
        return next(
            (
                entry
                for entry in self.grid.published
                if (entry.encoder, entry.variant, entry.column) == (encoder, variant, column.name)
            ),
            None,
        )


def as_markdown(table: Table) -> str:
    """The table with everything that a reader needs to know about it."""
    return (
        "\n".join(
            [f"# {table.grid.title}", "", *_header(table), "", *_lines(table), *_sources(table)]
        )
        + "\n"
    )


def as_json(table: Table) -> str:
    """The table with unrounded figures, and the seeds, times and settings of every cell."""
    rows = [
        {
            "encoder": encoder,
            "variant": variant,
            "column": column.name,
            "score": column.score,
            "ours_dev": _ours_json(table.scored(encoder, variant, column)),
            "published_test": asdict(published)
            if (published := table.published(encoder, variant, column))
            else None,
        }
        for encoder, variant in table.rows()
        for column in table.grid.columns
    ]
    cells = [
        {
            "name": cell.name,
            "key": cell.key,
            "config": cell.config.to_json(),
            "result": asdict(result) if (result := table.results[cell.key]) else None,
        }
        for cell in table.cells
    ]
    values = {
        "grid": table.grid.name,
        "title": table.grid.title,
        "published_in": table.grid.source,
        "splits": {"ours": "dev", "published": "test"},
        **asdict(table.sitting),
        "rows": rows,
        "cells": cells,
    }
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


def _ours_json(scored: Scored | None) -> dict[str, object] | None:
    if scored is None:
        return None
    return {"mean": scored.mean, "sd": scored.sd, **asdict(scored)}


def _header(table: Table) -> Iterator[str]:
    sitting = table.sitting
    epochs = " or ".join(str(epoch) for epoch in sitting.epochs)
    cut = (
        ""
        if sitting.documents == sitting.documents_at_all
        else f"the first {sitting.documents} of "
    )
    same = ", the same that chose the epoch" if sitting.chosen else ", after the last epoch"
    runs = f"mean ± standard deviation of {sitting.runs} runs" if sitting.runs > 1 else "one run"
    yield (
        f"F1. **Ours on dev** ({sitting.dev_documents} documents{same}), **published on test**: the two "
        "columns are of different documents and cannot be subtracted."
    )
    yield ""
    yield (
        f"Ours: network `{sitting.network}`, {cut}{sitting.documents_at_all} training documents, {epochs} epochs, {runs}; "
        f"time is of one run, in brackets that of the processor. Published: {table.grid.source}."
    )
    if table.grid.notes:
        yield ""
    for note in table.grid.notes:
        yield f"- {note}"


def _lines(table: Table) -> Iterator[str]:
    has_variants = any(variant for _, variant in table.rows())
    columns = table.grid.columns
    heads = ["encoder", *(["variant"] if has_variants else [])]
    heads += [
        f"{column.name}, {side}"
        for column in columns
        for side in ("ours (dev)", "published (test)")
    ]
    yield _row([*heads, "time of a cell"])
    yield _row(["---"] * (len(heads) + 1))
    for encoder, variant in table.rows():
        cells = [encoder, *([variant or "as it is"] if has_variants else [])]
        for column in columns:
            scored, found = (
                table.scored(encoder, variant, column),
                table.published(encoder, variant, column),
            )
            cells += [scored.text() if scored else NOT_RUN, _theirs(found)]
        yield _row([*cells, _times(table, encoder, variant)])


def _theirs(published: Published | None) -> str:
    return NOT_STATED if published is None else published.text()


def _times(table: Table, encoder: str, variant: str) -> str:
    scored = [table.scored(encoder, variant, column) for column in table.grid.columns]
    known = [cell for cell in scored if cell is not None and cell.values]
    if not known:
        return "—"
    mean = fmean([cell.seconds for cell in known])
    processor = fmean([cell.processor_seconds for cell in known])
    return f"{mean / 60:.1f} min ({processor / 60:.1f})"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _sources(table: Table) -> Iterator[str]:
    """Where each published figure stands, once for each source."""
    by_source: dict[str, list[str]] = {}
    for entry in table.grid.published:
        name = "/".join(part for part in (entry.encoder, entry.variant, entry.column) if part)
        by_source.setdefault(entry.source, []).append(name)
    if by_source:
        yield ""
        yield "Sources of the published figures:"
        yield ""
    for source, names in by_source.items():
        yield f"- {', '.join(names)}: {source}"
