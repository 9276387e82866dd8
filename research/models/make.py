"""Carries out a plan: every stage that is not finished, then the model folders."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from research.compression.opened import MeasuredModel
from research.compression.quantise import Quantisation, quantise_model
from research.compression.schemes import read_texts
from research.distillation.task import LABELS
from research.models.context import BuildContext
from research.models.network_stages import read_labels, write_checked_model
from research.models.plan import PlannedModel
from research.models.stage import (
    ENCODER_WEIGHTS,
    Artifact,
    EncoderArtifact,
    LabelsArtifact,
    NetworkArtifact,
    Stage,
)
from research.pretraining.network import HEAD, has_head
from sciextract.errors import (
    InputMissingError,
    ModelDamagedError,
    ModelMismatchError,
    SciextractError,
    UsageError,
)
from sciextract.formats.inputs import Part
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import (
    CARD,
    CONFIG,
    GRAPHS,
    MANIFEST,
    listed_files,
    manifest_hash,
    open_folder,
    write_manifest,
)
from sciextract_trainer.calibration import fit_calibrated
from sciextract_trainer.checkpoint import explaining, replacing, require_time
from sciextract_trainer.data.gold import sha256
from sciextract_trainer.loop import BEST
from sciextract_trainer.package import FITTED_EACH, model_card
from sciextract_trainer.warm_start import WEIGHTS


def make(
    context: BuildContext, output: Path, adopted: Mapping[str, Path] | None = None
) -> dict[str, Path]:
    """Makes all models of a plan; a call that was stopped goes on.

    Args:
        context: The plan, and where it is carried out.
        output: Gets one folder a model.
        adopted: Folders by stage that were made by hand with the plan's settings.

    Returns:
        The model folders by name.

    Raises:
        TimeIsUp: The time of this call is over; the same call goes on.
        UsageError: A finished stage had other settings or other data.
        SciextractError: A stage cannot be done; what is finished is kept.
    """
    adopted = adopted or {}
    for name in adopted:
        if name not in context.plan.stages:
            raise UsageError(
                f"plan {context.plan.name} has no stage {name!r}",
                f"stages: {', '.join(context.plan.stages)}",
            )
    for number, (name, stage) in enumerate(context.plan.stages.items(), start=1):
        position = {"stage": name, "number": number, "of": len(context.plan.stages)}
        fingerprint = _fingerprint(context, stage)
        if _is_finished(context, name, stage, fingerprint):
            context.report({"event": "stage_kept", **position})
            continue
        if name in adopted:
            adopt(context, name, adopted[name], fingerprint)
            context.report({"event": "stage_adopted", **position})
            continue
        context.report({"event": "stage", **position})
        _make_one(context, name, stage, fingerprint)
        context.report({"event": "stage_finished", **position, **context.record.stage(name)})
    return {
        name: _model(context, name, model, output / name)
        for name, model in context.plan.models.items()
    }


def _make_one(context: BuildContext, name: str, stage: Stage, fingerprint: dict[str, Any]) -> None:
    require_time(context.until)
    folder = context.folder(name)
    before = context.record.stage(name).get("sha256") if folder.is_dir() else None
    folder.mkdir(parents=True, exist_ok=True)
    context.record.note_stage(name, **fingerprint)
    began = time.monotonic()
    try:
        with explaining(folder):
            stage.work(context, folder)
    finally:
        context.record.spent(name, time.monotonic() - began)
    made = stage.product(context, folder).sha256()
    if before and before != made:
        # Taken for finished, it would let later stages be refused, and nothing would say that this one is at fault.
        raise ModelDamagedError(
            f"{folder} has the sha256 {made[:12]}, and had {before[:12]} when stage {name!r} was finished: "
            "it was changed, or labelled again by another processor",
            f"put back what was there, or remove this folder, those of the stages made of it, and their entries in {context.record.path}",
        )
    context.record.finish_stage(name, sha256=made, **stage.outcome(folder))


def _fingerprint(context: BuildContext, stage: Stage) -> dict[str, Any]:
    """What the outcome of a stage depends on."""
    used = {name: context.made(name, kind).sha256() for name, kind in stage.uses().items()}
    return {
        "kind": type(stage).__name__,
        "settings": json.loads(json.dumps(stage.settings())),  # as the record gives it back
        "inputs": {**stage.inputs(context), **used},
    }


def _is_finished(
    context: BuildContext, name: str, stage: Stage, fingerprint: dict[str, Any]
) -> bool:
    """Whether an earlier call has finished this very stage.

    Raises:
        UsageError: It began or finished with other settings or inputs.
    """
    known = context.record.stage(name)
    for part in ("kind", "settings", "inputs"):
        if known and known.get(part) != fingerprint[part]:
            raise UsageError(
                f"{context.folder(name)} was made with {part} {_first_difference(known, fingerprint, part)}",
                f"remove that folder and the entry {name!r} of {context.record.path}, or give another --runs",
            )
    if "finished" not in known or not context.folder(name).is_dir():
        return False
    return stage.product(context, context.folder(name)).sha256() == known.get("sha256")


def _first_difference(known: dict[str, Any], wanted: dict[str, Any], part: str) -> str:
    left, right = known.get(part), wanted[part]
    if not isinstance(left, dict):
        return f"{left!r}, now it is {right!r}"
    key = next(key for key in sorted({*left, *right}) if left.get(key) != right.get(key))
    return f"{key} = {left.get(key)!r}, now it is {right.get(key)!r}"


def _model(context: BuildContext, name: str, planned: PlannedModel, folder: Path) -> Path:
    """A model folder at the end of a plan; not made again while its network is the same."""
    made = context.made(planned.network, NetworkArtifact)
    known = context.record.to_json()["models"].get(name, {})
    same = known.get("network") == made.sha256() and known.get("plan_sha256") == context.plan.sha256
    if same and (folder / MANIFEST).is_file() and manifest_hash(folder) == known.get("sha256"):
        context.report({"event": "model_kept", "model": str(folder)})
        return folder
    require_time(context.until)
    if planned.scheme:
        config = ship_quantised(context, name, planned, folder)
    else:
        config = ship(made, folder, card_of(context, planned), weights=planned.weights)
    context.record.note_model(
        name, network=made.sha256(), plan_sha256=context.plan.sha256, sha256=manifest_hash(folder),
        scores=config.scores,
    )  # fmt: skip
    context.report({"event": "model", "model": str(folder), "scores": config.scores})
    return folder


def card_of(context: BuildContext, planned: PlannedModel) -> dict[str, Any]:
    """What the card says of the origin: the plan's own lines, starting encoders, data, each stage with its hash."""
    card: dict[str, Any] = dict(planned.card)
    for name, encoder in context.plan.encoders.items():
        card[f"encoder {name}"] = f"{encoder.origin}, model.safetensors sha256 {encoder.sha256}"
    card["dev data"] = (
        f"{context.plan.dev}, sha256 {sha256(context.file(context.plan.dev), Part.DEV)}"
    )
    if planned.scheme:
        card["quantisation"] = planned.scheme.description
    if planned.texts:
        hashes = context.hashes(context.texts(planned.texts))
        files = ", ".join(f"{name}, sha256 {value[:12]}" for name, value in hashes.items())
        card["texts for quantisation"] = f"the first {planned.most} of {files}"
    for name, stage in context.plan.stages.items():
        known = context.record.stage(name)
        card[f"stage {name}"] = f"{_summary(stage, known)}; sha256 {known['sha256'][:12]}"
    return {**card, "plan": f"{context.plan.name}, sha256 {context.plan.sha256[:12]}"}


def _summary(stage: Stage, known: dict[str, Any]) -> str:
    """One line on a stage: its kind, settings and files."""
    settings = ", ".join(f"{key} {_words(value)}" for key, value in stage.settings().items())
    files = [f"{name} {value[:12]}" for name, value in known["inputs"].items() if "/" in name]
    kind = known["kind"]
    return f"{kind}: {settings}" + (f"; files {', '.join(files)}" if files else "")


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key}={item}" for key, item in value.items())
    return " + ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def ship(
    made: NetworkArtifact,
    folder: Path,
    origin: dict[str, Any],
    *,
    weights: bool,
    scores: dict[str, Any] | None = None,
) -> ModelConfig:
    """Copies a network's model folder without what is not shipped, under its own name and with its card.

    Args:
        made: The network.
        folder: The folder to write or to replace; its name is the model's.
        origin: What the card says of where the model comes from.
        weights: Whether the weights in half precision come along.
        scores: What it states instead of the scores of the network's folder.
    """
    left_out = {GRAPHS["fp32"], MANIFEST} | (set() if weights else {WEIGHTS})
    config = replace(open_folder(made.model).config, name=folder.name, origin=origin)
    config = config if scores is None else replace(config, scores=scores)
    with replacing(folder) as work:
        work.mkdir(parents=True)
        for name in set(listed_files(made.model)) - left_out:
            shutil.copyfile(made.model / name, work / name)
        text = json.dumps(config.to_json(), indent=2) + "\n"
        (work / CONFIG).write_text(text, encoding="utf-8")
        (work / CARD).write_text(model_card(config), encoding="utf-8")
        write_manifest(work)
    return config


def ship_quantised(
    context: BuildContext, name: str, planned: PlannedModel, folder: Path
) -> ModelConfig:
    """The same with a graph in fewer bits, made of the fp32 graph and compared with it on dev.

    Raises:
        ModelMismatchError: A task loses more than the plan allows.
    """
    made, scheme = context.made(planned.network, NetworkArtifact), planned.scheme
    assert scheme is not None
    texts = read_texts(context.texts(planned.texts), planned.most) if planned.texts else ()
    opened = open_folder(made.model)
    dev_file = context.file(context.plan.dev)
    measured = MeasuredModel(opened, context.schema, context.dev, dev_file)
    fp32 = measured.pipeline(opened.path / GRAPHS["fp32"])
    settings, _ = fit_calibrated(fp32, measured.fitted_on, opened.config.settings)
    before = measured.scores(fp32, settings)
    with tempfile.TemporaryDirectory(dir=context.runs) as temporary:
        work = Path(temporary) / name
        config = quantise_model(measured, Quantisation(scheme, texts), work, context.report)
        after = config.scores[scheme.precision]
        loss = {task: round((before[task] or 0) - (after[task] or 0), 2) for task in LOSSES}
        context.report({"event": "compared", "fp32": before, scheme.precision: after, "loss": loss})
        if max(loss.values()) > planned.most_loss:
            raise ModelMismatchError(
                f"model {name}: {scheme.description} loses {loss} F1 on dev against fp32, more than {planned.most_loss}",
                "choose another scheme in the plan, or train another network",
            )
        exact = {"parity": opened.config.scores["parity"], "thresholds": FITTED_EACH}
        scores = config.scores | {"fp32": before} | exact
        shipped = NetworkArtifact(made.weights, made.config, work)
        return ship(
            shipped, folder, card_of(context, planned), weights=planned.weights, scores=scores
        )


LOSSES = ("ner", "relation", "coreference")
"""Tasks whose dev F1 a graph in fewer bits must keep."""


WANTED: Mapping[type[Artifact], str] = {
    EncoderArtifact: f"encoder/{ENCODER_WEIGHTS}",
    NetworkArtifact: BEST,
    LabelsArtifact: "soft-*.npz",
}
"""What a folder has to hold so that a stage can be taken over from it."""


def adopt(context: BuildContext, name: str, source: Path, fingerprint: dict[str, Any]) -> None:
    """Copies what a finished training or labelling made, and records it as taken over.

    That the folder was made with the settings of the plan is for the caller to know: the record says so.

    Args:
        context: The plan, and where it is carried out.
        name: A stage that is not finished.
        source: A run folder of ``pretrain``, ``distill encoder`` or a training, or a folder of soft labels.
        fingerprint: What the stage depends on.

    Raises:
        UsageError: The labels are not of the plan's texts.
        InputMissingError: The folder does not hold what the stage makes, or what later stages need of it.
        OutputError: The disk is full.
    """
    stage, folder = context.plan.stages[name], context.folder(name)
    if not list(source.glob(WANTED[stage.makes])):
        raise InputMissingError(
            f"{source} holds no {WANTED[stage.makes]}, which stage {name} makes",
            "give the folder of a finished run",
        )
    if stage.makes is EncoderArtifact:
        _require_head(context, name, source)
    with explaining(folder):
        _copy(stage.makes, source, folder)
        made = stage.product(context, folder)
        if isinstance(made, NetworkArtifact):
            write_checked_model(context, made)
        elif isinstance(made, LabelsArtifact):
            _require_these_texts(made, source)
    facts = {"adopted": source.name, **fingerprint, **stage.outcome(folder)}
    context.record.finish_stage(name, sha256=made.sha256(), **facts)


def _require_head(context: BuildContext, name: str, source: Path) -> None:
    """Refuses an encoder without the head that later stages learn from, before they are reached."""
    learning = [
        key for key, stage in context.plan.stages.items() if name in stage.learns_heads_of()
    ]
    if learning and not has_head(str(source / "encoder")):
        raise InputMissingError(
            f"{source / 'encoder'} has no masked-language head, which stage {learning[0]} learns "
            f"from as that of {name}: it lacks {HEAD}",
            "give the run folder of a pretraining that kept it, or leave the stage to the plan",
        )


def _require_these_texts(made: LabelsArtifact, source: Path) -> None:
    """Refuses labels of other texts than those of the plan, and leaves none of them behind."""
    try:
        read_labels(made)
    except SciextractError as error:
        shutil.rmtree(made.folder)
        raise UsageError(
            f"{source} cannot be taken over: {error.message}",
            "give a folder with the labels of the plan's texts, all of them and no others",
        ) from error


def _copy(kind: type[Artifact], source: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if kind is EncoderArtifact:
        shutil.copytree(source / "encoder", folder / "encoder")
    elif kind is NetworkArtifact:
        for name in (BEST, "metrics.jsonl"):
            if (source / name).is_file():
                shutil.copyfile(source / name, folder / name)
    else:
        (folder / LABELS).mkdir()
        for shard in sorted(source.glob("soft-*.npz")):
            shutil.copyfile(shard, folder / LABELS / shard.name)
