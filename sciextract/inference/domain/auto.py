"""``--model auto``: each document is predicted by the bundled model that suits its words."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Lock

from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.inference.batching import SINGLE, in_order, usable_cores
from sciextract.inference.extractor import Extractor
from sciextract.inference.label_layout import RelationLayout
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import (
    AUTO,
    BIOMEDICAL_MODEL,
    DEFAULT_MODEL,
    locate_model,
    open_folder,
)
from sciextract.inference.pipeline import Labels

STEM_LETTERS = 7
"""Letters of a stem: enough to join inflections, few enough to stay simple."""

LEAST_SCORE = 5.0
"""Score above which a text counts as biomedical: where, among the abstracts that were learned from, both kinds are
recognised about equally often."""

_WORD = re.compile(r"[a-z]{3,}")
_FILE = Path(__file__).with_name("stems.json")


def stems_of(text: str) -> frozenset[str]:
    """The beginnings of all words of three letters and more, in lower case.

    >>> sorted(stems_of("Kinases inhibit the kinase"))
    ['inhibit', 'kinase', 'kinases', 'the']
    """
    return frozenset(word[:STEM_LETTERS] for word in _WORD.findall(text.lower()))


def biomedical_score(text: str) -> float:
    """The higher, the more biomedical; negative for computer science, 0 where no word is known."""
    return score_of(stems_of(text), weights())


def score_of(stems: Iterable[str], known: Mapping[str, float]) -> float:
    """The sum of the known stems' weights."""
    return sum(known.get(stem, 0.0) for stem in stems)


def is_biomedical(text: str) -> bool:
    """Whether the words of a text speak for biomedicine."""
    return biomedical_score(text) > LEAST_SCORE


@cache
def weights() -> dict[str, float]:
    """Log-odds by stem, positive for biomedicine."""
    found: dict[str, float] = json.loads(_FILE.read_text(encoding="utf-8"))
    return found


Load = Callable[[str], Extractor]
"""Loads a bundled model by name."""


def suited_model(text: str) -> str:
    """The name of the bundled model that suits a text.

    >>> suited_model("Aspirin inhibits cyclooxygenase in patients with cancer.")
    'bio'
    """
    return BIOMEDICAL_MODEL if is_biomedical(text) else DEFAULT_MODEL


class AutoExtractor:
    """Predicts every document with the model that suits it; a model is loaded with its first document.

    Args:
        load: Gives a model by its bundled name.
        workers: Documents that are predicted at a time.

    Raises:
        ModelNotFoundError: A bundled model is missing.
        ModelDamagedError: A file of one is missing or changed.
    """

    batching = SINGLE
    device_message = ""

    def __init__(self, load: Load, workers: int | None = None) -> None:
        self._load = load
        self._workers = workers or usable_cores()
        self._loaded: dict[str, Extractor] = {}
        self._lock = Lock()
        folders = {
            name: open_folder(locate_model(name)) for name in (DEFAULT_MODEL, BIOMEDICAL_MODEL)
        }
        self._ids = {name: ModelId(name, folder.hash) for name, folder in folders.items()}
        self.used: Counter[str] = Counter()
        self.config = merged_config([folder.config for folder in folders.values()])
        both = "".join(each.hash for each in self._ids.values())
        self.model = ModelId(AUTO, hashlib.sha256(both.encode()).hexdigest())

    def model_of(self, document: Document) -> ModelId:
        """The model that predicts a document."""
        return self._ids[suited_model(document.text)]

    def annotate(self, document: Document) -> AnnotatedDocument:
        """Predicts one document; its ``model`` says which model did."""
        return self._suited(document).annotate(document)

    def annotate_given(self, annotated: AnnotatedDocument) -> AnnotatedDocument:
        """Predicts what relates a document's entities."""
        return self._suited(annotated.document).annotate_given(annotated)

    def stream(self, documents: Iterable[Document]) -> Iterator[AnnotatedDocument]:
        """Predicts documents in order and in constant memory."""
        yield from in_order(self.annotate, documents, self._workers)

    def stream_given(self, items: Iterable[AnnotatedDocument]) -> Iterator[AnnotatedDocument]:
        """The same between given entities."""
        yield from in_order(self.annotate_given, items, self._workers)

    def usage_message(self) -> str:
        """How many documents each model predicted."""
        parts = [f"{count} by {self._ids[name]}" for name, count in sorted(self.used.items())]
        return f"model {AUTO} chose for each abstract: {', '.join(parts)}" if parts else ""

    def _suited(self, document: Document) -> Extractor:
        name = suited_model(document.text)
        with self._lock:
            self.used[name] += 1
            if name not in self._loaded:
                self._loaded[name] = self._load(name)
            return self._loaded[name]


def merged_config(configs: list[ModelConfig]) -> ModelConfig:
    """What several models predict together, as far as readers of the results need it."""
    entities = dict.fromkeys(label for each in configs for label in each.labels.entities)
    relations = dict.fromkeys(label for each in configs for label in each.labels.relations.labels)
    symmetric = frozenset().union(*(each.labels.relations.symmetric for each in configs))
    labels = Labels(
        tuple(entities),
        RelationLayout(tuple(relations), symmetric),
        any(each.labels.coreference for each in configs),
        max(each.labels.max_span_width for each in configs),
    )
    names = "+".join(each.schema_name for each in configs)
    return replace(configs[0], name=AUTO, labels=labels, schema_name=names, schema_hash="")
