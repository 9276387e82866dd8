"""Data sets that each teach some types of a schema: their plan, documents and training examples."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sciextract.codec import convert
from sciextract.documents.annotations import Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import load_schema
from sciextract.errors import FormatError, InputMissingError, UsageError
from sciextract.formats.base import Source
from sciextract.formats.scierc import parse_record
from sciextract.inference.pipeline import Labels
from sciextract.inference.tokenization import SubwordTokenizer
from sciextract_trainer.config import read_toml
from sciextract_trainer.data.examples import Bools, Example, Mask, Targets, gold_targets, windows_of


@dataclass(frozen=True, slots=True, kw_only=True)
class TaughtSet:
    """A data set and what it teaches.

    Attributes:
        name: Its folder.
        teaches: Labels of the schema that it was annotated for.
        licence: What is stated of its licence; ends up in the model card.
        relations: Whether it was annotated for the schema's relations.
        rename: Labels of the set by those of the schema.
        join: Documents of one sentence are joined by so many; 1 leaves documents as they are.
        singles: Share of the joined sentences (0 to 1) that also stay documents of their own.
        repeat: How often a pass sees its documents.
        empty: Share of the documents without any entity (0 to 1) that are kept.
        train: Whether it trains; else it is scored only.
        nested: Whether its entities may lie in one another.
    """

    name: str
    teaches: list[str]
    licence: str
    relations: bool = False
    rename: dict[str, str] = field(default_factory=dict)
    join: int = 1
    singles: float = 0.0
    repeat: int = 1
    empty: float = 1.0
    train: bool = True
    nested: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Continued:
    """Trainings that go on from what was trained before; the model is the mean of their weights.

    Attributes:
        recipe: Their recipe.
        seeds: One seed for each.
        repeat: How often a pass sees the documents of a set, by its name, where that differs from the first training.
    """

    recipe: str
    seeds: list[int]
    repeat: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SetPlan:
    """All sets of a model.

    Attributes:
        sets: The sets.
        groups: Groups of labels that exclude each other.
        continued: What follows the first training, in order.
    """

    sets: tuple[TaughtSet, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    continued: tuple[Continued, ...] = ()

    def repeated(self, repeat: Mapping[str, int]) -> SetPlan:
        """The plan with other repetitions for some sets."""
        sets = (
            replace(dataset, repeat=repeat.get(dataset.name, dataset.repeat))
            for dataset in self.sets
        )
        return replace(self, sets=tuple(sets))


def load_sets(path: Path, schema: LabelSchema) -> SetPlan:
    """Reads and checks a plan.

    Raises:
        InputMissingError: The file does not exist.
        UsageError: It is not TOML, or a set has an unknown key, a value of another type or one that cannot work,
            or a label that the schema lacks; names the place, the value and the values allowed.
    """
    values = read_toml(path, "plan of data sets", "a plan is a TOML file in UTF-8")
    plan = convert(values, SetPlan, path, closed=True, error=UsageError)
    if not plan.sets:
        raise UsageError(f"{path}: no [[sets]]", "name at least one data set and what it teaches")
    labels = schema.entity_labels
    for row, dataset in enumerate(plan.sets):
        place = f"{path}: sets[{row}]"
        for label in dataset.teaches:
            if label not in labels:
                allowed = f"labels of the schema {schema.name}: {', '.join(labels)}"
                raise UsageError(f"{place}: teaches {label!r}", allowed)
        for label in dataset.rename.values():
            if label not in dataset.teaches:
                raise UsageError(
                    f"{place}: renames to {label!r}, which it does not teach",
                    f"it teaches {', '.join(dataset.teaches)}",
                )
        for key, least, most in (
            ("join", 1, None),
            ("repeat", 1, None),
            ("singles", 0, 1),
            ("empty", 0, 1),
        ):
            value = getattr(dataset, key)
            if value < least or (most is not None and value > most):
                allowed = f"at least {least}" if most is None else f"between {least} and {most}"
                raise UsageError(f"{place}: {key} = {value}", allowed)
    named = sorted(label for group in plan.groups for label in group)
    if plan.groups and named != sorted(labels):
        raise UsageError(
            f"{path}: the groups hold {', '.join(named)}",
            f"each label of the schema once: {', '.join(labels)}",
        )
    names = [dataset.name for dataset in plan.sets]
    for row, further in enumerate(plan.continued):
        place = f"{path}: continued[{row}]"
        if not further.seeds:
            raise UsageError(f"{place}: seeds is empty", "name a seed for each training")
        for name, times in further.repeat.items():
            if name not in names:
                raise UsageError(f"{place}: repeat names {name!r}", f"sets: {', '.join(names)}")
            if times < 1:
                raise UsageError(f"{place}: repeat.{name} = {times}", "at least 1")
    seeds = [seed for stage in plan.continued for seed in stage.seeds]
    if len(set(seeds)) < len(seeds):
        raise UsageError(f"{path}: seeds of the continued trainings are {seeds}", "each seed once")
    return plan


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
    source, names = Source(str(path)), load_schema("bio").names
    for line, record in enumerate(records, start=1):
        renamed = {
            **record,
            "ner": [[_rename(item, taught) for item in items] for items in record["ner"]],
        }
        yield SetDocument(parse_record(renamed, source, line).renamed(*names), taught)


def _rename(item: list[Any], taught: TaughtSet) -> list[Any]:
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


def partial_examples(
    documents: Iterable[SetDocument], labels: Labels, subwords: SubwordTokenizer, limit: int
) -> Iterator[Example]:
    """One example per window; untaught types, relations and links are masked."""
    for item in documents:
        targets = taught_targets(gold_targets(item.annotated, labels), item.taught, labels)
        yield from windows_of(item.annotated.document, targets, labels, subwords, limit)


def taught_targets(targets: Targets, taught: TaughtSet, labels: Labels) -> Targets:
    """The targets with what the set does not teach left open."""
    complete = frozenset(
        [Layer.ENTITIES, Layer.RELATIONS] if taught.relations else [Layer.ENTITIES]
    )
    spans, pairs, links = len(targets.spans), len(targets.pairs), len(targets.links)
    mask = Mask(
        counted=np.ones(spans, dtype=np.bool_),
        judged=np.ones(spans, dtype=np.bool_),
        settled=np.zeros(spans, dtype=np.bool_),
        known_pairs=np.full(pairs, taught.relations),
        known_links=np.zeros(links, dtype=np.bool_),
        complete=complete,
    )
    return replace(targets, mask=mask, taught=_classes(taught, labels))


def _classes(taught: TaughtSet, labels: Labels) -> Bools:
    return np.array([True, *(label in taught.teaches for label in labels.entities)])
