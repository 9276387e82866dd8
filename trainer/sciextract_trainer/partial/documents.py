"""The documents of data sets in the schema's labels, sentences joined to the length of abstracts, leaks left out."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, InputMissingError
from sciextract.formats.base import Source
from sciextract.formats.scierc import parse_record
from sciextract_trainer.partial.sets import TaughtSet

Record = dict[str, Any]

PREFIX = 60
"""Letters and digits by which a sentence of a training document is recognised in a dev part."""

LONGEST = 220
"""Words of a training document: what fits into one window with nearly every encoder."""


@dataclass(frozen=True, slots=True)
class SetDocument:
    """A document and the set that it comes from."""

    annotated: AnnotatedDocument
    taught: TaughtSet


def read_records(path: Path) -> list[Record]:
    """The objects of a SciERC file.

    Raises:
        InputMissingError: The file does not exist.
        FormatError: A line is not a JSON object.
    """
    if not path.is_file():
        raise InputMissingError(
            f"no data set at {path}", "name the folder of the data sets with --data"
        )
    with path.open(encoding="utf-8") as lines:
        return [_record(line, path, number) for number, line in enumerate(lines, start=1)]


def _record(line: str, path: Path, number: int) -> Record:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise FormatError(f"{error}", path=path, line=number) from error
    sentences = record.get("sentences") if isinstance(record, dict) else None
    if not isinstance(sentences, list):
        raise FormatError("no object with `sentences`", path=path, line=number)
    for layer in ("ner", "relations"):
        found = record.setdefault(layer, [[] for _ in sentences])
        if not isinstance(found, list) or len(found) != len(sentences):
            problem = f"`{layer}` is not a list of {len(sentences)} lists, one a sentence"
            raise FormatError(problem, path=path, line=number)
    return dict(record)


def documents_of(records: Iterable[Record], taught: TaughtSet, path: Path) -> Iterator[SetDocument]:
    """Documents with the schema's labels; entities of untaught labels are left out.

    Raises:
        FormatError: A record has a wrong shape.
    """
    source = Source(str(path))
    for line, record in enumerate(records, start=1):
        renamed = {
            **record,
            "ner": [[_renamed(item, taught) for item in items] for items in record["ner"]],
        }
        yield SetDocument(parse_record(renamed, source, line), taught)


def _renamed(item: list[Any], taught: TaughtSet) -> list[Any]:
    first, last, label, *rest = item
    return [first, last, taught.rename.get(label, label), *rest]


def joined(records: Sequence[Record], size: int) -> Iterator[Record]:
    """Runs of ``size`` documents as one document each, in file order; offsets move along."""
    for start in range(0, len(records), size):
        run = records[start : start + size]
        yield run[0] if len(run) == 1 else _one(run)


def _one(run: Sequence[Record]) -> Record:
    whole: Record = {
        "doc_key": f"{run[0]['doc_key']}+{len(run)}",
        "sentences": [], "ner": [], "relations": [], "clusters": [],
    }  # fmt: skip
    offset = 0
    for record in run:
        whole["sentences"] += record["sentences"]
        whole["ner"] += [[_moved(item, 2, offset) for item in items] for items in record["ner"]]
        whole["relations"] += [
            [_moved(item, 4, offset) for item in items] for items in record["relations"]
        ]
        offset += sum(map(len, record["sentences"]))
    return whole


def cut(record: Record, longest: int) -> Iterator[Record]:
    """A document as even parts of whole sentences, none much longer than ``longest`` words.

    Windows of long documents overlap, so that their words would be paid for twice.
    """
    lengths = [len(sentence) for sentence in record["sentences"]]
    parts = -(-sum(lengths) // longest)
    ends = np.cumsum(lengths)
    place = np.minimum((ends - 1) * parts // max(1, sum(lengths)), parts - 1)
    for part in sorted(set(place.tolist())):
        rows = np.flatnonzero(place == part).tolist()
        yield _part(record, rows[0], rows[-1] + 1, int(ends[rows[0]]) - lengths[rows[0]])


def _part(record: Record, first: int, end: int, offset: int) -> Record:
    """Some sentences of a document; relations lie within a sentence."""
    return {
        "doc_key": f"{record['doc_key']}/{first}",
        "sentences": record["sentences"][first:end],
        "ner": [[_moved(item, 2, -offset) for item in items] for items in record["ner"][first:end]],
        "relations": [
            [_moved(item, 4, -offset) for item in items] for items in record["relations"][first:end]
        ],
        "clusters": [],
    }


def _moved(item: list[Any], numbers: int, offset: int) -> list[Any]:
    return [*(value + offset for value in item[:numbers]), *item[numbers:]]


def sentence_prefixes(records: Iterable[Record]) -> set[str]:
    """The beginnings of all longer sentences, letters and digits only, lower case."""
    found = (_prefix(sentence) for record in records for sentence in record["sentences"])
    return {prefix for prefix in found if len(prefix) == PREFIX}


def without_leaks(records: Iterable[Record], seen: Collection[str]) -> list[Record]:
    """The records of which no longer sentence begins as one of the dev parts."""
    return [record for record in records if not sentence_prefixes([record]) & set(seen)]


def _prefix(sentence: Sequence[str]) -> str:
    return "".join(filter(str.isalnum, "".join(sentence))).lower()[:PREFIX]


def prepared(records: Sequence[Record], taught: TaughtSet, seed: int) -> list[Record]:
    """Records as a network sees them in training: joined, some also alone, empty ones thinned out."""
    random = np.random.default_rng([seed, *taught.name.encode()])
    if taught.join > 1:
        alone = [record for record in records if random.random() < taught.singles]
        records = [*joined(records, taught.join), *alone]
    records = [part for record in records for part in cut(record, LONGEST)]
    kept = [record for record in records if any(record["ner"]) or random.random() < taught.empty]
    return kept * taught.repeat
