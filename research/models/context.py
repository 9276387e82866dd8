"""Where a plan is carried out: its data, starting encoders, run folder, and the record of the build."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import torch

from research.models.plan import Plan
from research.models.stage import ENCODER_WEIGHTS, Artifact, EncoderArtifact
from research.reporting import Report
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import load_schema
from sciextract.errors import InputMissingError, ModelDamagedError, UsageError
from sciextract.formats.inputs import Part
from sciextract.retraining.run import environment
from sciextract.retraining.run_folder import now
from sciextract_trainer.checkpoint import replacing
from sciextract_trainer.data.gold import read_gold, sha256

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
    told = environment()
    told["versions"]["torch"] = torch.__version__
    return told


Wanted = TypeVar("Wanted", bound=Artifact)


@dataclass(frozen=True)
class BuildContext:
    """What all stages of a plan share.

    Attributes:
        plan: The plan.
        data: Folder that the plan's data files lie in.
        runs: Run folder: one folder a stage, and ``build.json``.
        encoders: Folders of the starting encoders by name.
        report: Gets every event.
        until: ``time.monotonic()`` at which to stop.
    """

    plan: Plan
    data: Path
    runs: Path
    encoders: Mapping[str, Path]
    report: Report
    until: float = float("inf")

    @cached_property
    def record(self) -> BuildRecord:
        """The build record of this run folder."""
        return BuildRecord(self.runs, self.plan)

    @cached_property
    def schema(self) -> LabelSchema:
        """The label schema of all networks."""
        return load_schema(self.plan.schema)

    @cached_property
    def dev(self) -> list[AnnotatedDocument]:
        """The gold that epochs and thresholds are chosen on."""
        return read_gold(self.file(self.plan.dev), self.schema, Part.DEV)

    def folder(self, stage: str) -> Path:
        """Where a stage keeps its result."""
        return self.runs / stage

    def file(self, name: str) -> Path:
        """A data file of the plan.

        Raises:
            InputMissingError: It does not exist.
        """
        path = self.data / name
        if not path.exists():
            raise InputMissingError(
                f"no file {name} in {self.data}", "give the folder of the data with --data"
            )
        return path

    def texts(self, patterns: Sequence[str]) -> list[Path]:
        """Data files by name or pattern, in order and sorted within each pattern.

        Raises:
            InputMissingError: A pattern means none.
        """
        found = [(pattern, sorted(self.data.glob(pattern))) for pattern in patterns]
        for pattern, paths in found:
            if not paths:
                raise InputMissingError(
                    f"no file {pattern} in {self.data}", "give the folder of the data with --data"
                )
        return [path for _, paths in found for path in paths]

    def hashes(self, paths: Sequence[Path]) -> dict[str, str]:
        """Hashes by name in the data folder."""
        return {str(path.relative_to(self.data)): sha256(path) for path in paths}

    def made(self, name: str, kind: type[Wanted]) -> Wanted:
        """What an earlier stage made, or a starting encoder.

        Raises:
            InputMissingError: A starting encoder is not given.
            ModelDamagedError: It is not the one that the plan names.
        """
        if name in self.plan.encoders:
            found: Artifact = self._starting_encoder(name)
        else:
            found = self.plan.stages[name].product(self, self.folder(name))
        if not isinstance(found, kind):
            raise UsageError(f"{name} makes {found!r}, wanted is {kind.__name__}")
        return found

    def _starting_encoder(self, name: str) -> EncoderArtifact:
        planned = self.plan.encoders[name]
        if name not in self.encoders:
            raise InputMissingError(
                f"plan {self.plan.name} begins with the encoder {name!r}, and no folder of it is given",
                f"--encoder {name}=DIR" + (f"; {planned.get}" if planned.get else ""),
            )
        weights = self.encoders[name] / ENCODER_WEIGHTS
        found = sha256(weights) if weights.is_file() else "nothing"
        if found != planned.sha256:
            raise ModelDamagedError(
                f"{weights} is not the encoder {name!r} of plan {self.plan.name}: its sha256 is {found}, "
                f"wanted is {planned.sha256}",
                planned.get or "get the file that the plan names",
            )
        return EncoderArtifact(self.encoders[name])
