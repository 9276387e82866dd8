"""The model folder of a network of several sets: thresholds, scores by set, card."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sciextract import atomic
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import CARD, CONFIG, GRAPHS, open_folder, write_manifest
from sciextract.inference.pipeline import Labels
from sciextract.inference.settings import DecodeSettings, PerTask
from sciextract.store.rows import Layer
from sciextract.workflows.events import Report
from sciextract_trainer.build import SubwordRules
from sciextract_trainer.calibration.command import events
from sciextract_trainer.calibration.fitting import Dev, calibrated_settings, stated
from sciextract_trainer.card import model_card
from sciextract_trainer.distillation.labelling import load_pipeline
from sciextract_trainer.network.joint import JointNetwork
from sciextract_trainer.package import Packaging, write_model_folder
from sciextract_trainer.partial.documents import SetDocument
from sciextract_trainer.partial.scores import score_set
from sciextract_trainer.partial.sets import SetPlan
from sciextract_trainer.partial.thresholds import Samples, fit_set_settings

START = DecodeSettings(thresholds=PerTask(0.4, 0.3, 0.5), nesting=True)
FIT_WORDS = 5_000
"""Dev words of each set that thresholds and the scale of entity scores are fitted on."""
RELATION_WORDS = 40_000
"""Dev words of each set with relations that the scale of their scores is fitted on."""


def export_network(
    network: JointNetwork,
    schema: LabelSchema,
    labels: Labels,
    rules: SubwordRules,
    samples: Sequence[AnnotatedDocument],
    origin: dict[str, Any],
    folder: Path,
) -> None:
    """Writes both graphs with provisional thresholds; the scores come later, set by set."""
    packaging = Packaging(
        "bio", schema, labels, rules, dev=(), origin=origin, precisions=("int8", "fp32"),
        weights=False, settings=START, samples=samples, cuts_words=True,
    )  # fmt: skip
    write_model_folder(network, packaging, folder)


def finish_folder(
    exported: Path, output: Path, dev: Samples, plan: SetPlan, report: Report
) -> None:
    """Fits thresholds and the scale of scores for the int8 graph, scores every set, and puts the folder with that graph into place.

    Args:
        exported: What :func:`export_network` wrote.
        output: The model folder to write.
        dev: All dev documents by set.
        plan: The sets.
        report: Told of each set.
    """
    with atomic.replacing(output, alone=True) as work:
        shutil.copytree(exported, work)
        (work / GRAPHS["fp32"]).unlink()
        write_manifest(work)
        small = {name: _first_words(documents, FIT_WORDS) for name, documents in dev.items()}
        served, config = load_pipeline(open_folder(work)), open_folder(work).config
        settings, calibrations = calibrated_settings(
            served, _calibration_dev(dev), fit_set_settings(served, small, START)
        )
        report({"event": "thresholds", **settings.thresholds.to_json()})
        for event in events(calibrations):
            report(event)
        full = load_pipeline(open_folder(exported))
        sets: dict[str, Any] = {}
        for taught in plan.sets:
            scores = score_set(served, settings, dev[taught.name], taught, intervals=True).to_json()
            few = {
                name: round(score_set(each, settings, small[taught.name], taught).entity.f1, 2)
                for name, each in (("int8", served), ("fp32", full))
            }
            sets[taught.name] = {**scores, "trained": taught.train, "sample": few}
            report({"event": "set", "name": taught.name, **sets[taught.name]})
        finished = replace(
            config,
            settings=settings,
            scores={
                "split": "dev",
                "parity": config.scores["parity"],
                "sets": sets,
                "calibration": stated(calibrations),
            },
        )
        _write(work, finished)


def _calibration_dev(dev: Samples) -> Dev:
    """What the scale of the scores is fitted on: each document tells about the types of its set only.

    Every set has the same weight in the scale of entities; relations are few, so that theirs takes more documents.
    """
    told: list[tuple[SetDocument, set[Layer]]] = []
    for documents in dev.values():
        few = _first_words(documents, FIT_WORDS)
        more = [each for each in _first_words(documents, RELATION_WORDS) if each.taught.relations]
        told += [(each, {Layer.ENTITIES}) for each in few]
        told += [(each, {Layer.RELATIONS}) for each in more]
    return Dev(
        [each.annotated for each, _ in told],
        [layers for _, layers in told],
        taught=[frozenset(each.taught.teaches) for each, _ in told],
    )


def _write(folder: Path, config: ModelConfig) -> None:
    text = json.dumps(config.to_json(), indent=2) + "\n"
    (folder / CONFIG).write_text(text, encoding="utf-8")
    (folder / CARD).write_text(model_card(config), encoding="utf-8")
    write_manifest(folder)


def _first_words(documents: Sequence[SetDocument], words: int) -> list[SetDocument]:
    taken: list[SetDocument] = []
    for each in documents:
        if words <= 0:
            break
        taken.append(each)
        words -= len(each.annotated.document.tokens)
    return taken


def origin_lines(plan: SetPlan, hashes: Mapping[str, str]) -> dict[str, str]:
    """What the card says of each set: licence and hashes."""
    return {
        f"data, {each.name}": f"{'' if each.train else 'scored only; '}teaches {', '.join(each.teaches)}"
        f"{' and relations' if each.relations else ''}; licence: {each.licence}; "
        f"train and dev sha256 {hashes[each.name]}"
        for each in plan.sets
    }
