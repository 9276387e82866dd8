"""One recipe with several seeds: what each scores, their mean and how far they spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean, stdev
from typing import Any

from sciextract.codec import encode
from sciextract.errors import UsageError
from sciextract.retraining.events import Listener, SeedScored, SeedStarted
from sciextract.retraining.run_folder import Run
from sciextract_trainer.evaluate import learned_tasks
from sciextract_trainer.run import TrainingJob, origin_of, run_training

SCORES = "seeds.json"

_OF_MODEL = {
    "entity": "ner",
    "relation": "relation",
    "strict": "relation_strict",
    "coreference": "coreference",
}


@dataclass(frozen=True, slots=True)
class SeedScores:
    """Dev F1 (0 to 100) by seed and task.

    Attributes:
        by_seed: Tasks are ``entity``, ``relation`` (boundaries), ``strict`` and ``coreference``; those that the
            recipe does not learn are not there.

    >>> scores = SeedScores({1: {"entity": 60.0}, 2: {"entity": 62.0}, 3: {"entity": 67.0}})
    >>> scores.mean("entity"), round(scores.sd("entity") or 0, 3)
    (63.0, 3.606)
    """

    by_seed: Mapping[int, Mapping[str, float]]

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that all seeds have a score of."""
        return tuple(
            task for task in _OF_MODEL if all(task in scores for scores in self.by_seed.values())
        )

    def mean(self, task: str) -> float:
        return mean(scores[task] for scores in self.by_seed.values())

    def sd(self, task: str) -> float | None:
        """Sample standard deviation (n - 1) over the seeds; ``None`` of one seed."""
        values = [scores[task] for scores in self.by_seed.values()]
        return stdev(values) if len(values) > 1 else None

    def to_json(self) -> dict[str, Any]:
        """Scores of each seed, mean and standard deviation by task."""
        return {
            "seeds": {str(seed): dict(scores) for seed, scores in self.by_seed.items()},
            "mean": {task: self.mean(task) for task in self.tasks},
            "sd": {task: self.sd(task) for task in self.tasks},
        }


def run_seeds(job: TrainingJob, seeds: Sequence[int], listener: Listener) -> SeedScores:
    """Trains a recipe once with each seed.

    Each seed has a folder ``seed-N`` of its own in the job's output and in its run folder. A seed that is finished is
    not trained again, one that was stopped continues. The scores are those of the network in full precision, with the
    thresholds that go with it.

    Args:
        job: The job; its own seed does not count.
        seeds: The seeds, each once.
        listener: Gets the events of each training, and the scores of each seed.

    Raises:
        UsageError: A seed comes twice, is below 0 or there is none, or a finished seed had other settings or data.
        SciextractError: A training cannot be done; what is finished is kept.
    """
    if not seeds or len(set(seeds)) < len(seeds):
        raise UsageError(
            f"seeds = {list(seeds)} is not possible", "give at least one seed, and each only once"
        )
    scores: dict[int, dict[str, float]] = {}
    for number, seed in enumerate(seeds, start=1):
        listener(SeedStarted(seed=seed, number=number, of=len(seeds)))
        name = f"seed-{seed}"
        own = replace(
            job,
            config=replace(job.config, seed=seed),
            run_folder=job.run_folder / name,
            output=job.output / name,
            name=f"{job.name}-{name}",
        )
        kept = Run(own.run_folder).record()
        if kept.scores is None or not own.output.is_dir():
            scores[seed] = f1_by_task(run_training(own, listener), own)
        else:  # finished by an earlier call
            before = {**(kept.config or {}), **kept.origin}
            now = {**own.config.to_json(), **origin_of(own)}
            if changed := sorted(key for key in now if before.get(key) != now[key]):
                key = changed[0]
                raise UsageError(
                    f"{own.run_folder} was finished with {key} {before.get(key)!r}, now it is {now[key]!r}",
                    "give another --output, or remove that folder",
                )
            scores[seed] = f1_by_task(kept.scores, own)
        listener(SeedScored(seed=seed, scores=scores[seed]))
    found = SeedScores(scores)
    # Of several processes only the first one has scores.
    if all(scores.values()):
        job.output.mkdir(parents=True, exist_ok=True)
        (job.output / SCORES).write_text(encode(found.to_json()), encoding="utf-8")
    return found


def f1_by_task(scores: Mapping[str, Any], job: TrainingJob) -> dict[str, float]:
    """The headline F1 of what :func:`~sciextract_trainer.run.run_training` returned, of the learned tasks."""
    learned = learned_tasks(job.config)
    found = {
        task: scores["fp32"][name]
        for task, name in (_OF_MODEL.items() if scores else ())
        if ("relation" if task == "strict" else task) in learned
    }
    return {task: value for task, value in found.items() if value is not None}
