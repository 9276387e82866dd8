"""Inputs, works and an engine without processes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sciextract.scale.interface import ChunkKey, Results, Work
from sciextract.scale.predicting import RecordPredictor, chunk_result
from sciextract.scale.run import Request
from sciextract.scale.shards import plan_shards, remaining_chunks
from tests.cli.fakes import MODEL
from tests.unit.scale.predictors import HERE, IDENTIFIED


def lines(count: int, word: str = "lattices", **special: str) -> str:
    """Abstracts ``d0``, ``d1``...; ``d3="HANG"`` puts a word into one."""
    texts = [f"Parser number {n} reads {word} {special.get(f'd{n}', '')}." for n in range(count)]
    return "".join(json.dumps({"id": f"d{n}", "text": text}) + "\n" for n, text in enumerate(texts))


def given(path: Path, text: str) -> str:
    path.write_text(text, "utf-8")
    return str(path)


def work_of(
    inputs: Sequence[str], predictor: str = "rule", chunk_size: int = 4, ordered: bool = True
) -> Work:
    shards = plan_shards(inputs, None)
    return Work(
        shards,
        IDENTIFIED.choice,
        MODEL,
        chunk_size=chunk_size,
        ordered=ordered,
        predictor=f"{HERE}:{predictor}",
    )


def request_for(*inputs: str, predictor: str = "rule") -> Request:
    return Request(list(inputs), predictor=f"{HERE}:{predictor}", identified=IDENTIFIED)


@dataclass
class InProcess:
    """The engine without processes: what all others must give, too.

    Attributes:
        most: Chunks after which it stops with an error, as if the power had gone.
        predicted: Keys of the chunks that it predicted.
    """

    most: int = 10**9
    predicted: list[ChunkKey] = field(default_factory=list)

    def results(self, work: Work, done: Mapping[ChunkKey, str]) -> Results:
        predictor = RecordPredictor(work)
        for chunk in remaining_chunks(work, done):
            if len(self.predicted) >= self.most:
                raise KeyboardInterrupt
            self.predicted.append(chunk.key)
            yield chunk_result(chunk, predictor.outcomes(chunk.items))


def expected(work: Work) -> bytes:
    """What one process writes."""
    return b"".join(result.data for result in InProcess().results(work, {}))
