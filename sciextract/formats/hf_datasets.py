"""Hugging Face data, read and written by the ``datasets`` library: folders of ``save_to_disk``, and data sets of the hub.

The library follows every path that ``state.json`` names, ignores the row selection of old versions, and maps damaged
files into memory without looking at them. So names and selection are checked here before it reads, and each batch after.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import datasets
import pyarrow as pa
from datasets.table import MemoryMappedTable

from sciextract.errors import FormatError, InputMissingError
from sciextract.formats.base import BadRecord, ReadItem, Source, leads_outside, quoted
from sciextract.formats.opening import HUB_DATASET
from sciextract.formats.parquet import (
    ARROW_ERRORS,
    SCHEMA,
    RowBuffer,
    documents_of,
    writing_to,
)
from sciextract.formats.sink import new_folder

_DICT, _INFO, _STATE = "dataset_dict.json", "dataset_info.json", "state.json"
_BATCH_ROWS = 1000
#: What the library raises on damaged descriptions and files, on names that the hub does not know, and without network.
_ERRORS = (*ARROW_ERRORS, ValueError, KeyError, TypeError, AttributeError, RecursionError)


class _Part(NamedTuple):
    """A split, or a data set without splits: its place for messages, its name, and what opens it."""

    place: str
    split: str
    load: Callable[[], datasets.Dataset | datasets.IterableDataset]


def read_datasets(source: Source) -> Iterator[ReadItem]:
    """Read a data set, or every split of a dictionary of them (the split becomes the field ``split``).

    Args:
        source: A folder with what ``save_to_disk`` wrote, at any depth, or ``hf://datasets/OWNER/NAME``, which is
            streamed; ``@REVISION`` and ``#CONFIGURATION`` may follow.

    Raises:
        FormatError: There is no data set, or the only one cannot be read.
        InputMissingError: The folder does not exist.
    """
    if on_hub := HUB_DATASET.fullmatch(source.path):
        name, revision, config = on_hub.groups()
        with _explained(source.path):
            splits = datasets.load_dataset(name, config, revision=revision, streaming=True)
            parts = [_Part(source.path, str(each), partial(splits.get, each)) for each in splits]
    else:
        parts = _saved_parts(source)
    for part in parts:
        try:
            yield from _documents(part, source)
        except FormatError as error:
            if len(parts) == 1:
                raise
            yield BadRecord(error)


def _saved_parts(source: Source) -> list[_Part]:
    root = Path(source.path)
    if not root.is_dir():
        if root.exists():
            raise FormatError("this is a file; expected a folder", path=source.path)
        raise InputMissingError(f"{source.path}: no such folder")
    described = {path.parent for name in (_DICT, _INFO) for path in root.rglob(name)}
    # A folder that is described is read whole: what lies in it are its splits.
    outermost = sorted(path for path in described if not described & {*path.parents})
    parts = []
    for data in outermost:
        names: Any = [""]
        if (data / _DICT).is_file():
            names = _json(data / _DICT).get("splits")
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                problem = f"splits: {quoted(names)} found; expected a list of names"
                raise FormatError(problem, path=data / _DICT)
        # A split lies in a folder of its name, whatever path the description gives.
        folders = {name: data / Path(name).name for name in names}
        parts += [
            _Part(str(folder), split, partial(_saved, folder, root))
            for split, folder in folders.items()
            if not leads_outside(folder, root)
        ]
    if not parts:
        problem = f"no dataset found; expected a folder with {_INFO} or {_DICT}"
        raise FormatError(problem, path=source.path, hint="dataset.save_to_disk(FOLDER) makes one")
    return parts


def _saved(folder: Path, root: Path) -> datasets.Dataset:
    """The data set of a folder; of one without ``state.json``, as in the library's cache, all Arrow files."""
    if not (folder / _STATE).is_file():
        files = [each for each in sorted(folder.glob("*.arrow")) if not leads_outside(each, root)]
        return datasets.concatenate_datasets([datasets.Dataset.from_file(str(f)) for f in files])
    state = _json(folder / _STATE)
    if state.get("_indices_data_files"):
        hint = "dataset.flatten_indices().save_to_disk(FOLDER) writes the selected rows only"
        problem = "the dataset is a selection of rows, which is not read"
        raise FormatError(problem, path=folder / _STATE, hint=hint)
    for each in state["_data_files"]:
        name = str(each["filename"])
        if Path(name).name != name or leads_outside(folder / name, root):
            problem = f"{quoted(name)} found; expected files of this folder"
            raise FormatError(f"_data_files: {problem}", path=folder / _STATE)
    # The library saves a data set without rows, and fails to load it.
    files = state["_data_files"]
    return datasets.load_from_disk(str(folder)) if files else datasets.Dataset.from_dict({})


def _documents(part: _Part, source: Source) -> Iterator[ReadItem]:
    name = source.path.removeprefix("hf://datasets/") if "://" in source.path else ""
    origin = f"{name or Path(source.path).name}/{part.split}".rstrip("/")
    with _explained(part.place):
        data = part.load()
        tables = data.with_format("arrow").iter(_BATCH_ROWS)
        first = next(tables, None)
        if first is None:
            return
        batches = _sound_batches(chain([first], tables))
        features = data.features.to_dict() if data.features else {}
        named = Source(part.place, origin=origin)
        for item in documents_of(batches, first.schema, named, features):
            if part.split and not isinstance(item, BadRecord):
                fields = {**item.document.fields, "split": part.split}
                item = replace(item, document=replace(item.document, fields=fields))
            yield item


def _sound_batches(tables: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
    """The batches of tables whose offsets are known to be sound: damaged ones would be followed anywhere."""
    for table in tables:
        table.validate(full=True)
        yield from table.to_batches()


def _json(path: Path) -> dict[str, Any]:
    with _explained(str(path)):
        value = json.loads(path.read_bytes())
    if not isinstance(value, dict):
        raise FormatError(f"{quoted(value)} found; expected a JSON object", path=path)
    return value


@contextmanager
def _explained(place: str) -> Iterator[None]:
    try:
        yield
    except FormatError:
        raise
    except _ERRORS as error:
        raise FormatError(f"the data set cannot be read: {error}", path=place) from error


class DatasetsWriter(RowBuffer):
    """Writes a folder that ``datasets.load_from_disk`` reads, rejected items included.

    Rows go to an Arrow file first, since the library saves whole data sets only; that takes their space twice for
    the moment of :meth:`close`.
    """

    def __init__(self, destination: Path | str) -> None:
        """Write into a folder that is new or empty.

        Raises:
            OutputError: It holds files, or cannot be made.
        """
        super().__init__()
        self._folder = new_folder(destination)
        self._fingerprint = hashlib.blake2b(digest_size=8)
        self._unsaved = self._folder / ".unsaved" / "rows.arrow"
        with writing_to(self._folder):
            self._unsaved.parent.mkdir()
            self._file = pa.OSFile(str(self._unsaved), "wb")
            self._stream = pa.ipc.new_stream(self._file, SCHEMA)

    def close(self) -> None:
        """Save the data set.

        Raises:
            OutputError: The disk is full, or a file cannot be written.
        """
        self.flush()
        # The library draws its own bars; it has no other way to save without them.
        shown = not datasets.utils.are_progress_bars_disabled()
        datasets.disable_progress_bars()
        try:
            with writing_to(self._folder):
                self._stream.close()
                self._file.close()
                rows = MemoryMappedTable.from_file(str(self._unsaved))
                # The library's own fingerprint holds the time of the file.
                data = datasets.Dataset(rows, fingerprint=self._fingerprint.hexdigest())
                data.save_to_disk(str(self._folder))
                shutil.rmtree(self._unsaved.parent)
        finally:
            if shown:
                datasets.enable_progress_bars()

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write rows."""
        for text_hash in batch.column("text_sha256").to_pylist():
            self._fingerprint.update(text_hash.encode("ascii"))
        with writing_to(self._folder):
            self._stream.write_batch(batch)
