"""Hugging Face datasets as ``save_to_disk`` leaves them: Arrow streams in a folder, one folder a split.

The ``datasets`` package is not needed: its folders are Arrow files and two small JSON files.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, InputMissingError, OutputError
from sciextract.formats.arrow_rows import ARROW_ERRORS, SCHEMA, RowBuffer
from sciextract.formats.base import BadRecord, ReadItem, Source, leads_outside, shown
from sciextract.formats.foreign_rows import class_features, documents_of
from sciextract.formats.sink import new_folder

_DICT, _INFO, _STATE = "dataset_dict.json", "dataset_info.json", "state.json"
_DATA = "data-00000-of-00001.arrow"


def read_datasets_folder(source: Source) -> Iterator[ReadItem]:
    """Read a dataset, or every split of a dataset dictionary (the split becomes the field ``split``).

    Raises:
        FormatError: The folder holds no dataset, or the only one in it cannot be read.
        InputMissingError: It does not exist.
    """
    folder = Path(source.path)
    if not folder.is_dir():
        if folder.exists():
            raise FormatError("this is a file, allowed is a folder", path=source.path)
        raise InputMissingError(f"{source.path}: no such folder")
    parts = [
        (part, split)
        for dataset in _datasets(folder)
        for part, split in _splits(dataset)
        if not leads_outside(part, folder)
    ]
    if not parts:
        problem = f"no dataset found, allowed is a folder with {_INFO} or {_DICT}"
        raise FormatError(problem, path=source.path, hint="dataset.save_to_disk(FOLDER) makes one")
    for part, split in parts:
        try:
            yield from _read_part(part, split, source)
        except FormatError as error:
            if len(parts) == 1:
                raise
            yield BadRecord(error)


def _datasets(folder: Path) -> list[Path]:
    """The folder itself, or the datasets in it."""
    if any((folder / name).is_file() for name in (_DICT, _INFO)):
        return [folder]
    found = {path.parent for name in (_DICT, _INFO) for path in folder.rglob(name)}
    return sorted(path for path in found if not found & {*path.parents})


def _splits(folder: Path) -> list[tuple[Path, str]]:
    if not (folder / _DICT).is_file():
        return [(folder, "")]
    names = _json(folder / _DICT).get("splits")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        problem = f"{shown(names)} found, allowed is a list of names"
        raise FormatError(f"splits: {problem}", path=folder / _DICT)
    return [(folder / Path(name).name, name) for name in names]


def _read_part(folder: Path, split: str, source: Source) -> Iterator[ReadItem]:
    info = _json(folder / _INFO) if (folder / _INFO).is_file() else {}
    features = info.get("features")
    number = 1
    # Links out of the folder are named by who walks through it.
    for file in (each for each in _data_files(folder) if not leads_outside(each, source.path)):
        part = Source(str(file), origin=f"{Path(source.path).name}/{split}".rstrip("/"))
        for item in _documents(file, part, features if isinstance(features, dict) else {}, number):
            number += 1
            yield _with_split(item, split)


def _data_files(folder: Path) -> list[Path]:
    state = _json(folder / _STATE) if (folder / _STATE).is_file() else {}
    if state.get("_indices_data_files"):
        hint = "dataset.flatten_indices().save_to_disk(FOLDER) writes the selected rows only"
        problem = "the dataset is a selection of rows, which is not read"
        raise FormatError(problem, path=folder / _STATE, hint=hint)
    listed = state.get("_data_files")
    if not isinstance(listed, list):
        return sorted(folder.glob("*.arrow"))
    names = [each.get("filename") if isinstance(each, dict) else None for each in listed]
    return [folder / Path(str(name)).name for name in names]


def _documents(
    file: Path, source: Source, features: Mapping[str, Any], first: int
) -> Iterator[ReadItem]:
    try:
        with pa.memory_map(str(file)) as stream, pa.ipc.open_stream(stream) as reader:
            known = features or class_features(reader.schema)
            batches = map(_validated, reader)
            yield from documents_of(batches, reader.schema, source, known, first=first)
    except ARROW_ERRORS as error:
        raise FormatError(f"the Arrow data cannot be read: {error}", path=file) from error


def _validated(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch, known to be sound: damaged offsets would otherwise be read as they are."""
    batch.validate(full=True)
    return batch


def _with_split(item: ReadItem, split: str) -> ReadItem:
    if isinstance(item, BadRecord) or not split:
        return item
    fields = {**item.document.fields, "split": split}
    return replace(item, document=replace(item.document, fields=fields))


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", path=path) from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"broken JSON: {error}", path=path) from None
    if not isinstance(value, dict):
        raise FormatError(f"{shown(value)} found, allowed is a JSON object", path=path)
    return value


class DatasetsFolderWriter:
    """Writes a folder that ``datasets.load_from_disk`` reads, rejected items included.

    Attributes:
        losses: Lone surrogates, which become U+FFFD; everything else fits.
    """

    def __init__(self, destination: Path | str) -> None:
        """Write into a folder that is new or empty.

        Raises:
            OutputError: It holds files, or cannot be made.
        """
        self._folder = new_folder(destination)
        self._rows = RowBuffer(self._append)
        self._fingerprint = hashlib.blake2b(digest_size=8)
        try:
            self._file = pa.OSFile(str(self._folder / _DATA), "wb")
        except OSError as error:
            raise self._failed(error) from error
        self._stream = pa.ipc.new_stream(self._file, SCHEMA)

    @property
    def losses(self) -> Counter[str]:
        """What could not be held so far."""
        return self._rows.losses

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document.

        Raises:
            OutputError: The disk is full, or the file cannot be written.
        """
        self._fingerprint.update(self._rows.add(document).encode("ascii"))

    def close(self) -> None:
        """Write what is left, and the two files that describe the data.

        Raises:
            OutputError: The disk is full, or a file cannot be written.
        """
        self._rows.flush()
        try:
            self._stream.close()
            self._file.close()
            self._write_json(_INFO, {"citation": "", "description": "", "features": None})
            self._write_json(_STATE, self._state())
        except ARROW_ERRORS as error:
            raise self._failed(error) from error

    def _state(self) -> dict[str, Any]:
        return {
            "_data_files": [{"filename": _DATA}],
            "_fingerprint": self._fingerprint.hexdigest(),
            "_format_columns": None,
            "_format_kwargs": {},
            "_format_type": None,
            "_output_all_columns": False,
            "_split": None,
        }

    def _write_json(self, name: str, value: dict[str, Any]) -> None:
        (self._folder / name).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")

    def _append(self, batch: pa.RecordBatch) -> None:
        try:
            self._stream.write_batch(batch)
        except ARROW_ERRORS as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> OutputError:
        return OutputError(f"{self._folder}: cannot be written: {error}", "choose another --output")
