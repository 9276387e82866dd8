"""The extractor: texts in, typed annotations out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.errors import UsageError
from sciextract.inference.batching import SINGLE, Batching
from sciextract.inference.cut_words import with_cut_words
from sciextract.inference.devices import CPU
from sciextract.inference.folder import TOKENIZER, ModelFolder, open_folder
from sciextract.inference.given import annotate_given
from sciextract.inference.locate import DEFAULT_MODEL, locate_model
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.network import Floats, Network
from sciextract.inference.ordered import in_order
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.results import annotated
from sciextract.inference.running import Wanted, run, told
from sciextract.inference.settings import DecodeSettings
from sciextract.text.analyse import make_document


class Extractor:
    """Predicts entities, relations and coreference with one model.

    >>> from sciextract import Extractor
    >>> extractor = Extractor.load()
    >>> [result] = extractor(["We train a parser for dependency parsing."])
    >>> sorted(entity.text_of(result.document.text) for entity in result.annotations.entities)
    ['dependency parsing', 'parser']

    Args:
        pipeline: Network, tokenizer and labels.
        config: The model's configuration.
        model: Recorded as the source of every item.
        batching: Which windows share a call of the encoder.
        workers: Documents, or pools of them where windows share calls, that are predicted at a time.
        device_told: Which device was chosen and why, where nobody named one.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        config: ModelConfig,
        model: ModelId,
        batching: Batching = SINGLE,
        workers: int = 1,
        device_told: str = "",
    ) -> None:
        self._pipeline = pipeline
        self.batching = batching
        self.workers = workers
        self.device_told = device_told
        self.config = config
        self.model = model
        self.settings = config.settings

    @classmethod
    def load(
        cls,
        model: str | Path = DEFAULT_MODEL,
        *,
        threads: int | None = None,
        precision: str | None = None,
        batch_size: int | None = None,
        batch_tokens: int | None = None,
        device: str = CPU,
    ) -> Extractor:
        """Loads a bundled model, a model folder, or a model of the hub.

        Args:
            model: Name, folder or hub id.
            threads: Cores to use, all usable ones when ``None``. Documents are predicted side by side,
                one core each, which is half as fast again as all cores on one document; batches of
                an fp32 graph share the cores.
            precision: ``int8``, ``int4``, ``fp32`` or ``fp16``; what the device prefers of the folder's when ``None``.
            batch_size: Windows per call of an fp32 or fp16 graph. An int8 graph always runs one, because its
                output depends on what shares the batch.
            batch_tokens: Word pieces per call of such a graph, padding counted; windows of similar length share it.
            device: ``cpu``, ``cuda``, or ``auto``: a GPU if this machine and the model's graphs allow.

        Raises:
            ModelNotFoundError: No such model, or it lacks a graph of the precision or for the device.
            DeviceError: The device cannot be used.
            ModelDamagedError: A file of it is missing or changed.
            ModelVersionError: It needs a newer version.
            ModelMismatchError: It was trained on other features.
            UsageError: It is an encoder without trained heads, or no device has that name.
        """
        folder = open_folder(locate_model(model))
        running = run(folder, Wanted(threads, precision, batch_size, batch_tokens, device))
        return cls(
            _pipeline(folder, running.network),
            folder.config,
            ModelId(folder.config.name, folder.hash),
            running.batching,
            running.workers,
            told(device, running),
        )

    def with_settings(
        self,
        thresholds: Mapping[str, float] | None = None,
        candidates: bool = False,
        only: Collection[str] = (),
    ) -> Extractor:
        """The same model with other thresholds (task to probability), with candidates, or for some entity labels only.

        Raises:
            UsageError: A task is unknown or a threshold lies outside 0 to 1.
        """
        other = Extractor(
            self._pipeline, self.config, self.model, self.batching, self.workers, self.device_told
        )
        settings: DecodeSettings = self.settings.with_thresholds(dict(thresholds or {}))
        other.settings = replace(settings, candidates=candidates, only=frozenset(only))
        return other

    def __call__(self, texts: Iterable[str]) -> list[AnnotatedDocument]:
        """Predicts plain texts; documents are named ``0``, ``1``..."""
        documents = [make_document(str(row), text) for row, text in enumerate(texts)]
        return list(self.stream(documents))

    def annotate(self, document: Document) -> AnnotatedDocument:
        """Predicts one document; its sentences are used as they are, and so are its tokens by most models."""
        return self.annotate_batch([document])[0]

    def annotate_batch(self, documents: Sequence[Document]) -> list[AnnotatedDocument]:
        """Predicts some documents.

        Raises:
            UsageError: The model predicts no entities.
        """
        if self.config.given_entities:
            raise UsageError(
                f"model {self.model.name!r} predicts no entities, only relations between given ones",
                "sciextract annotate --given-entities, with input that has entities",
            )
        seen = [self._seen(document) for document in documents]
        raw = self._pipeline.predict_batch(seen, self.settings, self.batching)
        found = [
            annotated(document, prediction, self._pipeline.labels, self.settings, self.model)
            for document, prediction in zip(seen, raw, strict=True)
        ]
        return [
            replace(each, document=document)
            for each, document in zip(found, documents, strict=True)
        ]

    def _seen(self, document: Document) -> Document:
        """The document as the model sees it."""
        return with_cut_words(document) if self.config.cuts_words else document

    def annotate_given(self, annotated: AnnotatedDocument) -> AnnotatedDocument:
        """Predicts relations, and clusters where the model links mentions, between a document's entities.

        The entities stay as they are; relations and clusters that came with them are not looked at.
        """
        seen = replace(annotated, document=self._seen(annotated.document))
        found = annotate_given(self._pipeline, seen, self.settings, self.model)
        return replace(found, document=annotated.document)

    def stream_given(self, items: Iterable[AnnotatedDocument]) -> Iterator[AnnotatedDocument]:
        """The same for many documents: in order and in constant memory."""
        yield from in_order(self.annotate_given, items, self.workers)

    def vectors(self, documents: Iterable[Document]) -> Iterator[Floats]:
        """What the encoder makes of each document as a whole: :meth:`Pipeline.vector`, in order."""
        yield from in_order(self._pipeline.vector, map(self._seen, documents), self.workers)

    def stream(self, documents: Iterable[Document]) -> Iterator[AnnotatedDocument]:
        """Predicts documents in order and in constant memory, some documents ahead of the last one."""
        if not self.batching.single:
            yield from self._in_pools(documents)
        elif self.workers > 1:
            yield from in_order(self.annotate, documents, self.workers)
        else:
            yield from map(self.annotate, documents)

    def _in_pools(self, documents: Iterable[Document]) -> Iterator[AnnotatedDocument]:
        pools = self.batching.pools(documents)
        if self.workers > 1:
            predicted = in_order(self.annotate_batch, pools, self.workers)
        else:
            predicted = map(self.annotate_batch, pools)
        for pool in predicted:
            yield from pool


def _pipeline(folder: ModelFolder, network: Network) -> Pipeline:
    from tokenizers import Tokenizer

    from sciextract.inference.pieces import PieceEncoder

    config = folder.config
    tokenizer = Tokenizer.from_file(str(folder.path / TOKENIZER))
    pieces = PieceEncoder(
        tokenizer, config.prefix, config.suffix, config.unknown, config.piece_limit
    )
    return Pipeline(network, pieces, config.labels, config.piece_limit)
