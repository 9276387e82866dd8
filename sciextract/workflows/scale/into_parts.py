"""A run into a folder of parts; the same call again goes on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from pathlib import Path

from sciextract.errors import UsageError
from sciextract.formats.parts_folder import QUARANTINE
from sciextract.formats.urls import is_url, without_file_scheme
from sciextract.workflows.scale.folder.encoding import encoder
from sciextract.workflows.scale.folder.manifest import Manifest
from sciextract.workflows.scale.folder.parts import PartsFolder, open_parts
from sciextract.workflows.scale.report import ManyListener, ManyReport
from sciextract.workflows.scale.request import Request
from sciextract.workflows.scale.seam import CHUNK_SIZE, Counts, Engine, Work
from sciextract.workflows.scale.shards import plan_shards


def annotate_into_parts(
    request: Request,
    engine: Engine,
    folder: str,
    export: str,
    listener: ManyListener,
    chunk_size: int = CHUNK_SIZE,
) -> ManyReport:
    """Annotate everything that the folder does not hold yet.

    Args:
        request: What to annotate.
        engine: Who predicts.
        folder: Where the parts go.
        export: Their format, ``jsonl`` or ``parquet``.
        listener: Hears what happens.
        chunk_size: Records of a part.

    Raises:
        SciextractError: Nothing could be done, or the run cannot go on; the folder is whole, and the same call
            goes on.
    """
    if request.choice.candidates and export != "jsonl":
        raise UsageError("--candidates needs a format that holds them", "add --export jsonl")
    shards = plan_shards(request.inputs, request.input_format)
    encoder(export)
    model = request.model(listener)
    work = request.work(shards, model, chunk_size, ordered=False)
    schema = {"name": model.config.schema_name, "hash": model.config.schema_hash}
    with _opened(folder, Manifest.of(work, schema, export), request.inputs) as parts:
        started = time.monotonic()
        counts = _filled(parts, work, engine, listener)
        seconds = time.monotonic() - started
        parts.finish()
    request.last_notes(parts.counts, listener)
    return _report(parts, counts, seconds, work, export)


def _opened(
    folder: str, manifest: Manifest, inputs: Sequence[str]
) -> AbstractContextManager[PartsFolder]:
    place = without_file_scheme(folder)
    if is_url(place):
        from sciextract.workflows.scale.folder.behind_url import open_behind_url

        return open_behind_url(place, manifest, inputs)
    return open_parts(Path(place), manifest, inputs)


def _filled(parts: PartsFolder, work: Work, engine: Engine, listener: ManyListener) -> Counts:
    """What this run does."""
    counts = Counts()
    before = parts.before
    if before.records:
        listener.before(before.records)
    work = replace(work, shards=parts.to_read(work.shards))
    if not work.shards:
        return counts
    with closing(engine.results(work, parts.done())) as results:
        for result in results:
            parts.put(result)
            counts += result.counts
            for problem in result.problems:
                listener.problem(problem)
            listener.done(result, counts)
    return counts


def _report(
    parts: PartsFolder, counts: Counts, seconds: float, work: Work, export: str
) -> ManyReport:
    whole = parts.counts
    return ManyReport(
        counts,
        parts.before.documents,
        (whole.bad, whole.quarantined),
        seconds,
        work.model,
        export,
        parts.place,
        f"{parts.place}/{QUARANTINE}" if whole.quarantined else "",
        dict(parts.losses),
    )
