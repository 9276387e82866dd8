"""The extractor: texts in, typed annotations out."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from pickle import PicklingError
from typing import Any

from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.errors import ModelMismatchError, UsageError
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
        origin: The folder that it was loaded from and how, from which a pickled one is loaded again.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        config: ModelConfig,
        model: ModelId,
        batching: Batching = SINGLE,
        workers: int = 1,
        device_told: str = "",
        origin: tuple[Path, Wanted] | None = None,
    ) -> None:
        self._origin = origin
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
        wanted = Wanted(threads, precision, batch_size, batch_tokens, device)
        return cls._from_folder(locate_model(model), wanted)

    @classmethod
    def _from_folder(cls, path: Path, wanted: Wanted) -> Extractor:
        folder = open_folder(path)
        running = run(folder, wanted)
        return cls(
            _pipeline(folder, running.network),
            folder.config,
            ModelId(folder.config.name, folder.hash),
            running.batching,
            running.workers,
            told(wanted.device, running),
            (path.absolute(), wanted),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles as model folder and options; another process loads the model itself.

        Raises:
            PicklingError: It was not made by :meth:`load`.
        """
        if self._origin is None:
            raise PicklingError("only an Extractor made by Extractor.load can be pickled")
        return _loaded_again, (*self._origin, self.model, self.settings)

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
        settings: DecodeSettings = self.settings.with_thresholds(dict(thresholds or {}))
        return self._with(replace(settings, candidates=candidates, only=frozenset(only)))

    def _with(self, settings: DecodeSettings) -> Extractor:
        other = Extractor(
            *(self._pipeline, self.config, self.model, self.batching, self.workers),
            *(self.device_told, self._origin),
        )
        other.settings = settings
        return other

    def __call__(self, texts: str | Document | Iterable[str | Document]) -> list[AnnotatedDocument]:
        """Predicts texts, or documents; texts are named by their place: ``0``, ``1``...

        One string is one text: the list then has one result.

        Raises:
            UsageError: Something is neither, or the model predicts no entities.
        """
        return list(self.stream(texts))

    def annotate(self, document: Document | str) -> AnnotatedDocument:
        """Predicts one document; its sentences are used as they are, and so are its tokens by most models."""
        return self.annotate_batch([document])[0]

    def annotate_batch(self, texts: Sequence[str | Document]) -> list[AnnotatedDocument]:
        """Predicts some documents, or texts as in :meth:`__call__`.

        Raises:
            UsageError: Something is neither, or the model predicts no entities.
        """
        documents = list(_documents(texts))
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

    def stream(
        self, texts: str | Document | Iterable[str | Document]
    ) -> Iterator[AnnotatedDocument]:
        """Predicts texts or documents in order and in constant memory, some of them ahead of the last one.

        Raises:
            UsageError: Something is neither, or the model predicts no entities.
        """
        documents = _documents(texts)
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


def _documents(texts: str | Document | Iterable[str | Document]) -> Iterator[Document]:
    """Documents as they are, texts as documents named by their place; one text is no series of letters.

    Raises:
        UsageError: Something is neither a text nor a document.
    """
    for row, each in enumerate([texts] if isinstance(texts, str | Document) else texts):
        if isinstance(each, Document):
            yield each
        elif isinstance(each, str):
            yield make_document(str(row), each)
        else:
            raise UsageError(
                f"item {row} is {type(each).__name__}; allowed: str and Document",
                "what sciextract.formats.read gives has its document in .document, unless it is a BadRecord",
            )


def _loaded_again(
    folder: Path, wanted: Wanted, model: ModelId, settings: DecodeSettings
) -> Extractor:
    # The threads of a session do not survive a fork: a child must not use what it inherits of the cache.
    return _in_process(os.getpid(), folder, wanted, model)._with(settings)


@lru_cache(maxsize=2)
def _in_process(process: int, folder: Path, wanted: Wanted, model: ModelId) -> Extractor:
    """A pool sends its function with every chunk of work; the model is loaded once a process.

    Raises:
        ModelMismatchError: The folder holds another model by now.
        SciextractError: As :meth:`Extractor.load`.
    """
    extractor = Extractor._from_folder(folder, wanted)
    if extractor.model != model:
        raise ModelMismatchError(
            f"{folder} holds {extractor.model} by now, not {model}", "load the extractor again"
        )
    return extractor


def _pipeline(folder: ModelFolder, network: Network) -> Pipeline:
    from tokenizers import Tokenizer

    from sciextract.inference.pieces import PieceEncoder

    config = folder.config
    tokenizer = Tokenizer.from_file(str(folder.path / TOKENIZER))
    pieces = PieceEncoder(
        tokenizer, config.prefix, config.suffix, config.unknown, config.piece_limit
    )
    return Pipeline(network, pieces, config.labels, config.piece_limit)
