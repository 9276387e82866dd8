"""How a correction round begins: the model to start from, and a snapshot of the project."""

from __future__ import annotations

import platform
import sys
import time
from pathlib import Path
from typing import Any

from sciextract import __version__
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import parse_schema, schema_to_mapping
from sciextract.errors import ModelMismatchError
from sciextract.inference.cores import usable_cores
from sciextract.inference.folder import MANIFEST, ModelFolder, open_folder
from sciextract.store import open_project
from sciextract.workflows.correction.narrator import Narrator
from sciextract.workflows.correction.order import Order
from sciextract.workflows.models import current, find_model
from sciextract.workflows.runs import SNAPSHOT, Run
from sciextract.workflows.snapshot import Manifest, Snapshot, build_snapshot, read_snapshot


def start_model(run: Run, order: Order) -> ModelFolder:
    """The model to start from: the one of the run's beginning, whatever is in use now.

    Raises:
        ModelNotFoundError: There is no such model.
        ModelMismatchError: Another model lies where the run began with one.
    """
    stored = run.run().get("start_model")
    if stored is not None:
        return same_model(run, Path(stored["folder"]))
    with open_project(order.path, read=True) as project:
        known = current(project) if order.model is None else find_model(order.model)
    folder = known.open()
    stored = {"id": known.id, "hash": folder.hash, "folder": str(folder.path)}
    run.write_run(start_model=stored, command=sys.argv[1:], started=now(), **circumstances())
    return folder


def same_model(run: Run, path: Path) -> ModelFolder:
    """The model in a folder, if it is the one that the run began with.

    Raises:
        ModelMismatchError: It is another one.
    """
    folder = open_folder(path)
    if folder.hash != run.run()["start_model"]["hash"]:
        raise ModelMismatchError(
            f"{path} is another model now than the one that {run.name} began with",
            "begin a new run: sciextract retrain --project DB",
        )
    return folder


def circumstances() -> dict[str, Any]:
    """The machine and the program of a run."""
    return {
        "hardware": f"{platform.machine()}, {usable_cores()} cores, {platform.system()}",
        "versions": {"sciextract": __version__},
    }


def now() -> str:
    """The time, UTC."""
    return time.strftime("%FT%TZ", time.gmtime())


def take_snapshot(run: Run, order: Order, narrator: Narrator) -> None:
    """Take the snapshot of a project, once: what is decided meanwhile belongs to the next round.

    Raises:
        TrainingDataError: There is nothing to train on.
    """
    folder = run.folder / SNAPSHOT
    if run.run().get("schema") is not None and (folder / MANIFEST).is_file():
        return
    narrator.state("preparing", "taking a snapshot of the project")
    with open_project(order.path) as project:
        if project.mode == "write":
            project.backup("before retraining")
        schema = project.schema
        base, gate = (Path(word) if word else None for word in (order.base, order.gate))
        manifest = build_snapshot(project, folder, base=base, gate=gate)
    run.write_run(schema=schema_to_mapping(schema), snapshot=_hashes(manifest))


def opened_snapshot(run: Run) -> tuple[LabelSchema, Snapshot]:
    """The schema and the snapshot of a run, each file held against its hash."""
    schema = parse_schema(run.run()["schema"], str(run.folder))
    return schema, read_snapshot(run.folder / SNAPSHOT)


def _hashes(manifest: Manifest) -> dict[str, str]:
    return {name: entry.sha256 for name, entry in manifest.files.items()}
