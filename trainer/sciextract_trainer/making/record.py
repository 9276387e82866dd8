"""The build record: what each stage was made from, and what came of it, with hashes and seeds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from sciextract.errors import ModelDamagedError
from sciextract.retraining.run import circumstances, now
from sciextract_trainer.files import replacing
from sciextract_trainer.making.plan import Plan

RECORD = "build.json"


class BuildRecord:
    """``build.json`` of a run folder.

    Args:
        folder: The run folder; made if need be.
        plan: The plan that is followed.

    Raises:
        ModelDamagedError: There is a record that cannot be read.
    """

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.path = folder / RECORD
        self._values = self._read()
        self._values |= {"plan": plan.name, "plan_sha256": plan.sha256, **_versions()}
        self._values.setdefault("stages", {})
        self._values.setdefault("models", {})

    def stage(self, name: str) -> dict[str, Any]:
        """What is known of a stage; empty before it began."""
        return dict(self._values["stages"].get(name, {}))

    def note_stage(self, name: str, **facts: Any) -> None:
        """Adds facts of a stage, at once on disk.

        Raises:
            OutputError: The disk is full.
        """
        self._values["stages"][name] = {**self.stage(name), **facts}
        self._write()

    def spent(self, name: str, seconds: float) -> None:
        """Adds to the time that a stage took, over all calls."""
        before = float(self.stage(name).get("seconds", 0.0))
        self.note_stage(name, seconds=round(before + seconds, 1))

    def finish_stage(self, name: str, **facts: Any) -> None:
        """The same, for a stage that is finished."""
        self.note_stage(name, finished=now(), **facts)

    def note_model(self, name: str, **facts: Any) -> None:
        """Notes a finished model folder."""
        self._values["models"][name] = {"finished": now(), **facts}
        self._write()

    def to_json(self) -> dict[str, Any]:
        """Everything."""
        return dict(self._values)

    def _read(self) -> dict[str, Any]:
        if not self.path.is_file():
            return {}
        try:
            return dict(json.loads(self.path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise ModelDamagedError(
                f"{self.path} cannot be read: {error}",
                "remove it: finished stages are noted again, none is made twice",
            ) from error

    def _write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self.path) as temporary:
            temporary.write_text(json.dumps(self._values, indent=2) + "\n", encoding="utf-8")


def _versions() -> dict[str, Any]:
    told = circumstances()
    told["versions"]["torch"] = torch.__version__
    return told
