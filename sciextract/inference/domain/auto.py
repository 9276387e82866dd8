"""``--model auto``: each document is predicted by the bundled model that suits its words."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from threading import Lock

from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.inference.batching import SINGLE, in_order, usable_cores
from sciextract.inference.decoding import RelationLayout
from sciextract.inference.domain.words import FITS_NEITHER, Domain, domain_of
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import (
    AUTO,
    BIOMEDICAL_MODEL,
    DEFAULT_MODEL,
    SCIENCE_MODEL,
    locate_model,
    open_folder,
)
from sciextract.inference.pipeline import Labels

MODELS = {
    Domain.COMPUTING: DEFAULT_MODEL,
    Domain.BIOMEDICINE: BIOMEDICAL_MODEL,
    Domain.NEITHER: SCIENCE_MODEL,
}
"""The bundled model that predicts texts of each domain."""


def suited_model(text: str) -> str:
    """The name of the bundled model that suits a text.

    >>> suited_model("Aspirin inhibits cyclooxygenase in patients with cancer.")
    'bio'
    """
    return MODELS[domain_of(text)]


Load = Callable[[str], Extractor]
"""Loads a bundled model by name."""


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
        folders = {name: open_folder(locate_model(name)) for name in MODELS.values()}
        self._ids = {name: ModelId(name, folder.hash) for name, folder in folders.items()}
        self.config = merged_config([folder.config for folder in folders.values()])
        # A hash of its own, so that nobody continues results of other models.
        hashes = "".join(model.hash for model in self._ids.values())
        self.model = ModelId(AUTO, hashlib.sha256(hashes.encode()).hexdigest())

    def model_of(self, document: Document) -> ModelId:
        return self._ids[suited_model(document.text)]

    def annotate(self, document: Document) -> AnnotatedDocument:
        """Predicts one document; its ``model`` says which model did, a warning where its words fit no field."""
        domain = domain_of(document.text)
        return _with_remark(self._suited_model(domain).annotate(document), domain)

    def annotate_given(self, annotated: AnnotatedDocument) -> AnnotatedDocument:
        """Predicts what relates a document's entities."""
        domain = domain_of(annotated.document.text)
        return _with_remark(self._suited_model(domain).annotate_given(annotated), domain)

    def stream(self, documents: Iterable[Document]) -> Iterator[AnnotatedDocument]:
        """Predicts documents in order and in constant memory."""
        yield from in_order(self.annotate, documents, self._workers)

    def stream_given(self, items: Iterable[AnnotatedDocument]) -> Iterator[AnnotatedDocument]:
        yield from in_order(self.annotate_given, items, self._workers)

    def _suited_model(self, domain: Domain) -> Extractor:
        name = MODELS[domain]
        with self._lock:
            # Threads that predict side by side must not load the same model twice.
            if name not in self._loaded:
                self._loaded[name] = self._load(name)
            return self._loaded[name]


def _with_remark(predicted: AnnotatedDocument, domain: Domain) -> AnnotatedDocument:
    if domain is not Domain.NEITHER:
        return predicted
    return replace(predicted, warnings=(*predicted.warnings, FITS_NEITHER))


def merged_config(configs: list[ModelConfig]) -> ModelConfig:
    """What several models predict together, as far as readers of the results need it."""
    entities = dict.fromkeys(label for config in configs for label in config.labels.entities)
    relations = dict.fromkeys(
        label for config in configs for label in config.labels.relations.labels
    )
    symmetric = frozenset().union(*(config.labels.relations.symmetric for config in configs))
    layout = RelationLayout(tuple(relations), symmetric)
    coreference = any(config.labels.coreference for config in configs)
    width = max(config.labels.max_span_width for config in configs)
    labels = Labels(tuple(entities), layout, coreference, width)
    names = "+".join(config.schema_name for config in configs)
    return replace(configs[0], name=AUTO, labels=labels, schema_name=names, schema_hash="")
