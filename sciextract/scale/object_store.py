"""A folder of parts behind a URL, in an object store.

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
from sciextract.scale.manifest import Manifest, encoder
from sciextract.scale.parts_folder import PartsFolder

SENT_SECONDS = 10.0
"""Most of a run that its journal does not know of when the machine dies."""


class FarFolder:
    """A folder behind a URL.

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
            hint = "see that it may be read and written; the same command goes on"
            raise OutputError(problem, hint) from error


class PartsBehindUrl(PartsFolder):
    """An open folder of parts behind a URL; made by :func:`open_behind_url`.

    Args:
        far: The folder.
        mirror: A folder of this machine: the journal, and for every part an empty file of its size.
        manifest: Of this run.
        earlier: Of the run that it goes on with, if there was one.
    """

    STAND_INS = True

    def __init__(
        self, far: FarFolder, mirror: Path, manifest: Manifest, earlier: Manifest | None
    ) -> None:
        super().__init__(mirror, manifest, earlier)
        self.place = far.url
        self._far = far
        self._sent = time.monotonic()

    def put(self, result: ChunkResult) -> None:
        """Keep a result: see :meth:`PartsFolder.put`."""
        super().put(result)
        if time.monotonic() - self._sent > SENT_SECONDS:
            self.send_lines()

    def finish(self) -> None:
        """Say in the manifest that all is done."""
        super().finish()
        self.send_lines()
        self._far.put(MANIFEST, (self.path / MANIFEST).read_bytes())

    def send_lines(self) -> None:
        """Put up what has grown.

        Raises:
            OutputError: It cannot be written.
        """
        for name in (QUARANTINE, JOURNAL):
            if (self.path / name).exists():
                self._far.put(name, (self.path / name).read_bytes())
        self._sent = time.monotonic()

    def _write_part(self, name: str, data: bytes) -> None:
        self._far.put(name, data)
        _stand_in(self.path / name, len(data))


@contextmanager
def open_behind_url(
    url: str, manifest: Manifest, inputs: Sequence[str]
) -> Iterator[PartsBehindUrl]:
    """A folder of parts behind a URL, made or gone on with; see :func:`~.parts.open_parts`.

    Raises:
        UsageError: The folder would be read as input, or parts have no such format.
        ModelMismatchError: The folder holds results of another model.
        OutputError: It holds something else, or cannot be read or written.
        SciextractError: The file system of the URL cannot be had.
    """
    encoder(manifest.export)
    far = FarFolder(url)
    _check_apart(far.url, inputs)
    with TemporaryDirectory(prefix="sciextract-parts-") as folder:
        mirror = Path(folder)
        earlier = _mirrored(far, mirror)
        if earlier is None:
            manifest.write(mirror)
            far.put(MANIFEST, (mirror / MANIFEST).read_bytes())
        else:
            manifest.check(earlier, far.url)
        parts = PartsBehindUrl(far, mirror, manifest, earlier)
        try:
            yield parts
        except BaseException:
            with contextlib.suppress(SciextractError):
                parts.send_lines()
            raise


def _mirrored(far: FarFolder, mirror: Path) -> Manifest | None:
    """Fetches what is about the parts, and makes stand-ins for them; the manifest, if there is one."""
    sizes = far.sizes()
    if sizes and MANIFEST not in sizes:
        raise OutputError(
            f"{far.url} has files in it and is no folder of parts: {min(sizes)}",
            "choose a new or an empty folder",
        )
    for name, size in sizes.items():
        if name in (MANIFEST, JOURNAL, QUARANTINE):
            (mirror / name).write_bytes(far.get(name))
        else:
            _stand_in(mirror / Path(name).name, size)
    return Manifest.read(mirror)


def _stand_in(path: Path, size: int) -> None:
    """A file of a size that takes no room on the disk."""
    with open(path, "wb") as stream:
        os.truncate(stream.fileno(), size)


def _check_apart(url: str, inputs: Sequence[str]) -> None:
    for each in inputs:
        if is_url(each) and f"{url}/".startswith(f"{each.rstrip('/')}/"):
            raise UsageError(
                f"the parts in {url} would be read as part of the input {each}",
                "choose a folder outside of the input",
            )
