"""Where a plan is carried out: its data, starting encoders, run folder and record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import load_schema
from sciextract.errors import InputMissingError, ModelDamagedError, UsageError
from sciextract.formats.inputs import Part
from sciextract.workflows.events import Report
from sciextract_trainer.data.gold import read_gold, sha256
from sciextract_trainer.making.plan import Plan
from sciextract_trainer.making.products import ENCODER_WEIGHTS, EncoderMade, Product
from sciextract_trainer.making.record import BuildRecord

Wanted = TypeVar("Wanted", bound=Product)


@dataclass(frozen=True)
class Workshop:
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

    def for_plan(self, plan: Plan, runs: Path) -> Workshop:
        """The same data and encoders for another plan."""
        return replace(self, plan=plan, runs=runs)

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
        found = [(each, sorted(self.data.glob(each))) for each in patterns]
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
            found: Product = self._starting_encoder(name)
        else:
            found = self.plan.stages[name].product(self, self.folder(name))
        if not isinstance(found, kind):
            raise UsageError(f"{name} makes {found!r}, wanted is {kind.__name__}")
        return found

    def _starting_encoder(self, name: str) -> EncoderMade:
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
        return EncoderMade(self.encoders[name])
