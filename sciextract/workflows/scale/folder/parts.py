"""A folder of parts: opened, filled chunk by chunk, finished; another run goes on where one was killed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from sciextract.errors import OutputError, UsageError
from sciextract.formats.base import STDIN
from sciextract.formats.parts_folder import QUARANTINE
from sciextract.workflows.scale import quarantine
from sciextract.workflows.scale.durable import disk_errors, remove_litter, write_whole
from sciextract.workflows.scale.folder.encoding import encoder
from sciextract.workflows.scale.folder.journal import Entry, Journal
from sciextract.workflows.scale.folder.lock import LOCK, locked
from sciextract.workflows.scale.folder.manifest import Manifest
from sciextract.workflows.scale.seam import ChunkKey, ChunkResult, Counts, Shard


class PartsFolder:
    """An open folder of parts; made by :func:`open_parts`.

    Args:
        path: The folder.
        manifest: Of this run.
        earlier: Of the run that it goes on with, if there was one.

    Attributes:
        path: The folder.
        place: Its name in messages.
        losses: What the format could not hold so far, by kind.
        counts: What the folder holds so far.
        before: What it held when it was opened.
    """

    #: Whether other files stand in the folder for the parts, which are elsewhere.
    STAND_INS: ClassVar[bool] = False

    def __init__(self, path: Path, manifest: Manifest, earlier: Manifest | None) -> None:
        self.path = path
        self.place = str(path)
        self._manifest = manifest
        self._encode = encoder(manifest.export)
        self._journal = Journal(path, stand_ins=self.STAND_INS)
        self._entries = {entry.key: entry for entry in self._journal.entries()}
        self.losses: Counter[str] = Counter()
        for entry in self._entries.values():
            self.losses.update(entry.losses)
        self.before = self.counts = sum(
            (entry.counts for entry in self._entries.values()), Counts()
        )
        self._changed = manifest.changed_shards(earlier) if earlier else set()
        quarantine.keep_only(path / QUARANTINE, self._entries)

    def done(self) -> dict[ChunkKey, str]:
        """Fingerprints of the chunks that are done."""
        return {key: entry.fingerprint for key, entry in self._entries.items()}

    def to_read(self, shards: Sequence[Shard]) -> tuple[Shard, ...]:
        """The shards that are not done, or whose files look changed."""
        done = self._whole_shards()
        return tuple(shard for shard in shards if shard.number not in done or STDIN in shard.paths)

    def put(self, result: ChunkResult) -> None:
        """Keep a result: first its part, then what it lacks, then its line in the journal.

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
                quarantine.add(self.path / QUARANTINE, problem, result.key)
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
def open_parts(path: Path, manifest: Manifest, inputs: Sequence[str]) -> Iterator[PartsFolder]:
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
        earlier = Manifest.read(path)
        if earlier is None:
            _check_empty(path)
            manifest.write(path)
        else:
            manifest.check(earlier, path)
        remove_litter(path)
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
            f"{path} has files in it and is no folder of parts: {min(strange)}",
            "choose a new or an empty folder",
        )
