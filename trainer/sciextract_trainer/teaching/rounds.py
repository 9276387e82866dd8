"""Self-training: a model labels texts, a student learns from these labels and gold, and labels them in its turn.

As the noisy student of Xie et al. 2020 (arXiv 1911.04252, section 2): dropout and hidden words are the noise, and
each round has the student of the last one as its teacher.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sciextract.errors import UsageError
from sciextract.inference.folder import MANIFEST, open_folder
from sciextract.inference.model_config import ModelConfig
from sciextract.workflows.events import Report
from sciextract_trainer.data.examples import Example
from sciextract_trainer.data.soft import SoftDocument
from sciextract_trainer.evaluate import DevScores, dev_scores, served
from sciextract_trainer.full_disk import explained, replacing
from sciextract_trainer.teaching.confidence import Certainty, believed
from sciextract_trainer.teaching.distillation import LABELS, Texts, label_texts, origin_of
from sciextract_trainer.teaching.labelling import describe_labels
from sciextract_trainer.teaching.student import Lesson, teach
from sciextract_trainer.teaching.teachers import Panel, load_pipeline, open_panel

ROUNDS = "rounds.json"

OpenLesson = Callable[[Panel, Path, Path], Lesson]
"""Makes the lesson of a round from its teacher, its run folder and its output."""


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
    job: SelfTraining, open_lesson: OpenLesson, report: Report, until: float = float("inf")
) -> ModelConfig:
    """Runs all rounds and keeps the student with the best mean dev F1; a call that was stopped goes on.

    Args:
        job: What to do.
        open_lesson: How the student of a round learns.
        report: Gets every event; one ``round`` event with dev scores for the start model (round 0) and each round.
        until: ``time.monotonic()`` at which to stop.

    Raises:
        TimeIsUp: It is later than ``until``; the same call goes on.
        UsageError: Hard labels are asked of a model whose labels do not exclude each other.
        SciextractError: Something cannot be done; what is finished is kept.
    """
    panel = open_panel([job.model])
    scores = [_start_scores(job, panel, open_lesson, report)]
    for number in range(1, job.rounds + 1):
        folder = job.run / f"round-{number}"
        output = folder / job.output.name
        if not (output / MANIFEST).is_file():
            _round(job, panel, open_lesson(panel, folder, output), report, until)
        panel = open_panel([output])
        scores.append(_scores_of(panel.folders[0].config))
        report({"event": "round", "round": number, "of": job.rounds, **scores[-1]})
    return _keep_best(job, scores, report)


def _round(
    job: SelfTraining, panel: Panel, lesson: Lesson, report: Report, until: float
) -> ModelConfig:
    labelled = label_texts(panel, job.texts, lesson.run / LABELS, report, until)
    origin = origin_of(panel, job.texts, len(labelled))
    if job.certainty is None:
        return teach(lesson, lesson.soft_examples(labelled), origin, report, until)
    sure = job.certainty(panel)
    describe_labels(lesson.run, sure.to_json())
    examples = hard_examples(lesson, labelled, sure)
    told = f"hard labels of {len(labelled)} abstracts, {json.dumps(sure.to_json())}"
    return teach(lesson, examples, {**origin, "training data": told}, report, until)


def hard_examples(
    lesson: Lesson, labelled: Sequence[SoftDocument], sure: Certainty
) -> list[Example]:
    """Examples of what the teacher is sure of.

    Raises:
        UsageError: The labels do not exclude each other, so that a span has no single label.
    """
    if lesson.labels.groups:
        raise UsageError(
            "hard labels need labels that exclude each other; this model has groups of labels",
            "leave --hard out: soft labels hold several labels of a span",
        )
    chosen = [
        replace(item, targets=believed(item.targets, lesson.labels, sure)) for item in labelled
    ]
    return lesson.soft_examples(chosen)


def _start_scores(
    job: SelfTraining, panel: Panel, open_lesson: OpenLesson, report: Report
) -> dict[str, Any]:
    """Dev scores of the model that begins, on the gold that the students are chosen on; measured once."""
    kept = job.run / ROUNDS
    if kept.is_file():
        return dict(json.loads(kept.read_text(encoding="utf-8"))["0"])
    folder = panel.folders[0]
    dev = open_lesson(panel, job.run, job.output).dev_documents()
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
        told = (
            f"no round is better than {job.model}: mean dev F1 {_mean(scores[0]):.1f}, "
            f"round {best} has {_mean(scores[best]):.1f}"
        )
        report({"event": "warning", "message": told})
    with explained(job.output):
        shutil.rmtree(job.output, ignore_errors=True)
        job.output.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(job.run / f"round-{best}" / job.output.name, job.output)
    report({"event": "kept", "round": best})
    return open_folder(job.output).config
