"""A folder of parts behind a URL; fsspec puts its files there.

Objects are put there whole or not at all, so that a part needs no temporary name; but nothing can be added to them.
What grows line by line (the journal, the quarantine) therefore grows in a mirror on this machine, and goes up as a
whole from time to time: a killed run loses what it did since, and does it again, to the same bytes. There is no lock:
two runs into one folder do everything twice, and write the same.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from sciextract.errors import OutputError, SciextractError
from sciextract.formats.inputs import JOURNAL, MANIFEST, QUARANTINE
from sciextract.formats.urls import file_system, is_url
from sciextract.scale.interface import ChunkResult
from sciextract.scale.manifest import PartsManifest, encoder
from sciextract.scale.parts import Entry, PartsFolder, read_as_input, start_manifest

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
            self._sizes = {PurePosixPath(each["name"]).name: each["size"] for each in found}
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
        """Mark the manifest complete."""
        super().finish()
        self.upload(QUARANTINE, JOURNAL, MANIFEST)

    def is_complete(self, entry: Entry) -> bool:
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
                    data = (self.path / name).read_bytes()
                    self._system.pipe_file(f"{self._root}/{name}", data)


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
    for each in inputs:
        if is_url(each) and f"{url}/".startswith(f"{each.rstrip('/')}/"):
            raise read_as_input(url, each)
    with TemporaryDirectory(prefix="sciextract-parts-") as mirror:
        parts = StoredParts(url, Path(mirror), manifest)
        try:
            yield parts
        except BaseException:
            with contextlib.suppress(SciextractError):
                parts.upload(QUARANTINE, JOURNAL)
            raise
