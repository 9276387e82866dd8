"""The product's pipeline and the bare int8 encoder, on the same chunks of texts."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path
from typing import Any

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.formats import read
from sciextract.formats.exchange import JsonlWriter
from sciextract.inference.extractor import Extractor
from sciextract.inference.onnx_network import _session
from sciextract.inference.tokenization import EncoderInput, PaddedInput, pad, plan_windows
from sciextract.workflows.annotate import annotate

Texts = list[tuple[str, str]]
"""Key and text of each document."""


class PipelineContender:
    """Reads JSONL, tokenises, predicts, decodes and encodes JSONL lines into nothing."""

    def __init__(self, extractor: Extractor, files: Sequence[Path]) -> None:
        self._extractor = extractor
        self._files = files

    def __call__(self, chunk: int) -> None:
        with open(os.devnull, "w", encoding="utf-8") as sink:
            annotate(read([str(self._files[chunk])]), self._extractor, JsonlWriter(sink))


class EncoderContender:
    """Runs one graph on ready input, one abstract a call."""

    def __init__(self, graph: Path, threads: int, chunks: Sequence[Sequence[PaddedInput]]) -> None:
        self._session = _session(graph, threads)
        self._names = [node.name for node in self._session.get_inputs()]
        self._chunks = chunks

    def __call__(self, chunk: int) -> None:
        for padded in self._chunks[chunk]:
            feed = {name: getattr(padded, name) for name in self._names}
            self._session.run(None, feed)


class ParallelEncoders:
    """As many bare encoders of one thread each as there are threads: the most that the cores can do."""

    def __init__(self, graph: Path, threads: int, chunks: Sequence[Sequence[PaddedInput]]) -> None:
        self._one = EncoderContender(graph, 1, [[padded] for chunk in chunks for padded in chunk])
        self._pool = ThreadPoolExecutor(threads)
        self._starts = [0, *accumulate(len(chunk) for chunk in chunks)]

    def __call__(self, chunk: int) -> None:
        numbers = range(self._starts[chunk], self._starts[chunk + 1])
        list(self._pool.map(self._one, numbers))


def chunk_files(texts: Texts, size: int, folder: Path) -> list[Path]:
    """The texts in JSONL files of ``size`` records."""
    files = []
    for start in range(0, len(texts), size):
        lines = [json.dumps({"id": key, "text": text}) for key, text in texts[start : start + size]]
        files.append(folder / f"chunk-{start:06}.jsonl")
        files[-1].write_text("\n".join(lines) + "\n", encoding="utf-8")
    return files


def documents_of(files: Sequence[Path]) -> list[list[Document]]:
    """What the pipeline reads from each file."""
    return [
        [item.document for item in read([str(file)]) if isinstance(item, AnnotatedDocument)]
        for file in files
    ]


def windows_of(extractor: Extractor, document: Document) -> list[EncoderInput]:
    """The encoder input that the pipeline makes of a document."""
    encoder, limit = extractor.pipeline.tokenizer, extractor.pipeline.subword_limit
    subwords = encoder.split(document.tokens.slices(document.text))
    windows = plan_windows(subwords.counts, document.tokens.sentences, limit)
    return [encoder.frame(subwords, w.seen.token_start, w.seen.token_end) for w in windows]


def ready_input(
    extractor: Extractor, chunks: Sequence[Sequence[Document]]
) -> list[list[PaddedInput]]:
    """Encoder input of all documents, one window a call."""
    return [
        [pad([window]) for document in chunk for window in windows_of(extractor, document)]
        for chunk in chunks
    ]


def cut_encoder(graph: Path, target: Path) -> Path:
    """The encoder alone: the graph up to the last hidden states.

    The output ``first`` gathers the rows of the flattened last hidden states, so these are what its gather
    reads, before the reshape.
    """
    import onnx

    model = onnx.load(graph)
    hidden = _last_hidden(model.graph)
    del model.graph.value_info[:]  # shapes of the exporter contradict quantised weights
    del model.graph.output[:]
    model.graph.output.append(
        onnx.helper.make_tensor_value_info(hidden, onnx.TensorProto.FLOAT, None)
    )
    whole = target.with_suffix(".whole.onnx")
    onnx.save(model, whole)
    onnx.utils.extract_model(
        str(whole),
        str(target),
        ["input_ids", "attention_mask"],
        [hidden],
        check_model=False,
        infer_shapes=False,
    )
    return target


def _last_hidden(graph: Any) -> str:
    makers = {output: node for node in graph.node for output in node.output}
    name = "first"
    while (node := makers[name]).op_type not in ("LayerNormalization", "SkipLayerNormalization"):
        name = node.input[0]
    return name
