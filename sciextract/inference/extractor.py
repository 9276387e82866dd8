"""The extractor: texts in, typed annotations out."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from pickle import PicklingError
from typing import TYPE_CHECKING, Any

from sciextract.documents.annotations import Layer
from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.errors import DeviceError, ModelMismatchError, ModelNotFoundError, UsageError
from sciextract.inference.batching import (
    AUTO,
    CPU,
    CUDA,
    DEFAULT_OPTIONS,
    DEVICES,
    SINGLE,
    Batching,
    RunOptions,
    in_order,
    usable_cores,
)
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import (
    DEFAULT_MODEL,
    GPU_PRECISIONS,
    GRAPHS,
    PAIRS_GRAPH,
    TOKENIZER,
    ModelFolder,
    locate_model,
    open_folder,
)
from sciextract.inference.network import WordStates
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.results import annotate_given, annotate_raw
from sciextract.inference.settings import DecodeSettings
from sciextract.inference.tokenization import with_cut_words
from sciextract.text.analyse import make_document

if TYPE_CHECKING:
    from sciextract.inference.adapter.model import Adapter
    from sciextract.inference.onnx_network import OnnxNetwork
    from sciextract.inference.promise import Promise


BATCH_TOKENS_ON_GPU = 16_384
"""Subwords of a call on a GPU by default: about fifty abstracts, some gigabytes for an encoder of 110 M weights."""

POOLS_AT_A_TIME = 2
"""While the GPU works for one pool of documents, the processor reads the results of another."""

_INT8 = "int8"


@dataclass(frozen=True, slots=True)
class RunningModel:
    """A model that is ready to run.

    Attributes:
        network: The graphs, ready to run.
        batching: Which windows share a call.
        workers: Documents, or pools of them, that are predicted at a time.
        message: Which device was taken; of interest where ``auto`` took it.
    """

    network: OnnxNetwork
    batching: Batching
    workers: int
    message: str


def start_model(folder: ModelFolder, wanted: RunOptions) -> RunningModel:
    """Start a model.

    Raises:
        ModelNotFoundError: It has no graph of that precision, or none for a GPU.
        ModelDamagedError: A graph cannot be loaded.
        DeviceError: The device cannot be used.
        UsageError: No device has that name.
    """
    if wanted.device not in DEVICES:
        problem = f"--device {wanted.device} is not possible"
        raise UsageError(problem, f"choose from: {', '.join(DEVICES)}")
    if wanted.device != AUTO:
        return replace(_start(folder, wanted, wanted.device), message="")
    try:
        return _start(folder, wanted, CUDA)
    except (DeviceError, ModelNotFoundError) as error:
        running = _start(folder, wanted, CPU)
        return replace(running, message=f"{running.message}: {error.message}")


def _start(folder: ModelFolder, wanted: RunOptions, device: str) -> RunningModel:
    from sciextract.inference.onnx_network import OnnxNetwork

    if device == CUDA and wanted.precision == _INT8:
        problem = "int8 graphs run on the CPU only"
        raise DeviceError(problem, f"--precision {' or '.join(GPU_PRECISIONS)}, or --device {CPU}")
    graph = folder.graph(wanted.precision, GPU_PRECISIONS if device == CUDA else tuple(GRAPHS))
    [precision] = [name for name, file in GRAPHS.items() if file == graph.name]
    # int8 output depends on what shares the batch: the scale of a layer's input is measured over all of it.
    batching = SINGLE if precision == _INT8 else wanted.batching
    if device == CUDA:
        if wanted.batch_size is None and wanted.batch_tokens is None:
            batching = Batching(None, BATCH_TOKENS_ON_GPU)
        threads, workers = 1, POOLS_AT_A_TIME
    else:
        # Documents side by side, a core each, or batches that share the cores.
        cores = wanted.threads or usable_cores()
        threads, workers = (1, cores) if batching.single else (cores, 1)
    pairs = folder.path / PAIRS_GRAPH
    network = OnnxNetwork(graph, pairs if pairs.is_file() else None, threads, device)
    message = f"device {AUTO} took {device}, with the {precision} graph"
    return RunningModel(network, batching, workers, message)


@dataclass(eq=False, repr=False)
class Extractor:
    """Predicts entities, relations and coreference with one model.

    Examples:
        >>> from sciextract import Extractor
        >>> extractor = Extractor.load()
        >>> [result] = extractor(["We train a parser for dependency parsing."])
        >>> sorted(entity.text_of(result.document.text) for entity in result.annotations.entities)
        ['dependency parsing', 'parser']

    Attributes:
        pipeline: Network, tokenizer and labels.
        config: The model's configuration.
        model: Recorded as the source of every item.
        batching: Which windows share a call of the encoder.
        workers: Documents, or pools of them where windows share calls, that are predicted at a time.
        device_message: Which device was chosen and why, if none was named.
        origin: The folder that it was loaded from and how, from which a pickled one is loaded again.
        adapter: Heads that predict instead of the pipeline's own, on its encoder.
        changed: Settings other than the model's own.
    """

    pipeline: Pipeline
    config: ModelConfig
    model: ModelId
    batching: Batching = SINGLE
    workers: int = 1
    device_message: str = ""
    origin: tuple[Path, RunOptions] | None = None
    adapter: Adapter | None = None
    changed: DecodeSettings | None = None

    @property
    def settings(self) -> DecodeSettings:
        """Thresholds and the like."""
        return self.changed or self.config.settings

    @classmethod
    def load(
        cls,
        model: str | Path = DEFAULT_MODEL,
        options: RunOptions = DEFAULT_OPTIONS,
        **changes: Any,
    ) -> Extractor:
        """Loads a bundled model, a model folder, or a model of the hub.

        Args:
            model: Name, folder or hub id.
            options: Device, precision, threads and batches.
            changes: Options by name, as in ``Extractor.load("sci", threads=1)``: see :class:`RunOptions`.

        Raises:
            ModelNotFoundError: No such model, or it lacks a graph of the precision or for the device.
            DeviceError: The device cannot be used.
            ModelDamagedError: A file of it is missing or changed.
            ModelVersionError: It needs a newer version.
            ModelMismatchError: It was trained on other features.
            UsageError: It is an encoder without trained heads, or no device has that name.
        """
        wanted = replace(options, **changes)
        path = locate_model(model)
        folder = open_folder(path)
        base = folder.base()
        running, config = start_model(base, wanted), base.config
        # Reading tokenizers takes a tenth of a second, which commands that only look at models do not pay.
        from sciextract.inference.tokenization import SubwordTokenizer, read_tokenizer

        limit, special = config.subword_limit, (config.prefix, config.suffix, config.unknown)
        subwords = SubwordTokenizer(read_tokenizer(base.path / TOKENIZER), *special, limit)
        pipeline = Pipeline(running.network, subwords, config.labels, limit)
        adapter = None
        if folder.config.adapter:
            from sciextract.inference.adapter.folder import load_adapter

            adapter = load_adapter(folder, base, pipeline)
        return cls(
            pipeline,
            folder.config,
            ModelId(folder.config.name, folder.hash),
            batching=running.batching,
            workers=running.workers,
            device_message=running.message,
            origin=(path.absolute(), wanted),
            adapter=adapter,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles as model folder and options; another process loads the model itself.

        Raises:
            PicklingError: It was not made by :meth:`load`.
        """
        if self.origin is None:
            raise PicklingError("only an Extractor made by Extractor.load can be pickled")
        return _loaded_again, (*self.origin, self.model, self.settings)

    def with_settings(
        self,
        thresholds: Mapping[str, float] | None = None,
        candidates: bool = False,
        only: Collection[str] = (),
    ) -> Extractor:
        """The same loaded model with other settings; the extractor itself does not change.

        Args:
            thresholds: Minimum scores, 0 to 1, by task (``entity``, ``relation``, ``coreference``); other tasks keep theirs.
            candidates: Whether results list the labels considered for each span and pair, with probabilities.
            only: Entity labels to predict; all when empty.

        Raises:
            UsageError: A task is unknown or a threshold lies outside 0 to 1.
        """
        settings = self.settings.with_thresholds(dict(thresholds or {}))
        settings = replace(settings, candidates=candidates, only=frozenset(only))
        return replace(self, changed=settings)

    def with_adapter(self, adapter: Adapter, config: ModelConfig, model: ModelId) -> Extractor:
        """The same encoder with the heads of an adapter, on the same device and with the same batches.

        Args:
            adapter: The heads.
            config: Their labels and thresholds.
            model: Recorded as the source of what they predict.
        """
        return replace(self, config=config, model=model, adapter=adapter, origin=None, changed=None)

    def base(self) -> Extractor:
        """The model whose encoder it runs on: itself, unless it is an adapter."""
        if self.adapter is None:
            return self
        own, model = self.adapter.base_config, self.adapter.base_model
        return replace(self, config=own, model=model, adapter=None, origin=None, changed=None)

    def promising(
        self, wanted: Mapping[str, float], confidence: float = 0.9, by_label: bool = False
    ) -> tuple[Extractor, Promise]:
        """The same loaded model, writing only what is right as often as promised, and what that is.

        Args:
            wanted: The least precision of entities and relations, 0 to 1, by task.
            confidence: With which it holds on other abstracts of the kind, 0 to 1.
            by_label: Whether it holds for each label by itself instead of the items of a task together.

        Raises:
            UsageError: A number is not possible, or the model has no held-out predictions to choose by.
        """
        from sciextract.inference.held_out import read_held_out
        from sciextract.inference.promise import make_promise

        folder = self.origin[0] if self.origin else None
        promise = make_promise(read_held_out(self.model, folder), wanted, confidence, by_label)
        # What the model writes without a promise is predicted all the same, so that what is held back is counted.
        lowest = {task: getattr(self.settings.thresholds, task) for task in wanted}
        for task, _, score in promise.thresholds:
            lowest[task] = min(lowest[task], score)
        settings = self.settings.with_thresholds(lowest)
        settings = replace(settings, promised=promise.thresholds)
        return replace(self, changed=settings), promise

    def using(self, layers: Iterable[Layer]) -> Extractor:
        """An adapter whose heads are used for some layers only; any other extractor as it is."""
        if self.adapter is None:
            return self
        return self.with_adapter(self.adapter.only(layers), self.config, self.model)

    def __call__(self, texts: str | Document | Iterable[str | Document]) -> list[AnnotatedDocument]:
        """Predicts texts or documents; a text gets its position as ``doc_key``: ``0``, ``1``...

        Args:
            texts: One or several texts or documents. A single string is one text, not a series of letters.

        Returns:
            One result per input, in order. Offsets of items count Unicode characters; scores lie between 0 and 1.

        Raises:
            UsageError: Something is neither, or the model predicts no entities.
        """
        return list(self.stream(texts))

    def annotate(self, document: Document | str) -> AnnotatedDocument:
        """Predicts one document or text. Tokens and sentences of a document are kept (models that split words do so internally).

        Raises:
            UsageError: It is neither a text nor a document, or the model predicts no entities.
        """
        return self.annotate_batch([document])[0]

    def annotate_batch(self, texts: Sequence[str | Document]) -> list[AnnotatedDocument]:
        """Predicts a list of texts or documents in the calling thread, in as few encoder calls as the batching allows.

        Args:
            texts: Texts or documents, as in :meth:`__call__`.

        Raises:
            UsageError: Something is neither, or the model predicts no entities.
        """
        documents = list(_documents(texts))
        if self.config.given_entities:
            raise UsageError(
                f"model {self.model.name!r} predicts no entities, only relations between given ones",
                "sciextract annotate --given-entities, with input that has entities",
            )
        seen = [self._split_words(document) for document in documents]
        if self.adapter:
            found = self.adapter.annotate(seen, self.settings, self.batching, self.model)
        else:
            raw = self.pipeline.predict_batch(seen, self.settings, self.batching)
            found = [
                annotate_raw(document, prediction, self.pipeline.labels, self.settings, self.model)
                for document, prediction in zip(seen, raw, strict=True)
            ]
        return [
            replace(self._keep_promise(predicted, self.settings.promised), document=document)
            for predicted, document in zip(found, documents, strict=True)
        ]

    def _keep_promise(
        self, found: AnnotatedDocument, promised: Sequence[tuple[str, str, float]]
    ) -> AnnotatedDocument:
        """What may be written where a precision is promised."""
        if not promised:
            return found
        from sciextract.inference.promise import keep_promise

        return keep_promise(found, promised)

    def _split_words(self, document: Document) -> Document:
        """The document as the model sees it."""
        return with_cut_words(document) if self.config.cuts_words else document

    def annotate_given(self, annotated: AnnotatedDocument) -> AnnotatedDocument:
        """Predicts relations, and coreference if the model does, between the entities of a document.

        Args:
            annotated: A document with entities. They are kept; its relations and clusters are ignored.
        """
        seen = replace(annotated, document=self._split_words(annotated.document))
        found = annotate_given(self.adapter or self.pipeline, seen, self.settings, self.model)
        # Given entities have no scores: only what is predicted between them is held to the promise.
        own = [limit for limit in self.settings.promised if limit[0] != Layer.ENTITIES.task]
        return replace(self._keep_promise(found, own), document=annotated.document)

    def stream_given(self, items: Iterable[AnnotatedDocument]) -> Iterator[AnnotatedDocument]:
        """:meth:`annotate_given` for many documents, in order and in constant memory."""
        yield from in_order(self.annotate_given, items, self.workers)

    def word_states(self, document: Document) -> tuple[Document, WordStates]:
        """A document as the model sees it, with states and span scores of its words."""
        seen = self._split_words(document)
        return seen, self.pipeline.word_states([seen])[0]

    def stream(
        self, texts: str | Document | Iterable[str | Document]
    ) -> Iterator[AnnotatedDocument]:
        """Predicts texts or documents in order and in constant memory; reads a few inputs ahead.

        Args:
            texts: As in :meth:`__call__`; may be a generator.

        Raises:
            UsageError: Something is neither, or the model predicts no entities.
        """
        documents = _documents(texts)
        single = self.batching.single
        pools = ([document] for document in documents) if single else self.batching.pools(documents)
        if self.workers > 1:
            predicted = in_order(self.annotate_batch, pools, self.workers)
        else:
            predicted = map(self.annotate_batch, pools)
        for pool in predicted:
            yield from pool


def _documents(texts: str | Document | Iterable[str | Document]) -> Iterator[Document]:
    """Documents as they are, texts as documents named by their place; one text is not a series of letters.

    Raises:
        UsageError: Something is neither a text nor a document.
    """
    for row, text in enumerate([texts] if isinstance(texts, str | Document) else texts):
        if isinstance(text, Document):
            yield text
        elif isinstance(text, str):
            yield make_document(str(row), text)
        else:
            raise UsageError(
                f"item {row} is {type(text).__name__}; expected str or Document",
                "of what sciextract.formats.read yields, pass item.document; leave out BadRecords",
            )


def _loaded_again(
    folder: Path, wanted: RunOptions, model: ModelId, settings: DecodeSettings
) -> Extractor:
    # The threads of a session do not survive a fork: a child must not use what it inherits of the cache.
    return replace(_in_process(os.getpid(), folder, wanted, model), changed=settings)


@lru_cache(maxsize=2)
def _in_process(process: int, folder: Path, wanted: RunOptions, model: ModelId) -> Extractor:
    """A pool sends its function with every chunk of work; the model is loaded once a process.

    Raises:
        ModelMismatchError: The folder holds another model by now.
        SciextractError: As :meth:`Extractor.load`.
    """
    extractor = Extractor.load(folder, wanted)
    if extractor.model != model:
        raise ModelMismatchError(
            f"{folder} now contains {extractor.model}, not {model}", "load the extractor again"
        )
    return extractor
