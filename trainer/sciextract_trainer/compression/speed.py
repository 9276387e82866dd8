"""How much processor time a model takes for an abstract."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sciextract.documents.document import Document
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.settings import DecodeSettings

PASSES = 3


def milliseconds_per_abstract(
    pipeline: Pipeline, documents: Sequence[Document], settings: DecodeSettings
) -> float:
    """The least of the means of some passes, one abstract a call; tokenising and decoding included.

    Processor time, of one core, which other work on the machine changes little; the least, because it only adds.
    """
    pipeline.predict(documents[0], settings)
    return min(_mean(pipeline, documents, settings) for _ in range(PASSES))


def _mean(pipeline: Pipeline, documents: Sequence[Document], settings: DecodeSettings) -> float:
    began = time.process_time()
    for document in documents:
        pipeline.predict(document, settings)
    return 1000 * (time.process_time() - began) / len(documents)
