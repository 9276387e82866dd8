"""A correction round with the tiny model: from decisions to a judged, registered model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")


from sciextract.cli.training_screen import line_of
from sciextract.codec import convert
from sciextract.documents.annotations import Annotations, Layer, State
from sciextract.documents.document import ModelId
from sciextract.documents.schema import LabelSchema
from sciextract.errors import (
    InputMissingError,
    ModelMismatchError,
    TrainingDataError,
    UsageError,
)
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_folder import write_manifest
from sciextract.metrics.promotion import GateReport, Verdict
from sciextract.retraining.events import RunStarted
from sciextract.retraining.run import RetrainResult
from sciextract.retraining.run_folder import RetrainRequest, Run, runs_of
from sciextract.snapshot.documents import Split
from sciextract.snapshot.files import build_snapshot, read_snapshot
from sciextract.store import EntityRef, create_project, open_project
from sciextract.store.ingest import ModelRun
from sciextract.workflows.models.choice import current
from sciextract.workflows.models.compare import gate, plan_folds
from sciextract.workflows.models.registry import known_models
from sciextract_trainer.config import RECIPES
from tests.trainer.correction.projects import corrected, new_project, with_state, write_gold
from tests.trainer.correction.rounds import (
    Events,
    Retrain,
    kinds,
    of_kind,
    otters,
    retrain_here,
    until_export,
)


@dataclass(frozen=True)
class Finished:
    """A round that went through, with the home folder it went through in."""

    home: Path
    project: Path
    run: Run
    events: Events
    result: RetrainResult


@pytest.fixture(scope="module")
def whole_round(
    tmp_path_factory: pytest.TempPathFactory, schema: LabelSchema, model_folder: Path
) -> Finished:
    folder = tmp_path_factory.mktemp("round")
    project = otters(folder, schema)
    request = RetrainRequest(project=str(project), model=str(model_folder), epochs=2)
    events: Events = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SCIEXTRACT_HOME", str(folder / "home"))
        result = retrain_here(request, None, events.append)
        [run] = runs_of(project)
    return Finished(folder / "home", project, run, events, result)


@pytest.fixture
def finished(whole_round: Finished, monkeypatch: pytest.MonkeyPatch) -> Finished:
    """The round, for tests that only look at it or end it once more."""
    monkeypatch.setenv("SCIEXTRACT_HOME", str(whole_round.home))
    return whole_round


def test_a_round_from_decisions_to_a_registered_model(finished: Finished) -> None:
    assert kinds(finished.events) == [
        "start", "snapshot", "warning", "labelled", "forgetting", "step", "dev", "export", "gate", "done",
    ]  # fmt: skip
    snapshot = of_kind(finished.events, "snapshot")
    counts = {key: snapshot[key] for key in ("train", "dev", "gate", "undecided")}
    assert counts == {"train": 4, "dev": 2, "gate": 3, "undecided": 1}
    assert finished.run.metrics()[: len(finished.events)] == json.loads(json.dumps(finished.events))
    model = finished.result.model
    assert model.id in [model.id for model in known_models()] and model.name == "otters"
    assert Extractor.load(model.folder, threads=1)(["Kite networks fly."])


def test_the_status_tells_the_end(finished: Finished) -> None:
    status = finished.run.status()
    assert status is not None and (status.state, status.share) == ("done", 1.0)
    assert status.model == finished.result.model.id and status.verdict == "too few"
    assert not status.promoted and "models use" in status.hint


def test_the_run_file_tells_what_was_done(finished: Finished, model_folder: Path) -> None:
    told = finished.run.record()
    assert told.start_model and told.start_model.folder == str(model_folder)
    assert told.config and told.config["epochs"] == 2 and told.config["freeze_embeddings"] is True
    assert len(told.snapshot["train.jsonl"]) == 64
    assert told.forgetting == "distillation" and told.result and not told.result.promoted
    assert told.started and told.finished and told.hardware and told.versions and told.device


def test_before_a_round_the_project_is_backed_up(finished: Finished) -> None:
    project = finished.project
    backups = [path.name for path in project.with_name(project.name + "-backups").iterdir()]
    assert any("retraining" in name for name in backups)


def test_a_finished_stage_is_not_repeated(finished: Finished) -> None:
    again: Events = []
    retrain_here(RetrainRequest(), finished.run.folder, again.append)
    assert kinds(again) == ["start", "snapshot", "warning", "gate", "done"]


@pytest.mark.parametrize("verdict", ["too few", "keep", "worse", "promote"])
def test_only_a_better_model_is_used(
    verdict: Verdict, finished: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    _gate_says(monkeypatch, verdict)
    again: Events = []
    result = retrain_here(RetrainRequest(), finished.run.folder, again.append)
    with open_project(finished.project, read=True) as opened:
        used = current(opened)
    better = verdict == "promote"
    assert result.promoted is of_kind(again, "done")["promoted"] is better
    assert (used.id == result.model.id) is better and (used.name == "sci") is not better
    offered = verdict in ("too few", "keep")
    assert (f"models use {result.model.id}" in result.hint) is offered
    assert ("finish more abstracts" in result.hint) is (verdict == "worse")


@pytest.mark.parametrize(
    ("wishes", "epochs", "patience", "words"),
    [
        ({"epochs": None}, 25, 4, "up to 25 epochs (stops when dev stands still for 4)"),
        ({"epochs": 3}, 3, None, "up to 3 epochs; run folder"),
    ],
)
def test_epochs_come_from_the_data_unless_they_are_named(
    wishes: dict[str, Any], epochs: int, patience: int | None, words: str, retrain: Retrain
) -> None:
    begun: list[RunStarted] = []

    def stop(event: dict[str, Any]) -> None:
        if event["event"] == "start":
            begun.append(convert(event, RunStarted, "event"))
            raise Killed

    with pytest.raises(Killed):
        retrain(report=stop, **wishes)
    [start] = begun
    assert (start.epochs, start.patience) == (epochs, patience)
    assert words in line_of(start)


def test_a_run_is_not_taken_up_with_something_else(finished: Finished) -> None:
    with pytest.raises(UsageError, match="was begun with epochs 2, the command says 5"):
        retrain_here(RetrainRequest(epochs=5), finished.run.folder, print)


def _gate_says(monkeypatch: pytest.MonkeyPatch, verdict: Verdict) -> None:
    def judged(*sides: Any, **wishes: Any) -> GateReport:
        return replace(gate(*sides, **wishes), verdict=verdict)

    monkeypatch.setattr("sciextract.retraining.run.gate", judged)


class Killed(BaseException):
    """Stands for the process being killed."""


@pytest.mark.parametrize(
    ("at", "how"),
    [
        ("snapshot", Killed),
        ("step", KeyboardInterrupt),
        ("dev", Killed),
        ("gate", KeyboardInterrupt),
    ],
)
@pytest.mark.full
def test_a_stopped_round_goes_on_to_the_same_model(
    at: str, how: type[BaseException], retrain: Retrain, tmp_path: Path, whole_round: Finished
) -> None:
    def stop(event: dict[str, Any]) -> None:
        if event["event"] == at:
            raise how

    with pytest.raises(how):
        retrain(tmp_path / "parts", stop)
    run = Run(tmp_path / "parts")
    status = run.status()
    polite = how is KeyboardInterrupt
    assert status is not None and status.state == ("stopped" if polite else "failed")
    assert not polite or (
        str(run.folder) in status.hint and run.metrics()[-1]["event"] == "stopped"
    )
    again: Events = []
    resumed = retrain_here(RetrainRequest(), run.folder, again.append)
    assert _weights(resumed) == _weights(whole_round.result)
    assert [event["event"] for event in again].count("done") == 1


def _weights(result: RetrainResult) -> bytes:
    return (result.model.folder / "model.safetensors").read_bytes()


def test_a_folder_without_a_run_needs_a_project(tmp_path: Path) -> None:
    with pytest.raises(InputMissingError, match="is not an existing run"):
        retrain_here(RetrainRequest(), tmp_path, print)


@pytest.mark.full
def test_a_run_of_another_process_is_left_alone(
    retrain: Retrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(KeyboardInterrupt):
        retrain(tmp_path / "run", _interrupt_at("snapshot"))
    run = Run(tmp_path / "run")
    status = run.status()
    assert status is not None
    run.write_status(replace(status, state="training", pid=1, process=""))
    monkeypatch.setattr(Run, "is_alive", lambda self: True)
    with pytest.raises(UsageError, match="process 1 works on"):
        retrain(tmp_path / "run")


def _interrupt_at(kind: str) -> Callable[[dict[str, Any]], None]:
    def report(event: dict[str, Any]) -> None:
        if event["event"] == kind:
            raise KeyboardInterrupt

    return report


@pytest.mark.full
def test_another_start_model_in_the_same_place_is_refused(
    retrain: Retrain, tmp_path: Path, model_folder: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(model_folder, copy)
    with pytest.raises(KeyboardInterrupt):
        retrain(tmp_path / "run", _interrupt_at("snapshot"), model=str(copy))
    (copy / "README.md").write_text("changed", encoding="utf-8")
    write_manifest(copy)
    with pytest.raises(ModelMismatchError, match="another model now"):
        retrain_here(RetrainRequest(), tmp_path / "run", print)


@pytest.mark.full
def test_a_base_is_replayed_beside_what_the_start_model_says(
    retrain: Retrain, events: Events, tmp_path: Path
) -> None:
    base = write_gold(tmp_path / "base.jsonl", corrected(Split.TRAIN, 3, "lantern"))
    until_export(retrain, events, base=str(base))
    told = of_kind(events, "forgetting")
    assert told["method"] == "replay and distillation"
    assert told["message"] == (
        "4 an epoch of 3 base documents and the start model's labels of 1 undecided abstracts"
    )
    assert of_kind(events, "step")["of"] == 4 + 3 + 1


@pytest.mark.full
def test_without_free_abstracts_only_the_pull_is_left(
    tmp_path: Path, schema: LabelSchema, retrain: Retrain, events: Events
) -> None:
    path = new_project(tmp_path / "bare.sciextract", schema, corrected(Split.TRAIN, 3))
    until_export(retrain, events, project=str(path))
    assert of_kind(events, "forgetting")["method"] == "pull"
    assert "dev" not in kinds(events)


def test_nothing_decided_is_said_before_any_training(
    tmp_path: Path, schema: LabelSchema, retrain: Retrain, events: Events
) -> None:
    path = tmp_path / "new.sciextract"
    create_project(path, schema).close()
    with pytest.raises(TrainingDataError, match="nothing to train on"):
        retrain(project=str(path))
    [run] = runs_of(path)
    status = run.status()
    assert status is not None and status.state == "failed" and "nothing to train" in status.message
    assert of_kind(events, "error")["hint"] == status.hint


@pytest.mark.full
def test_rejections_alone_are_trained_on_with_a_warning(
    tmp_path: Path, schema: LabelSchema, retrain: Retrain, events: Events
) -> None:
    rejected = [with_state(document, State.REJECTED) for document in corrected(Split.TRAIN, 2)]
    path = new_project(tmp_path / "no.sciextract", schema, rejected, done=())
    until_export(retrain, events, project=str(path), epochs=1)
    told = [event["message"] for event in events if event["event"] == "warning"]
    assert any("nothing positive" in line for line in told)


def test_few_held_out_abstracts_are_compared_by_cross_validation(
    tmp_path: Path, schema: LabelSchema, model_folder: Path
) -> None:
    abstracts = [corrected(split, n) for split, n in zip(Split, (8, 2, 3), strict=True)]
    project = new_project(tmp_path / "few.sciextract", schema, [*chain(*abstracts)])
    request = RetrainRequest(project=str(project), model=str(model_folder), epochs=1)
    events: Events = []

    def stop(event: dict[str, Any]) -> None:
        events.append(event)
        if event["event"] == "fold" and event["number"] == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        retrain_here(request, None, stop)
    [run] = runs_of(project)
    again: Events = []
    report = retrain_here(RetrainRequest(), run.folder, again.append).report
    folds = [event for event in again if event["event"] == "fold"]
    assert [fold["number"] for fold in folds] == [3, 4, 5], "finished folds are not trained again"
    assert "step" not in kinds(again), "the steps are those of the new model alone"
    assert (report.documents, report.cross_validated) == (13, 8)
    assert report.verdict in ("promote", "keep") and "5 folds" in report.reasons[0]
    assert any("cross-validation over 13" in str(event.get("message")) for event in events)


def test_of_a_retrained_model_only_abstracts_count_that_it_suggested_for_first(
    tmp_path: Path, schema: LabelSchema
) -> None:
    model = ModelId("own", "a" * 64)
    abstracts = [corrected(split, n) for split, n in zip(Split, (13, 1, 2), strict=True)]
    texts = [replace(abstract, annotations=Annotations()) for abstract in chain(*abstracts)]
    path = new_project(tmp_path / "own.sciextract", schema, texts, done=())
    with open_project(path) as project:
        run = ModelRun(project, model, {})
        suggested = [with_state(abstract, State.UNDECIDED) for abstract in abstracts[0]]
        run.add(list(enumerate(suggested, start=1)))
        run.finish()
        for number in project.numbers():
            for entity in project.document_state(number).entities:
                project.actions.accept(number, EntityRef(entity.id))
            project.actions.mark_done(number, (Layer.ENTITIES,))
        build_snapshot(project, tmp_path / "snapshot")
        snapshot = read_snapshot(tmp_path / "snapshot")

        def folds(hash_: str, **origin: str) -> tuple[tuple[int, ...], ...] | None:
            start: Any = SimpleNamespace(
                config=SimpleNamespace(name="own", origin=origin), hash=hash_
            )
            return plan_folds(snapshot, start, project)

        seen = {"trained on from": "sci-b5f20365"}
        assert sorted(chain(*folds("a" * 64, **seen) or ())) == list(range(13))
        assert folds("b" * 64, **seen) is None, "it may have learned from all of them"
        assert sorted(chain(*folds("b" * 64) or ())) == list(range(13))


@pytest.mark.full
def test_labels_that_the_start_model_lacks_are_compared_with_an_adapter(
    tmp_path: Path, schema: LabelSchema, model_folder: Path
) -> None:
    kinds_ = tuple(replace(entity, label=f"own {entity.label}") for entity in schema.entities)
    own = replace(schema, name="own", entities=kinds_, relations=(), coreference=False)
    abstracts = [
        replace(
            document,
            annotations=Annotations(
                tuple(replace(e, label=f"own {e.label}") for e in document.annotations.entities)
            ),
        )
        for split, n in zip(Split, (10, 1, 3), strict=True)
        for document in corrected(split, n)
    ]
    project = new_project(tmp_path / "own.sciextract", own, abstracts, done=(Layer.ENTITIES,))
    # The heads of new labels alone would learn these texts as well as the adapter does.
    recipe = (
        (RECIPES / "correction-round.toml")
        .read_text("utf-8")
        .replace("probe_epochs = 20", "probe_epochs = 0")
    )
    assert "probe_epochs = 0" in recipe
    (tmp_path / "one-epoch.toml").write_text(recipe)
    request = RetrainRequest(
        project=str(project),
        model=str(model_folder),
        epochs=1,
        recipe=str(tmp_path / "one-epoch.toml"),
    )
    result = retrain_here(request, None, print)
    assert result.report.target is not None and result.report.target.before > 50
    assert result.report.verdict == "worse", "an adapter is far ahead of one epoch of a tiny model"


def test_without_cross_validation_few_abstracts_decide_nothing(
    tmp_path: Path, schema: LabelSchema, model_folder: Path
) -> None:
    abstracts = [corrected(split, n) for split, n in zip(Split, (8, 2, 3), strict=True)]
    project = new_project(tmp_path / "few.sciextract", schema, [*chain(*abstracts)])
    given: dict[str, Any] = {"project": str(project), "model": str(model_folder), "epochs": 1}
    events: Events = []
    request = RetrainRequest(**given, no_cross_validation=True)
    assert retrain_here(request, None, events.append).report.verdict == "too few"
    assert "fold" not in kinds(events)


@pytest.mark.full
def test_new_labels_of_the_schema_are_learned_from_the_beginning(
    tmp_path: Path, schema: LabelSchema, retrain: Retrain, events: Events
) -> None:
    gadget = replace(schema.entities[0], label="Gadget", key="q", colour="#123456")
    wider = replace(schema, entities=(*schema.entities, gadget))
    path = new_project(tmp_path / "wide.sciextract", wider, corrected(Split.TRAIN, 2))
    until_export(retrain, events, project=str(path), epochs=1)
    told = [event["message"] for event in events if event["event"] == "warning"]
    assert "the start model does not know Gadget; it is learned from the beginning" in told
