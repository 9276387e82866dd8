"""Projects to measure the desk on: dense abstracts, alone or before many others, and one that is all entities."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from itertools import count as counting
from pathlib import Path

from benchmarks import store_corpus
from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, Span, stable_id
from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import load_schema
from sciextract.store import Project, create_project, open_project
from sciextract.store.ingest import Import, ModelRun
from sciextract.text.analyse import analyse

TOKENS, ENTITIES, RELATIONS = 400, 60, 40
DENSE = 20
"""Dense abstracts of a project."""
MODEL = ModelId("bench", "b" * 64)


def dense_project(path: Path) -> Project:
    """Nothing but dense abstracts, all of them predicted and undecided."""
    project = create_project(path, load_schema(store_corpus.SCHEMA), "bench")
    add_predicted(project, [_text(number, TOKENS) for number in range(DENSE)], ENTITIES, RELATIONS)
    return project


def learning_project(path: Path, finished: int, untouched: int) -> Project:
    """Labels that no bundled model knows: one dense abstract to work in, done ones, and such that nobody has touched."""
    project = create_project(path, load_schema("scier"), "bench")
    texts = [_text(number, TOKENS) for number in range(1 + finished + untouched)]
    add_predicted(project, texts, ENTITIES, RELATIONS)
    for number in project.numbers()[1 : 1 + finished]:
        project.actions.mark_done(number, undecided="accept")
    return project


def large_project(cache: Path, documents: int, path: Path) -> Project:
    """So many abstracts, made once and kept, and the dense ones behind them."""
    cached = store_corpus.cached_path(cache, [], documents)
    store_corpus.build(cached, [], documents)
    shutil.copyfile(cached, path)
    project = open_project(path, "bench")
    add_predicted(project, [_text(number, TOKENS) for number in range(DENSE)], ENTITIES, RELATIONS)
    return project


def crowded_project(path: Path, entities: int) -> Project:
    """One text with very many entities, and a dense abstract to go to."""
    project = create_project(path, load_schema(store_corpus.SCHEMA), "bench")
    add_predicted(project, [_text(99, entities * 2)], entities, entities // 5)
    add_predicted(project, [_text(0, TOKENS)], ENTITIES, RELATIONS)
    return project


def add_predicted(project: Project, texts: Sequence[str], entities: int, relations: int) -> None:
    """Import texts and predict so many items in each, always the same ones."""
    known = len(project.numbers())
    documents = [
        Document(f"dense:{known + place}", text, analyse(text), {"title": text.split("\n")[0]})
        for place, text in enumerate(texts)
    ]
    before = set(project.numbers())
    job = Import(project, "import:dense.jsonl", {"path": "dense.jsonl"})
    job.add([(AnnotatedDocument(document), ()) for document in documents])
    numbers = sorted(set(project.numbers()) - before)
    run = ModelRun(project, MODEL, {})
    for number, document in zip(numbers, documents, strict=True):
        said = said_of(document, project.schema, entities, relations)
        run.add([(number, AnnotatedDocument(document, said, MODEL))])
    run.finish()


def said_of(document: Document, schema: LabelSchema, entities: int, relations: int) -> Annotations:
    """So many undecided mentions and relations, and a cluster for ten mentions."""
    chance = random.Random(document.doc_key)
    found = _entities(document, schema, entities, chance)
    return Annotations(
        found,
        _relations(document.doc_key, found, schema, relations, chance),
        _clusters(document.doc_key, found, chance),
    )


def _text(number: int, tokens: int) -> str:
    """Exactly so many tokens of made-up words, the title's included."""
    records = (store_corpus.generated_record(10_000_000 + 1000 * number + n) for n in counting())
    first = next(records)
    text = f"{first['title']}\n{first['abstract']}"
    while len(table := analyse(text)) < tokens:
        text += " " + " ".join(str(next(records)["abstract"]) for _ in range(1 + tokens // 4000))
    return text[: table.spans[tokens - 1].char_end]


def _entities(
    document: Document, schema: LabelSchema, wanted: int, chance: random.Random
) -> tuple[Entity, ...]:
    tokens = document.tokens
    found: dict[Span, str] = {}
    while len(found) < wanted:
        start = chance.randrange(len(tokens))
        last = min(start + chance.choice((0, 0, 1, 1, 2)), len(tokens) - 1)
        span = Span(tokens.spans[start].char_start, tokens.spans[last].char_end)
        found[span] = chance.choice(schema.entity_labels)
    return tuple(
        Entity(
            stable_id(document.doc_key, "e", place), (span,), found[span], round(chance.random(), 4)
        )
        for place, span in enumerate(sorted(found, key=lambda s: (s.char_start, s.char_end)))
    )


def _relations(
    key: str, entities: Sequence[Entity], schema: LabelSchema, wanted: int, chance: random.Random
) -> tuple[Relation, ...]:
    """Between neighbours, as in real abstracts."""
    found: dict[frozenset[str], Relation] = {}
    while len(found) < wanted:
        at = chance.randrange(len(entities) - 1)
        head = entities[at]
        tail = entities[min(at + chance.randint(1, 4), len(entities) - 1)]
        legal = schema.legal_relations(head.label, tail.label)
        if legal and head.id != tail.id:
            ends = (head.id, tail.id)
            relation_id = stable_id(key, "r", len(found))
            made = Relation(relation_id, *ends, chance.choice(legal), round(chance.random(), 4))
            found.setdefault(frozenset(ends), made)
    return tuple(found.values())


def _clusters(key: str, entities: Sequence[Entity], chance: random.Random) -> tuple[Cluster, ...]:
    """A fifth of the mentions, three or so together."""
    chosen = sorted(chance.sample(range(len(entities)), len(entities) // 5))
    groups = [chosen[at : at + 3] for at in range(0, len(chosen), 3)]
    return tuple(
        Cluster(stable_id(key, "c", place), tuple(entities[place].id for place in group), 0.8)
        for place, group in enumerate(groups)
        if len(group) > 1
    )
