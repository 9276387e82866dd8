"""Builds the wheel of a model: ``python tools/model_wheel.py PROJECT MODEL OUTPUT``.

PROJECT is a folder such as ``models/sci-base``, MODEL a model folder, which becomes ``model`` in the project's only package, OUTPUT the
folder that gets the wheel. The model is verified first, and a wheel that is too large for a package index is an error.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from sciextract.errors import SciextractError
from sciextract.inference.model_folder import listed_files, open_folder

MOST_BYTES = 95_000_000
"""A package index takes files of up to 100 MB unless it is asked for more."""


def put_model(project: Path, model: Path) -> None:
    """Copies a verified model folder into the project's package."""
    open_folder(model)
    [package] = [file.parent for file in project.glob("*/__init__.py")]
    shutil.rmtree(package / "model", ignore_errors=True)
    (package / "model").mkdir()
    for name in listed_files(model):
        shutil.copyfile(model / name, package / "model" / name)


def build(project: Path, output: Path) -> Path:
    """The wheel of a project, in the output folder."""
    with tempfile.TemporaryDirectory() as temporary:
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", temporary]
        subprocess.run(command, cwd=project, check=True, stdout=subprocess.DEVNULL)
        [wheel] = Path(temporary).glob("*.whl")
        if (size := wheel.stat().st_size) > MOST_BYTES:
            sys.exit(f"{wheel.name} has {size:,} bytes; at most {MOST_BYTES:,} can be published")
        output.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(wheel, output / wheel.name))


def main() -> None:
    """Puts the model into the package and builds."""
    if len(sys.argv) != 4:
        sys.exit("usage: python tools/model_wheel.py PROJECT MODEL OUTPUT")
    project, model, output = map(Path, sys.argv[1:])
    try:
        put_model(project, model)
    except SciextractError as error:
        sys.exit(f"{error.message}\n  {error.hint}")
    wheel = build(project, output)
    print(f"{wheel} ({wheel.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
