"""Self-training: a model labels texts, a student learns from these labels and gold, and labels them in its turn.

As the noisy student of Xie et al. 2020 (arXiv 1911.04252, section 2): dropout and masked words are the noise, and
each round has the student of the last one as its teacher.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from research.distillation.task import (
    LABELS,
    StudentSetup,
    Texts,
    label_texts,
    origin_of,
    teach,
)
from research.distillation.teachers import Panel, describe_labels, load_pipeline, open_panel
from sciextract.documents.annotations import Layer
from sciextract.errors import UsageError
from sciextract.inference.decoding import RelationLayout
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import MANIFEST, open_folder
from sciextract.inference.pipeline import Labels
from sciextract.retraining.events import Report
from sciextract_trainer.data.examples import Bools, Example, Floats, Ints, Mask, Targets, one_hot
from sciextract_trainer.data.soft_labels import TEACHER_SETTINGS, SoftDocument
from sciextract_trainer.evaluate import DevScores, dev_scores, served
from sciextract_trainer.files import explained, read_toml, replacing

COREFERENCE = "COREFERENCE"
"""The name of links in a table of thresholds."""

DEFAULT_THRESHOLD, DEFAULT_FLOOR = 0.7, 0.2

_HINT = "thresholds are TOML lines such as USED-FOR = 0.82"


@dataclass(frozen=True, slots=True)
class Certainty:
    """When a teacher is believed.

    Attributes:
        floor: What is less likely than this is none.
        default: Least probability of a label that has no threshold of its own.
        thresholds: Least probability by entity or relation label, or ``COREFERENCE``.
    """

    floor: float = DEFAULT_FLOOR
    default: float = DEFAULT_THRESHOLD
    thresholds: Mapping[str, float] = field(default_factory=dict)

    def of(self, label: str) -> float:
        """Least probability of a label."""
        return self.thresholds.get(label, self.default)

    def to_json(self) -> dict[str, Any]:
        """All numbers by name."""
        return {"floor": self.floor, "default": self.default, "thresholds": dict(self.thresholds)}


def certainty(
    labels: Labels, words: Sequence[str], file: Path | None = None, floor: float = DEFAULT_FLOOR
) -> Certainty:
    """Thresholds from a TOML table and from ``LABEL=P`` words, which win.

    >>> from sciextract.inference.decoding import RelationLayout
    >>> labels = Labels(("Task",), RelationLayout(("USED-FOR",), frozenset()), True, 10)
    >>> found = certainty(labels, ["0.6", "USED-FOR=0.82"])
    >>> found.of("Task"), found.of("USED-FOR")
    (0.6, 0.82)

    Args:
        labels: The labels that may have one.
        words: ``LABEL=P``, or ``P`` alone for all labels without one.
        file: TOML with ``LABEL = P`` lines; ``default`` for all others.
        floor: What is less likely is none.

    Raises:
        UsageError: A label is unknown, or a number lies outside floor to 1; says what is allowed.
        InputMissingError: There is no such file.
    """
    values = read_toml(file, "thresholds", _HINT) if file else {}
    for word in words:
        label, _, number = word.rpartition("=")
        values[label or "default"] = number
    known = [*labels.entities, *labels.relations.labels, COREFERENCE]
    numbers = {name: _number(name, value, floor) for name, value in values.items()}
    default = numbers.pop("default", max(DEFAULT_THRESHOLD, floor))
    if unknown := [name for name in numbers if name not in known]:
        raise UsageError(
            f"a threshold is given for {unknown[0]!r}, which is not a label of the model",
            f"labels: {', '.join(known)}",
        )
    _number("floor", floor, 0.0)
    return Certainty(floor, default, numbers)


def _number(name: str, value: Any, least: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not least <= number <= 1:
        raise UsageError(
            f"threshold {name}={value} is not possible",
            f"a threshold lies between the floor, {least:g}, and 1",
        )
    return number


def believed(targets: Targets, labels: Labels, sure: Certainty) -> Targets:
    """A teacher's distributions as hard targets with a mask of what nobody knows.

    Args:
        targets: Soft targets of a document.
        labels: What the classes mean.
        sure: When the teacher is believed.
    """
    kept = targets.types[:, 1:].max(axis=1, initial=0.0) >= sure.floor
    soft = _only(targets, kept)
    types, counted = _entities(soft.types, labels.entities, sure)
    pairs, relations, known_pairs = _relations(soft, labels.relations, sure)
    weights, known_links = _links(soft, sure)
    linkable = soft.types[:, 1:].max(axis=1, initial=0.0) >= TEACHER_SETTINGS.thresholds.entity
    mask = Mask(
        counted=counted,
        judged=counted,
        settled=linkable,
        known_pairs=known_pairs,
        known_links=known_links,
        complete=frozenset(Layer),
    )
    return Targets(soft.spans, types, pairs, relations, soft.links, weights, mask=mask)


def _only(targets: Targets, kept: Bools) -> Targets:
    """The targets of some of the spans."""
    rows = np.cumsum(kept) - 1
    pairs: Bools = np.all(kept[targets.pairs], axis=1)
    links: Bools = np.all(kept[targets.links], axis=1)
    return Targets(
        targets.spans[kept],
        targets.types[kept],
        rows[targets.pairs[pairs]],
        targets.relations[pairs],
        rows[targets.links[links]],
        targets.link_weights[links],
    )


def _entities(types: Floats, labels: Sequence[str], sure: Certainty) -> tuple[Floats, Bools]:
    """One-hot types (spans, 1 + labels), and whether the label of each span is believed."""
    best = types[:, 1:].argmax(axis=1) if len(types) else np.zeros(0, dtype=np.int64)
    least = np.array([sure.of(label) for label in labels], dtype=np.float32)
    counted = types[np.arange(len(types)), 1 + best] >= least[best]
    return one_hot((1 + best).tolist(), 1 + len(labels)), counted


def _relations(
    soft: Targets, layout: RelationLayout, sure: Certainty
) -> tuple[Ints, Floats, Bools]:
    """Pairs that may be related, their classes, and whether these are believed."""
    names = [*layout.labels, *layout.directed]
    least = np.array([sure.of(label) for label in names], dtype=np.float32)
    likely = soft.relations[:, 1:].max(axis=1, initial=0.0) >= sure.floor
    pairs, said = soft.pairs[likely], soft.relations[likely]
    best = said[:, 1:].argmax(axis=1) if len(said) else np.zeros(0, dtype=np.int64)
    known = said[np.arange(len(said)), 1 + best] >= least[best]
    return pairs, one_hot((1 + best).tolist(), layout.class_count), known


def _links(soft: Targets, sure: Certainty) -> tuple[Floats, Bools]:
    """Weights (links,) of what is believed, and whether that is known.

    A mention that surely has an antecedent is linked to the likeliest one; its other likely ones are unknown. A
    mention that surely has none is linked to none.
    """
    mentions, said = soft.links[:, 0], soft.link_weights
    count = len(soft.spans)
    mass = np.bincount(mentions, weights=said, minlength=count)
    peak = np.zeros(count, dtype=np.float32)
    np.maximum.at(peak, mentions, said)
    linked = mass[mentions] >= sure.of(COREFERENCE)
    chosen = linked & (said == peak[mentions])
    doubtful = (mass[mentions] >= sure.floor) & (~linked | (said >= sure.floor))
    return chosen.astype(np.float32), chosen | ~doubtful


ROUNDS = "rounds.json"

OpenStudent = Callable[[Panel, Path, Path], StudentSetup]
"""Makes the setup of an iteration from its teacher, its run folder and its output."""


@dataclass(frozen=True, slots=True)
class SelfTraining:
    """What a self-training does.

    Attributes:
        model: Name or folder of the model that labels in the first round.
        texts: What it labels.
        rounds: How many students there are, one after the other.
        certainty: When hard labels are believed; distributions are learned as they are when ``None``.
        run: Run folder, with one folder a round.
        output: The best student.
    """

    model: str
    texts: Texts
    rounds: int
    certainty: Callable[[Panel], Certainty] | None
    run: Path
    output: Path


def self_train(
    job: SelfTraining, open_student: OpenStudent, report: Report, until: float = float("inf")
) -> ModelConfig:
    """Runs all rounds and keeps the student with the best mean dev F1; a call that was stopped continues.

    Args:
        job: What to do.
        open_student: How the student of a round learns.
        report: Gets every event; one ``round`` event with dev scores for the start model (round 0) and each round.
        until: ``time.monotonic()`` at which to stop.

    Raises:
        TimeIsUp: It is later than ``until``; the same call continues.
        UsageError: Hard labels are asked of a model whose labels do not exclude each other.
        SciextractError: Something cannot be done; what is finished is kept.
    """
    panel = open_panel([job.model])
    scores = [_start_scores(job, panel, open_student, report)]
    for number in range(1, job.rounds + 1):
        folder = job.run / f"round-{number}"
        output = folder / job.output.name
        if not (output / MANIFEST).is_file():
            _round(job, panel, open_student(panel, folder, output), report, until)
        panel = open_panel([output])
        scores.append(_scores_of(panel.folders[0].config))
        report({"event": "round", "round": number, "of": job.rounds, **scores[-1]})
    return _keep_best(job, scores, report)


def _round(
    job: SelfTraining, panel: Panel, setup: StudentSetup, report: Report, until: float
) -> ModelConfig:
    labelled = label_texts(panel, job.texts, setup.run / LABELS, report, until)
    origin = origin_of(panel, job.texts, len(labelled))
    if job.certainty is None:
        return teach(setup, setup.soft_examples(labelled), origin, report, until)
    sure = job.certainty(panel)
    describe_labels(setup.run, sure.to_json())
    examples = hard_examples(setup, labelled, sure)
    description = f"hard labels of {len(labelled)} abstracts, {json.dumps(sure.to_json())}"
    return teach(setup, examples, {**origin, "training data": description}, report, until)


def hard_examples(
    setup: StudentSetup, labelled: Sequence[SoftDocument], sure: Certainty
) -> list[Example]:
    """Examples of what the teacher is sure of.

    Raises:
        UsageError: The labels do not exclude each other, so that a span has no single label.
    """
    if setup.labels.groups:
        raise UsageError(
            "hard labels need labels that exclude each other; this model has groups of labels",
            "leave --hard out: soft labels hold several labels of a span",
        )
    chosen = [
        replace(item, targets=believed(item.targets, setup.labels, sure)) for item in labelled
    ]
    return setup.soft_examples(chosen)


def _start_scores(
    job: SelfTraining, panel: Panel, open_student: OpenStudent, report: Report
) -> dict[str, Any]:
    """Dev scores of the model that begins, on the gold that the students are chosen on; measured once."""
    kept = job.run / ROUNDS
    if kept.is_file():
        return dict(json.loads(kept.read_text(encoding="utf-8"))["0"])
    folder = panel.folders[0]
    dev = open_student(panel, job.run, job.output).dev_documents()
    symmetric = folder.config.labels.relations.symmetric
    predict = served(load_pipeline(folder), folder.config.settings)
    scores = _named(dev_scores(predict, dev, symmetric))
    job.run.mkdir(parents=True, exist_ok=True)
    with replacing(kept) as temporary:
        temporary.write_text(json.dumps({"0": scores}) + "\n", encoding="utf-8")
    report({"event": "round", "round": 0, "of": job.rounds, **scores})
    return scores


def _named(scores: DevScores) -> dict[str, Any]:
    return {
        "ner": scores.entity,
        "relation": scores.relation,
        "relation_strict": scores.strict,
        "coreference": scores.coreference,
    }


def _scores_of(config: ModelConfig) -> dict[str, Any]:
    """What a student's folder says of the graph that it serves."""
    found: dict[str, Any] = config.scores["int8"]
    return {key: found[key] for key in ("ner", "relation", "relation_strict", "coreference")}


def _mean(scores: dict[str, Any]) -> float:
    known = [scores[key] for key in ("ner", "relation", "coreference") if scores[key] is not None]
    return sum(known) / len(known) if known else 0.0


def _keep_best(job: SelfTraining, scores: list[dict[str, Any]], report: Report) -> ModelConfig:
    """Copies the best student to the output; says so where the model that began was better than all of them."""
    best = max(range(1, len(scores)), key=lambda number: _mean(scores[number]))
    if _mean(scores[best]) <= _mean(scores[0]):
        message = (
            f"no round is better than {job.model}: mean dev F1 {_mean(scores[0]):.1f}, "
            f"round {best} has {_mean(scores[best]):.1f}"
        )
        report({"event": "warning", "message": message})
    with explained(job.output):
        shutil.rmtree(job.output, ignore_errors=True)
        job.output.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(job.run / f"round-{best}" / job.output.name, job.output)
    report({"event": "kept", "round": best})
    return open_folder(job.output).config
