"""A folder of parts: opened, filled chunk by chunk, finished; another run continues where one was killed."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from sciextract.atomic import remove_leftovers
from sciextract.errors import OutputError, UsageError
from sciextract.formats.base import STDIN
from sciextract.formats.inputs import JOURNAL, QUARANTINE
from sciextract.scale import durable
from sciextract.scale.durable import append_whole, disk_errors, write_whole
from sciextract.scale.interface import ChunkKey, ChunkResult, InputShard
from sciextract.scale.manifest import PartsManifest, encoder
from sciextract.workflows.annotate import RunCounts


@dataclass(frozen=True, slots=True)
class Entry:
    """A chunk that is done.

    Attributes:
        shard: Number of the shard.
        number: Number of the chunk in it.
        part: Name of its file; empty when it has no documents.
        size: Bytes of the file.
        sha256: Hex hash of the file.
        fingerprint: Of the records that it was made from.
        last: Whether the shard ends here.
        counts: What the file holds.
        losses: What its format could not hold, by kind.
    """

    shard: int
    number: int
    part: str
    size: int
    sha256: str
    fingerprint: str
    last: bool
    counts: RunCounts
    losses: Mapping[str, int]

    @property
    def key(self) -> ChunkKey:
        """Shard and number."""
        return self.shard, self.number

    def line(self) -> bytes:
        """As it stands in the journal."""
        return f"{json.dumps(asdict(self), ensure_ascii=False)}\n".encode()

    @classmethod
    def parse(cls, line: bytes) -> Entry:
        """Of a line of the journal.

        Raises:
            ValueError: It is none.
        """
        try:
            values: dict[str, Any] = json.loads(line)
            return cls(**{**values, "counts": RunCounts(**values["counts"])})
        except (TypeError, KeyError) as error:
            raise ValueError(str(error)) from None


class Journal:
    """The journal of a folder.

    Args:
        folder: The folder.
        placeholders: Whether it holds empty files of the same sizes in place of the parts.
    """

    def __init__(self, folder: Path, *, placeholders: bool = False) -> None:
        self._folder = folder
        self._placeholders = placeholders
        self._path = folder / JOURNAL

    def entries(self) -> list[Entry]:
        """All whole entries whose parts are there as they were written; a torn line at the end is cut off.

        Raises:
            OutputError: A line before the end is damaged.
        """
        if not self._path.exists():
            return []
        present = [entry for entry in self._parsed() if self._is_complete(entry)]
        return list({entry.key: entry for entry in present}.values())

    def add(self, entry: Entry) -> None:
        """A chunk is done and its part in place.

        Raises:
            OutputError: The disk is full.
        """
        append_whole(self._path, entry.line())

    def _parsed(self) -> Iterator[Entry]:
        content = self._path.read_bytes()
        whole, _, torn = content.rpartition(b"\n")
        if torn:
            with disk_errors(self._path):
                os.truncate(self._path, len(content) - len(torn))
        for row, line in enumerate(whole.split(b"\n") if whole else [], start=1):
            try:
                yield Entry.parse(line)
            except ValueError:
                raise OutputError(
                    f"{self._path}:{row}: the journal is damaged",
                    "restore it, or choose another folder",
                ) from None

    def _is_complete(self, entry: Entry) -> bool:
        if not entry.part:
            return True
        path = self._folder / entry.part
        if not path.is_file() or path.stat().st_size != entry.size:
            return False
        if self._placeholders:
            return True
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == entry.sha256


LOCK = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keeps other runs out; the system lifts the lock when this process ends, however it does.

    Raises:
        OutputError: Another run writes there, or the folder cannot be written.
    """
    path = folder / LOCK
    with disk_errors(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _lock(descriptor, folder)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        raise OutputError(
            f"{folder}: another run writes here (process {owner or 'unknown'})",
            "wait for it, stop it, or choose another folder",
        ) from None
    except OSError as error:
        raise OutputError(f"{folder}: cannot be locked: {error.strerror}") from error
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)


class PartsFolder:
    """An open folder of parts; made by :func:`open_parts`.

    Args:
        path: The folder.
        manifest: Of this run.
        earlier: Of the run that it continues with, if there was one.

    Attributes:
        path: The folder.
        place: Its name in messages.
        losses: What the format could not hold so far, by kind.
        counts: What the folder holds so far.
        before: What it held when it was opened.
    """

    #: Whether the folder holds empty files of the same sizes in place of the parts, which are in an object store.
    HAS_PLACEHOLDERS: ClassVar[bool] = False

    def __init__(self, path: Path, manifest: PartsManifest, earlier: PartsManifest | None) -> None:
        self.path = path
        self.place = str(path)
        self._manifest = manifest
        self._encode = encoder(manifest.export)
        self._journal = Journal(path, placeholders=self.HAS_PLACEHOLDERS)
        self._entries = {entry.key: entry for entry in self._journal.entries()}
        self.losses: Counter[str] = Counter()
        for entry in self._entries.values():
            self.losses.update(entry.losses)
        self.before = self.counts = sum(
            (entry.counts for entry in self._entries.values()), RunCounts()
        )
        self._changed = manifest.changed_shards(earlier) if earlier else set()
        durable.keep_only(path / QUARANTINE, self._entries)

    def done(self) -> dict[ChunkKey, str]:
        """Fingerprints of the chunks that are done."""
        return {key: entry.fingerprint for key, entry in self._entries.items()}

    def to_read(self, shards: Sequence[InputShard]) -> tuple[InputShard, ...]:
        """The shards that are not done, or whose files look changed."""
        done = self._whole_shards()
        return tuple(shard for shard in shards if shard.number not in done or STDIN in shard.paths)

    def put(self, result: ChunkResult) -> None:
        """Keep a result: first its part, then quarantined records, then its line in the journal.

        Raises:
            OutputError: The disk is full; the folder is as it was before.
        """
        encoded = self._encode(result.data)
        name = ""
        if result.counts.documents:
            name = f"part-{result.shard:05}-{result.number:06}.{self._manifest.export}"
            self._write_part(name, encoded.data)
        for problem in result.problems:
            if problem.kind == "quarantined":
                durable.add(self.path / QUARANTINE, problem, result.key)
        entry = Entry(
            result.shard,
            result.number,
            name,
            len(encoded.data) if name else 0,
            hashlib.sha256(encoded.data).hexdigest() if name else "",
            result.fingerprint,
            result.last,
            result.counts,
            dict(encoded.losses),
        )
        self._journal.add(entry)
        self._entries[entry.key] = entry
        self.losses.update(entry.losses)
        self.counts += result.counts

    def finish(self) -> None:
        """Say in the manifest that all is done.

        Raises:
            OutputError: It cannot be written.
        """
        parts = sum(bool(entry.part) for entry in self._entries.values())
        totals = {
            "parts": parts,
            "documents": self.counts.documents,
            "bad": self.counts.bad,
            "quarantined": self.counts.quarantined,
        }
        self._manifest.done(totals).write(self.path)

    def _write_part(self, name: str, data: bytes) -> None:
        write_whole(self.path / name, data)

    def _whole_shards(self) -> set[int]:
        """Numbers of unchanged shards of which no chunk is missing."""
        sizes = Counter(entry.shard for entry in self._entries.values())
        ends = {entry.shard: entry.number for entry in self._entries.values() if entry.last}
        whole = {shard for shard, last in ends.items() if sizes[shard] == last + 1}
        return whole - self._changed


@contextmanager
def open_parts(path: Path, manifest: PartsManifest, inputs: Sequence[str]) -> Iterator[PartsFolder]:
    """A folder of parts, made or gone on with; no other run may write there meanwhile.

    Args:
        path: The folder; made if it is missing, as far as the folder around it is there.
        manifest: What this run makes.
        inputs: What it reads; the folder must lie outside.

    Raises:
        UsageError: The folder would be read as input, or parts have no such format.
        MissingExtraError: What writes the format is not installed.
        ModelMismatchError: The folder holds results of another model.
        OutputError: It holds something else, another run writes there, or it cannot be written.
    """
    encoder(manifest.export)
    _check_place(path, inputs)
    with disk_errors(path):
        path.mkdir(exist_ok=True)
    with locked(path):
        earlier = PartsManifest.read(path)
        if earlier is None:
            _check_empty(path)
            manifest.write(path)
        else:
            manifest.check(earlier, path)
        remove_leftovers(path)
        yield PartsFolder(path, manifest, earlier)


def _check_place(path: Path, inputs: Sequence[str]) -> None:
    if path.exists() and not path.is_dir():
        raise OutputError(f"{path} is a file", "--parts makes a folder; --output writes one file")
    if not path.parent.is_dir():
        raise OutputError(f"{path}: no such folder: {path.parent}", f"mkdir -p {path.parent}")
    for each in inputs:
        source = Path(each)
        if each != STDIN and source.is_dir() and path.resolve().is_relative_to(source.resolve()):
            raise UsageError(
                f"the parts in {path} would be read as part of the input {each}",
                "choose a folder outside of the input",
            )


def _check_empty(path: Path) -> None:
    strange = [each.name for each in path.iterdir() if each.name != LOCK]
    if any(not name.endswith(".partial") for name in strange):
        raise OutputError(
            f"{path} has files in it and is not a folder of parts: {min(strange)}",
            "choose a new or an empty folder",
        )
