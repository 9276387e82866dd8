"""A folder of parts: opened, filled chunk by chunk, finished; another run continues where one was killed. It lies on this machine or behind a URL.

Records that ended their process are kept aside in its ``quarantine.jsonl``, which ``annotate`` reads as input to try them again.

Behind a URL, objects are put in place whole or not at all, so that a part needs no temporary name; but nothing can be added
to them. What grows line by line (the journal, the quarantine) therefore grows in a mirror on this machine, and goes up as a
whole from time to time: a killed run loses what it did since, and does it again, to the same bytes. There is no lock: two
runs into one folder do everything twice, and write the same.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from sciextract import atomic
from sciextract.errors import OutputError, SciextractError, UsageError, as_command
from sciextract.formats.base import STDIN
from sciextract.formats.inputs import JOURNAL, MANIFEST, QUARANTINE
from sciextract.formats.json_values import dump_line
from sciextract.formats.opening import file_system, is_url
from sciextract.scale.interface import ChunkKey, ChunkResult, InputShard
from sciextract.scale.manifest import PartsManifest, disk_errors, encoder
from sciextract.workflows.annotate import RecordProblem, RunCounts

_FIELD = "quarantine"


def quarantine(path: Path, problem: RecordProblem, key: ChunkKey) -> None:
    """Keep a record aside with the reason: input that ``annotate`` reads, which keeps the reason next to its results.

    Raises:
        OutputError: The disk is full.
    """
    why = {"reason": problem.message, "chunk": list(key)}
    # A record that was kept aside before carries its old reason.
    record = {name: value for name, value in problem.record.items() if name != _FIELD}
    line = f"{dump_line({**record, _FIELD: why})}\n".encode()
    with disk_errors(path):
        atomic.append_line(path, line)


def read_quarantine(path: Path) -> list[tuple[bytes, dict[str, Any]]]:
    """The lines of records that are kept aside, with their reasons; a torn or foreign line is dropped."""
    entries = []
    for line in path.read_bytes().splitlines(keepends=True) if path.is_file() else ():
        try:
            why = json.loads(line)[_FIELD]
        except (ValueError, KeyError, TypeError):
            continue
        if isinstance(why, dict):
            entries.append((line, why))
    return entries


@dataclass(frozen=True, slots=True)
class JournalEntry:
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
        return self.shard, self.number


def read_journal(path: Path) -> Iterator[JournalEntry]:
    """The entries of a journal; a torn line at its end is cut off.

    Raises:
        OutputError: A line before the end is damaged.
    """
    content = path.read_bytes() if path.exists() else b""
    whole, _, torn = content.rpartition(b"\n")
    if torn:
        with disk_errors(path):
            os.truncate(path, len(content) - len(torn))
    for row, line in enumerate(whole.split(b"\n") if whole else [], start=1):
        try:
            values: dict[str, Any] = json.loads(line)
            yield JournalEntry(**{**values, "counts": RunCounts(**values["counts"])})
        except (ValueError, TypeError, KeyError):
            raise OutputError(
                f"{path}:{row}: the journal is damaged", "restore it, or choose another folder"
            ) from None


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

    Raises:
        OutputError: Its journal is damaged, or it cannot be written.
    """

    def __init__(self, path: Path, manifest: PartsManifest, earlier: PartsManifest | None) -> None:
        self.path = path
        self.place = str(path)
        self._manifest = manifest
        self._encode = encoder(manifest.export)
        journal = read_journal(path / JOURNAL)
        self._entries = {entry.key: entry for entry in journal if self.is_complete(entry)}
        self.losses: Counter[str] = Counter()
        for entry in self._entries.values():
            self.losses.update(entry.losses)
        self.before = self.counts = sum(
            (entry.counts for entry in self._entries.values()), RunCounts()
        )
        self._changed = manifest.changed_shards(earlier) if earlier else set()
        # Records of chunks that will be done again are quarantined again, should they crash again.
        aside = read_quarantine(path / QUARANTINE)
        kept = [line for line, why in aside if tuple(why.get("chunk", ())) in self._entries]
        if (path / QUARANTINE).exists():
            self.write(QUARANTINE, b"".join(kept))

    def done(self) -> dict[ChunkKey, str]:
        """Fingerprints of the chunks that are done."""
        return {key: entry.fingerprint for key, entry in self._entries.items()}

    def to_read(self, shards: Sequence[InputShard]) -> tuple[InputShard, ...]:
        """The shards that are not done, or whose files look changed."""
        sizes = Counter(entry.shard for entry in self._entries.values())
        ends = {entry.shard: entry.number for entry in self._entries.values() if entry.last}
        whole = {shard for shard, last in ends.items() if sizes[shard] == last + 1}
        done = whole - self._changed
        # Standard input looks the same whatever is in it, so that its chunks are always read and compared.
        return tuple(shard for shard in shards if shard.number not in done or STDIN in shard.paths)

    def put(self, result: ChunkResult) -> None:
        """Keep a result.

        Raises:
            OutputError: The disk is full; the folder is as it was before.
        """
        # This order: a run that is killed in between has no line in the journal, and does the chunk again.
        data, losses = self._encode(result.data)
        name = ""
        if result.counts.documents:
            name = f"part-{result.shard:05}-{result.number:06}.{self._manifest.export}"
            self.write(name, data)
        for problem in result.problems:
            if problem.kind == "quarantined":
                quarantine(self.path / QUARANTINE, problem, result.key)
        size, sha256 = (len(data), hashlib.sha256(data).hexdigest()) if name else (0, "")
        entry = JournalEntry(
            *result.key, name, size, sha256, result.fingerprint, result.last, result.counts,
            dict(losses),
        )  # fmt: skip
        with disk_errors(self.path / JOURNAL):
            line = f"{json.dumps(asdict(entry), ensure_ascii=False)}\n"
            atomic.append_line(self.path / JOURNAL, line.encode())
        self._entries[entry.key] = entry
        self.losses.update(entry.losses)
        self.counts += result.counts

    def finish(self) -> None:
        """Say in the manifest that all is done.

        Raises:
            OutputError: It cannot be written.
        """
        totals = {
            "parts": sum(bool(entry.part) for entry in self._entries.values()),
            "documents": self.counts.documents,
            "bad": self.counts.bad,
            "quarantined": self.counts.quarantined,
        }
        replace(self._manifest, complete=True, totals=totals).write(self.path)

    def is_complete(self, entry: JournalEntry) -> bool:
        """Whether the part of a chunk is there as it was written."""
        path = self.path / entry.part
        if not entry.part or not path.is_file() or path.stat().st_size != entry.size:
            return not entry.part
        return atomic.sha256_of(path) == entry.sha256

    def write(self, name: str, data: bytes) -> None:
        """Put a file in place, on the disk to stay.

        Raises:
            OutputError: The disk is full, or the folder cannot be written; the place is as it was.
        """
        path = self.path / name
        with disk_errors(path):
            atomic.write(path, data, alone=True, durable=True)


LOCK = ".lock"


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Keeps other runs out; the system lifts the lock when this process ends, however it does.

    Raises:
        OutputError: Another run writes there, or the folder cannot be written.
    """
    with disk_errors(folder / LOCK):
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
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
        yield
    finally:
        os.close(descriptor)


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
    if path.exists() and not path.is_dir():
        raise OutputError(f"{path} is a file", "--parts makes a folder; --output writes one file")
    if not path.parent.is_dir():
        raise OutputError(
            f"{path}: no such folder: {path.parent}", as_command("mkdir", "-p", path.parent)
        )
    for source in inputs:
        folder = Path(source)
        if source != STDIN and folder.is_dir() and path.resolve().is_relative_to(folder.resolve()):
            raise read_as_input(path, source)
    with disk_errors(path):
        path.mkdir(exist_ok=True)
    with lock_folder(path):
        # What a killed run was about to write is no foreign file.
        names = [file.name for file in path.iterdir() if not file.name.endswith(".partial")]
        earlier = start_manifest(manifest, path, set(names) - {LOCK}, path)
        atomic.remove_leftovers(path)
        yield PartsFolder(path, manifest, earlier)


def read_as_input(place: object, source: str) -> UsageError:
    """The error of a folder of parts that lies in an input."""
    return UsageError(
        f"the parts in {place} would be read as part of the input {source}",
        "choose a folder outside of the input",
    )


def start_manifest(
    manifest: PartsManifest, folder: Path, names: Collection[str], place: object
) -> PartsManifest | None:
    """The manifest that lies in a folder, which must be of the same run; an empty folder gets this run's.

    Args:
        manifest: Of this run.
        folder: Where it lies.
        names: Of the files there.
        place: The folder, for messages.

    Raises:
        ModelMismatchError: The folder holds results of another model.
        OutputError: It holds something else, or cannot be written.
    """
    earlier = PartsManifest.read(folder)
    if earlier is not None:
        manifest.check(earlier, place)
    elif names:
        raise OutputError(
            f"{place} has files in it and is not a folder of parts: {min(names)}",
            "choose a new or an empty folder",
        )
    else:
        manifest.write(folder)
    return earlier


UPLOAD_SECONDS = 10.0
"""Most of a run that a machine failure loses: the journal is uploaded that often."""


class StoredParts(PartsFolder):
    """An open folder of parts in an object store; made by :func:`open_object_store`.

    Args:
        url: The folder.
        mirror: An empty folder of this machine, for what grows line by line.
        manifest: Of this run.

    Raises:
        ModelMismatchError: The folder holds results of another model.
        OutputError: It holds something else, or cannot be read or written.
        SciextractError: The file system of the URL cannot be had.
    """

    def __init__(self, url: str, mirror: Path, manifest: PartsManifest) -> None:
        self._system, self._root = file_system(url)
        with _store_errors(url):
            # fsspec keeps listings for as long as the process lives; another run may have written since.
            self._system.invalidate_cache(self._root)
            found = self._system.find(self._root, maxdepth=1, detail=True).values()
            self._sizes = {PurePosixPath(file["name"]).name: file["size"] for file in found}
            for name in {MANIFEST, JOURNAL, QUARANTINE} & self._sizes.keys():
                (mirror / name).write_bytes(self._system.cat_file(f"{self._root}/{name}"))
            self._system.makedirs(self._root, exist_ok=True)
        earlier = start_manifest(manifest, mirror, self._sizes, url)
        super().__init__(mirror, manifest, earlier)
        self.place = url
        if earlier is None:
            self.upload(MANIFEST)
        self._uploaded = time.monotonic()

    def put(self, result: ChunkResult) -> None:
        """Keep a result: see :meth:`PartsFolder.put`."""
        super().put(result)
        if time.monotonic() - self._uploaded > UPLOAD_SECONDS:
            self.upload(QUARANTINE, JOURNAL)
            self._uploaded = time.monotonic()

    def finish(self) -> None:
        super().finish()
        self.upload(QUARANTINE, JOURNAL, MANIFEST)

    def is_complete(self, entry: JournalEntry) -> bool:
        """Whether the part of a chunk is there; its size must do, for its hash would need all of it."""
        return not entry.part or self._sizes.get(entry.part) == entry.size

    def write(self, name: str, data: bytes) -> None:
        """Put a file in place: parts into the store, the rest into the mirror.

        Raises:
            OutputError: It cannot be written.
        """
        if name == QUARANTINE:
            super().write(name, data)
        else:
            with _store_errors(self.place):
                self._system.pipe_file(f"{self._root}/{name}", data)

    def upload(self, *names: str) -> None:
        """Copy files of the mirror into the store, those that are there.

        Raises:
            OutputError: One cannot be written.
        """
        for name in names:
            if (self.path / name).exists():
                with _store_errors(self.place):
                    self._system.pipe_file(f"{self._root}/{name}", (self.path / name).read_bytes())


@contextmanager
def _store_errors(url: str) -> Iterator[None]:
    """Turns what file systems raise into an :class:`OutputError` that names the URL."""
    try:
        yield
    except (OSError, ValueError, NotImplementedError) as error:
        problem = f"{url}: {str(error) or repr(error)}"
        hint = "check its permissions, then repeat the command to resume"
        raise OutputError(problem, hint) from error


@contextmanager
def open_object_store(
    url: str, manifest: PartsManifest, inputs: Sequence[str]
) -> Iterator[StoredParts]:
    """Open a folder of parts in an object store; see :func:`~.parts.open_parts`.

    Raises:
        UsageError: The folder would be read as input, or parts have no such format.
        SciextractError: See :class:`StoredParts`.
    """
    encoder(manifest.export)
    url = url.rstrip("/")
    for source in inputs:
        if is_url(source) and f"{url}/".startswith(f"{source.rstrip('/')}/"):
            raise read_as_input(url, source)
    with TemporaryDirectory(prefix="sciextract-parts-") as mirror:
        parts = StoredParts(url, Path(mirror), manifest)
        try:
            yield parts
        except BaseException:
            with contextlib.suppress(SciextractError):
                parts.upload(QUARANTINE, JOURNAL)
            raise
