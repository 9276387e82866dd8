"""How a correction round ends: both models are compared, and the better one predicts."""

from __future__ import annotations

import re
from pathlib import Path

from sciextract.errors import ProjectError
from sciextract.inference.cores import usable_cores
from sciextract.inference.extractor import Extractor
from sciextract.metrics.gate_report import GateReport
from sciextract.store import open_project
from sciextract.workflows.correction.beginning import now
from sciextract.workflows.correction.curves import figure_of
from sciextract.workflows.correction.ending import Ending, ending_of
from sciextract.workflows.correction.narrator import Narrator
from sciextract.workflows.correction.order import Order
from sciextract.workflows.models import register, use
from sciextract.workflows.models.gating import gate
from sciextract.workflows.runs import MODEL, Run
from sciextract.workflows.snapshot import Snapshot


def judge(run: Run, order: Order, narrator: Narrator, before: Path, snapshot: Snapshot) -> Ending:
    """Compare the model of a run with the one before on the gate; register it, use it where it may be used.

    Args:
        run: The run; its model is in ``model/``.
        order: What was wanted.
        narrator: Told what happens.
        before: The folder of the model that the run started from.
        snapshot: Holds the gate.
    """
    told = f"comparing both models on {len(snapshot.gate)} held-out abstracts"
    narrator.state("gating", told)
    threads = usable_cores()
    models = [Extractor.load(folder, threads=threads) for folder in (before, run.folder / MODEL)]
    report = gate(snapshot.gate, *models, blind=bool(order.blind_gate))
    run.write_run(gate=report.to_json())
    narrator.event({"event": "gate", **report.to_json()})
    return _settle(run, order, narrator, report)


def model_name(order: Order) -> str:
    """What the new model is called: what was wished, else as the project."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", order.name or order.path.stem)
    return stem.strip("._-")[:48] or "model"


def _settle(run: Run, order: Order, narrator: Narrator, report: GateReport) -> Ending:
    """Registers the model and lets it predict where the gate says so."""
    model = register(run.folder / MODEL, model_name(order))
    promoted, problem = report.verdict == "promote", ""
    if promoted:
        try:
            with open_project(order.path) as project:
                use(model.id, project)
        except ProjectError as error:
            promoted, problem = False, error.message
    ending = ending_of(model, report, promoted, problem, order.path)
    result = {"model": model.id, "folder": str(model.folder), "promoted": promoted}
    run.write_run(result=result, finished=now())
    result |= figure_of(run)
    narrator.event({"event": "done", **result, "message": ending.told, "hint": ending.hint})
    values = {"model": model.id, "verdict": report.verdict, "promoted": promoted}
    narrator.done(ending.told, ending.hint, **values)
    return ending
