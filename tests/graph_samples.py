"""Small annotated abstracts, invented here, for the tests of the graph."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sciextract.documents.annotations import (
    Annotations,
    Cluster,
    Entity,
    Relation,
    Span,
    State,
    new_id,
)
from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.formats.exchange import encode
from sciextract.graph.building import BuildReport, build_graph
from sciextract.graph.extraction import CountSettings
from sciextract.graph.queries.edges import Sentence
from sciextract.graph.reading import Reading
from sciextract.text.analyse import analyse

HOSTILE = '\x1b[31m=HYPERLINK("http://x")</script><b>&lol; [12]'
"""A name that steers terminals, runs in spreadsheets, and ends scripts, elements and entities."""

Link = tuple[str, str, str] | tuple[str, str, str, float]
"""Head, type, tail, and perhaps the score."""


def abstract(
    key: str,
    text: str,
    mentions: dict[str, str],
    links: Sequence[Link] = (),
    groups: Sequence[Sequence[str]] = (),
    *,
    year: int | None = None,
    model: str = "m",
    rejected: Sequence[str] = (),
    **fields: object,
) -> AnnotatedDocument:
    """An abstract whose mentions are given by their words: ``WORDS`` or ``WORDS#2`` for the second place."""
    spans = {words: _place(text, words) for words in mentions}
    entities = {
        words: Entity(
            new_id(), (spans[words],), label, 0.9,
            State.REJECTED if words in rejected else State.UNDECIDED,
        )
        for words, label in mentions.items()
    }  # fmt: skip
    relations = [
        Relation(new_id(), entities[link[0]].id, entities[link[2]].id, link[1], _score(link))
        for link in links
    ]
    clusters = [Cluster(new_id(), tuple(entities[name].id for name in group)) for group in groups]
    document = Document(
        key,
        text,
        analyse(text, list(spans.values())),
        fields if year is None else {**fields, "year": year},
    )
    annotations = Annotations(tuple(entities.values()), tuple(relations), tuple(clusters))
    return AnnotatedDocument(document, annotations, ModelId(model, "0" * 64))


def write(path: Path, documents: Sequence[AnnotatedDocument]) -> Path:
    """The documents as ``annotate`` writes them."""
    path.write_text("".join(f"{encode(document)}\n" for document in documents), encoding="utf-8")
    return path


def build(graph: Path, *documents: AnnotatedDocument, **options: Any) -> BuildReport:
    """Bring documents into a graph."""
    path = write(graph.with_name("in.jsonl"), documents)
    reading = Reading([str(path)], options.pop("counted", CountSettings()))
    return build_graph(graph, reading, **options)


def field() -> list[AnnotatedDocument]:
    """Four abstracts about one field."""
    return [
        abstract(
            "a",
            "We parse with a support vector machine (SVM). The SVM improves dependency parsing.",
            {"support vector machine": "Method", "SVM": "Method", "SVM#2": "Method",
             "dependency parsing": "Task"},
            [("SVM#2", "USED-FOR", "dependency parsing", 0.8)], year=2001,
        ),
        abstract(
            "b",
            "Support-vector machines help dependency parsing. Accuracy is measured on treebanks.",
            {"Support-vector machines": "Method", "dependency parsing": "Task",
             "Accuracy": "Metric", "treebanks": "Material"},
            [("Support-vector machines", "USED-FOR", "dependency parsing", 0.6),
             ("treebanks", "USED-FOR", "dependency parsing")], year=2002,
        ),
        abstract(
            "c",
            "SVMs are compared with neural networks. The networks win on treebanks.",
            {"SVMs": "Method", "neural networks": "Method", "networks#2": "Generic",
             "treebanks": "Material"},
            [("SVMs", "COMPARE", "neural networks"), ("networks#2", "USED-FOR", "treebanks")],
            [["neural networks", "networks#2"]], year=2003,
        ),
        abstract(
            "d",
            "A neural network for speech recognition. It needs no treebank.",
            {"neural network": "Method", "speech recognition": "Task", "treebank": "Material"},
            [("neural network", "USED-FOR", "speech recognition")], year=2004,
        ),
    ]  # fmt: skip


def ends_of(sentence: Sentence) -> tuple[str, str]:
    """Head and tail as they are written in a sentence."""
    head, tail = [
        sentence.text[start - sentence.char_start : end - sentence.char_start]
        for start, end in (sentence.head, sentence.tail)
    ]
    return head, tail


TASKS = ("parsing", "tagging", "ranking")


def pairs(path: Path, *links: Sequence[str]) -> None:
    """A graph of abstracts that each relate a method to a task."""
    documents = []
    for number, (method, task, *more) in enumerate(links):
        text = f"Text {number}: {method} for {task}{' with ' + ' and '.join(more) if more else ''}."
        mentions = {name: "Task" if name in TASKS else "Method" for name in (method, task, *more)}
        documents.append(abstract(text, text, mentions, [(method, "USED-FOR", task)], year=2000 + number % 3))  # fmt: skip
    build(path, *documents)


def lines(output: str) -> list[Any]:
    """The objects of JSON lines."""
    return [json.loads(line) for line in output.splitlines()]


def _score(link: Link) -> float:
    return link[3] if len(link) == 4 else 0.5


def _place(text: str, words: str) -> Span:
    plain, _, number = words.partition("#")
    start = -1
    for _ in range(int(number or 1)):
        start = text.index(plain, start + 1)
    return Span(start, start + len(plain))
