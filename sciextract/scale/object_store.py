"""A folder of parts in an object store, named by a URL.

Objects are put there whole or not at all, so that a part needs no temporary name; but nothing can be added to them.
What grows line by line (the journal, the quarantine) therefore grows in a mirror on this machine, and goes up as a
whole from time to time: a killed run loses what it did since, and does it again, to the same bytes. There is no lock:
two runs into one folder do everything twice, and write the same.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sciextract.errors import OutputError, SciextractError, UsageError
from sciextract.formats.inputs import JOURNAL, MANIFEST, QUARANTINE
from sciextract.formats.urls import file_system, is_url
from sciextract.scale.interface import ChunkResult
from sciextract.scale.manifest import PartsManifest, encoder
from sciextract.scale.parts_folder import PartsFolder

UPLOAD_SECONDS = 10.0
"""Most of a run that a machine failure loses: the journal is uploaded that often."""


class ObjectStoreFolder:
    """A folder in an object store.

    Args:
        url: Where.

    Raises:
        SciextractError: Its file system cannot be had.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._system, self._path = file_system(self.url)

    def sizes(self) -> dict[str, int]:
        """Bytes of its files, by name; nothing where it is not there yet.

        Raises:
            OutputError: It cannot be listed.
        """
        with self._errors():
            if not self._system.exists(self._path):
                return {}
            self._system.invalidate_cache(self._path)
            listed: list[Mapping[str, Any]] = self._system.ls(self._path, detail=True)
        return {
            str(each["name"]).rstrip("/").rpartition("/")[2]: int(each["size"] or 0)
            for each in listed
            if each["type"] == "file"
        }

    def get(self, name: str) -> bytes:
        """What a file holds.

        Raises:
            OutputError: It cannot be read.
        """
        with self._errors(), self._system.open(f"{self._path}/{name}", "rb") as stream:
            return bytes(stream.read())

    def put(self, name: str, data: bytes) -> None:
        """Put a file there; it is there when all of it is.

        Raises:
            OutputError: It cannot be written.
        """
        with self._errors():
            self._system.makedirs(self._path, exist_ok=True)
            with self._system.open(f"{self._path}/{name}", "wb") as stream:
                stream.write(data)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError, NotImplementedError) as error:
            problem = f"{self.url}: {str(error) or repr(error)}"
            hint = "check its permissions, then repeat the command to resume"
            raise OutputError(problem, hint) from error


class ObjectStoreParts(PartsFolder):
    """An open folder of parts in an object store; made by :func:`open_object_store`.

    Args:
        store: The folder.
        mirror: A folder of this machine: the journal, and for every part an empty file of its size.
        manifest: Of this run.
        earlier: Of the run that it continues with, if there was one.
    """

    HAS_PLACEHOLDERS = True

    def __init__(
        self,
        store: ObjectStoreFolder,
        mirror: Path,
        manifest: PartsManifest,
        earlier: PartsManifest | None,
    ) -> None:
        super().__init__(mirror, manifest, earlier)
        self.place = store.url
        self._store = store
        self._sent = time.monotonic()

    def put(self, result: ChunkResult) -> None:
        """Keep a result: see :meth:`PartsFolder.put`."""
        super().put(result)
        if time.monotonic() - self._sent > UPLOAD_SECONDS:
            self.upload_logs()

    def finish(self) -> None:
        """Mark the manifest complete."""
        super().finish()
        self.upload_logs()
        self._store.put(MANIFEST, (self.path / MANIFEST).read_bytes())

    def upload_logs(self) -> None:
        """Upload the journal and the quarantine.

        Raises:
            OutputError: It cannot be written.
        """
        for name in (QUARANTINE, JOURNAL):
            if (self.path / name).exists():
                self._store.put(name, (self.path / name).read_bytes())
        self._sent = time.monotonic()

    def _write_part(self, name: str, data: bytes) -> None:
        self._store.put(name, data)
        _placeholder(self.path / name, len(data))


@contextmanager
def open_object_store(
    url: str, manifest: PartsManifest, inputs: Sequence[str]
) -> Iterator[ObjectStoreParts]:
    """Open a folder of parts in an object store; see :func:`~.parts.open_parts`.

    Raises:
        UsageError: The folder would be read as input, or parts have no such format.
        ModelMismatchError: The folder holds results of another model.
        OutputError: It holds something else, or cannot be read or written.
        SciextractError: The file system of the URL cannot be had.
    """
    encoder(manifest.export)
    store = ObjectStoreFolder(url)
    _check_apart(store.url, inputs)
    with TemporaryDirectory(prefix="sciextract-parts-") as folder:
        mirror = Path(folder)
        earlier = _mirrored(store, mirror)
        if earlier is None:
            manifest.write(mirror)
            store.put(MANIFEST, (mirror / MANIFEST).read_bytes())
        else:
            manifest.check(earlier, store.url)
        parts = ObjectStoreParts(store, mirror, manifest, earlier)
        try:
            yield parts
        except BaseException:
            with contextlib.suppress(SciextractError):
                parts.upload_logs()
            raise


def _mirrored(store: ObjectStoreFolder, mirror: Path) -> PartsManifest | None:
    """Download everything but the parts, and make placeholders for them; the manifest, if there is one."""
    sizes = store.sizes()
    if sizes and MANIFEST not in sizes:
        raise OutputError(
            f"{store.url} has files in it and is not a folder of parts: {min(sizes)}",
            "choose a new or an empty folder",
        )
    for name, size in sizes.items():
        if name in (MANIFEST, JOURNAL, QUARANTINE):
            (mirror / name).write_bytes(store.get(name))
        else:
            _placeholder(mirror / Path(name).name, size)
    return PartsManifest.read(mirror)


def _placeholder(path: Path, size: int) -> None:
    """A sparse file of a size."""
    with open(path, "wb") as stream:
        os.truncate(stream.fileno(), size)


def _check_apart(url: str, inputs: Sequence[str]) -> None:
    for each in inputs:
        if is_url(each) and f"{url}/".startswith(f"{each.rstrip('/')}/"):
            raise UsageError(
                f"the parts in {url} would be read as part of the input {each}",
                "choose a folder outside of the input",
            )
