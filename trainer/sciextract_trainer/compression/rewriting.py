"""A new model folder from another one: some files changed, the others copied, the manifest written last."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from sciextract.errors import OutputError
from sciextract.inference.folder import (
    CARD,
    CONFIG,
    MANIFEST,
    ModelFolder,
    listed_files,
    write_manifest,
)
from sciextract.inference.model_config import ModelConfig
from sciextract_trainer.card import model_card
from sciextract_trainer.full_disk import explained


def require_new(output: Path) -> None:
    """Refuses to write over something.

    Raises:
        OutputError: There is something already.
    """
    if output.is_file() or (output.is_dir() and any(output.iterdir())):
        raise OutputError(
            f"{output} exists already, and nothing is written over it",
            "give another --output, or remove it first",
        )


@contextmanager
def new_folder(output: Path) -> Iterator[Path]:
    """A folder to write into, which takes its place when the block is done; nothing is left of a failed one.

    Raises:
        OutputError: There is something already, or the disk is full.
    """
    require_new(output)
    with explained(output):
        output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=output.parent, prefix=".new-") as temporary:
            work = Path(temporary) / output.name
            work.mkdir()
            yield work
            if output.is_dir():
                output.rmdir()  # it is empty
            work.rename(output)


def write_like(
    folder: ModelFolder, work: Path, config: ModelConfig, without: Collection[str]
) -> None:
    """Fills a new folder with the files of another one, a new configuration and card, and the manifest.

    Args:
        folder: The other one.
        work: The new one; what lies there already stays.
        config: What the new one says of itself.
        without: Files that are not taken over.
    """
    left = {CONFIG, CARD, MANIFEST, *without}
    for name in listed_files(folder.path):
        if name not in left and not (work / name).exists():
            shutil.copyfile(folder.path / name, work / name)
    text = json.dumps(config.to_json(), indent=2) + "\n"
    (work / CONFIG).write_text(text, encoding="utf-8")
    (work / CARD).write_text(model_card(config), encoding="utf-8")
    write_manifest(work)
