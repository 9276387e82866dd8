"""A project of any size to measure on: real or generated abstracts with generated annotations, kept for later runs."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, cycle, islice
from itertools import count as counting
from pathlib import Path
from typing import Any, TypeVar

from sciextract.documents.annotations import (
    Annotations,
    Cluster,
    Entity,
    Relation,
    Span,
    State,
    stable_id,
)
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import load_schema
from sciextract.store import create_project
from sciextract.store.ingest import BATCH, Import
from sciextract.store.tables import STATEMENTS
from sciextract.text.analyse import analyse

ITEMS = 54
"""Items an abstract, fewer in short ones: 56 % entities, 28 % relations, 16 % mentions of clusters."""

SCHEMA = "scierc"
_STATES = (*(State.UNDECIDED,) * 16, *(State.ACCEPTED,) * 3, State.REJECTED)
_T = TypeVar("_T")
_VOCABULARY, _WORDS, _SENTENCE = 30_000, 165, 22


def records(files: Sequence[str], count: int) -> Iterator[dict[str, Any]]:
    """So many abstracts from JSONL files (plain or gzipped); beyond them, and without files, generated ones."""
    real = (json.loads(line) for path in files for line in _lines(Path(path)))
    yield from islice(chain(real, map(generated_record, counting())), count)


def generated_record(number: int) -> dict[str, Any]:
    """An abstract of made-up words, as frequent as words are (Zipf's law)."""
    chance = random.Random(number)
    words = chance.choices(_words(), cum_weights=_weights(), k=_WORDS)
    sentences = [words[at : at + _SENTENCE] for at in range(0, len(words), _SENTENCE)]
    text = " ".join(" ".join(sentence).capitalize() + "." for sentence in sentences)
    title = " ".join(chance.choices(_words(), cum_weights=_weights(), k=9)).capitalize()
    return {"id": f"gen:{number}", "title": title, "abstract": text, "year": 1990 + number % 36}


def annotated(record: dict[str, Any], wanted: int, schema: LabelSchema) -> AnnotatedDocument:
    """An abstract with about so many items, always the same ones."""
    text = f"{record['title']}\n{record['abstract']}"
    fields = {key: value for key, value in record.items() if key not in ("id", "abstract")}
    document = Document(record["id"], text, analyse(text), fields)
    return AnnotatedDocument(document, annotations_for(document, wanted, schema))


def annotations_for(document: Document, wanted: int, schema: LabelSchema) -> Annotations:
    """About so many items on random places of a document, always the same ones."""
    chance = random.Random(document.doc_key)
    key, tokens = document.doc_key, document.tokens
    entities = []
    starts = chance.sample(range(len(tokens)), min(wanted * 56 // 100, len(tokens) // 2))
    for place, start in enumerate(sorted(starts)):
        last = min(start + chance.choice((0, 0, 1, 1, 2)), len(tokens) - 1)
        span = Span(tokens.spans[start].char_start, tokens.spans[last].char_end)
        entities.append(
            Entity(
                *(stable_id(key, "e", place), (span,), chance.choice(schema.entity_labels)),
                *(round(chance.random(), 4), chance.choice(_STATES)),
            )
        )
    relations = _relations(key, entities, wanted * 28 // 100, schema, chance)
    return Annotations(
        tuple(entities), relations, _clusters(key, entities, wanted * 16 // 100, chance)
    )


def build(path: Path, files: Sequence[str], count: int, items: int = ITEMS) -> float:
    """Make a project of so many abstracts, unless it is there; returns the seconds that making it took."""
    note = path.with_suffix(".json")
    if path.exists() and note.exists():
        return float(json.loads(note.read_text("utf-8"))["seconds"])
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".making")
    fresh.unlink(missing_ok=True)
    begin = time.perf_counter()
    schema = load_schema(SCHEMA)
    with create_project(fresh, schema, "bench") as project:
        run = Import(project, "import:bench.jsonl", {"path": "bench.jsonl"})
        for batch in batches(records(files, count), BATCH):
            run.add([(annotated(record, items, schema), ()) for record in batch])
    seconds = time.perf_counter() - begin
    fresh.replace(path)
    note.write_text(json.dumps({"seconds": seconds}), "utf-8")
    return seconds


def cached_path(folder: Path, files: Sequence[str], count: int) -> Path:
    """Where the project lies; another one after a change of its tables or its texts."""
    what = json.dumps([STATEMENTS, ITEMS, [Path(file).name for file in files]])
    digest = hashlib.blake2b(what.encode("utf-8"), digest_size=4).hexdigest()
    return folder / f"{count}-{digest}.sciextract"


def batches(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    """Lists of so many items."""
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch


def _relations(
    key: str, entities: list[Entity], wanted: int, schema: LabelSchema, chance: random.Random
) -> tuple[Relation, ...]:
    relations = {}
    for place in range(wanted if len(entities) > 1 else 0):
        head, tail = chance.sample(entities, 2)
        legal = schema.legal_relations(head.label, tail.label)
        if legal:
            label = chance.choice(legal)
            relations[head.id, tail.id, label] = Relation(
                *(stable_id(key, "r", place), head.id, tail.id, label),
                *(round(chance.random(), 4), State.UNDECIDED),
            )
    return tuple(relations.values())


def _clusters(
    key: str, entities: list[Entity], mentions: int, chance: random.Random
) -> tuple[Cluster, ...]:
    chosen = sorted(chance.sample(range(len(entities)), min(mentions, len(entities))))
    found = []
    for place, at in enumerate(range(0, len(chosen) - 1, 3)):
        ids = tuple(entities[place].id for place in chosen[at : at + 3])
        if len(ids) > 1:
            scores = tuple(round(chance.random(), 4) for _ in ids)
            found.append(Cluster(stable_id(key, "c", place), ids, 0.9, State.UNDECIDED, "", scores))
    return tuple(found)


def _lines(path: Path) -> Iterator[str]:
    with open(path, "rb") as raw:
        stream = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw
        yield from (line.decode("utf-8") for line in stream)


_CACHED: dict[str, list[Any]] = {}


def _words() -> list[str]:
    if "words" not in _CACHED:
        chance = random.Random(1)
        syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
        made = (
            "".join(chance.choices(syllables, k=chance.choice((1, 2, 2, 3, 4)))) for _ in cycle([0])
        )
        _CACHED["words"] = list(islice(dict.fromkeys(islice(made, 4 * _VOCABULARY)), _VOCABULARY))
    return _CACHED["words"]


def _weights() -> list[float]:
    if "weights" not in _CACHED:
        _CACHED["weights"] = list(accumulate(1 / rank for rank in range(1, len(_words()) + 1)))
    return _CACHED["weights"]
