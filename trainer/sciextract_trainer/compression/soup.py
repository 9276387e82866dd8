"""Model soups: the mean of the weights of several trainings (Wortsman et al. 2022, arXiv 2203.05482)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from sciextract.errors import UsageError
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.pipeline import Pipeline
from sciextract.workflows.events import Report
from sciextract_trainer.calibration.fitting import Dev
from sciextract_trainer.compression.ingredients import Ingredient
from sciextract_trainer.compression.rewriting import require_new
from sciextract_trainer.evaluate import DEV_SETTINGS, DevScores, dev_scores
from sciextract_trainer.full_disk import explained
from sciextract_trainer.network.joint import JointNetwork
from sciextract_trainer.network.remembering import RememberingNetwork
from sciextract_trainer.network.torch_network import TorchNetwork
from sciextract_trainer.package import Packaging, write_model_folder
from sciextract_trainer.thresholds import fit_settings

METHODS = ("uniform", "greedy")

Weights = dict[str, Tensor]


def mean_weights(members: Sequence[Weights]) -> Weights:
    """The mean of each weight, all of equal share."""
    return {name: torch.stack([each[name] for each in members]).mean(dim=0) for name in members[0]}


def greedy_soup(scores: Sequence[float], score_of: Callable[[Sequence[int]], float]) -> list[int]:
    """Which members go into the soup: recipe 1 of the paper.

    From the best member downwards each one is added whose soup with those before it is not worse.

    Args:
        scores: Held-out score of each member alone.
        score_of: Held-out score of the mean of some members.

    >>> greedy_soup([1.0, 3.0, 2.0], lambda rows: 4.0 if rows == [1, 0] else 0.0)
    [1, 0]
    """
    order = sorted(range(len(scores)), key=lambda row: -scores[row])
    chosen, best = [order[0]], scores[order[0]]
    for row in order[1:]:
        value = score_of([*chosen, row])
        if value >= best:
            chosen, best = [*chosen, row], value
    return chosen


@dataclass(frozen=True, slots=True)
class Kitchen:
    """Scores soups of some networks on dev.

    Attributes:
        members: The networks, all of one kind.
        dev: Gold documents.
        report: Told every score.
    """

    members: Sequence[Ingredient]
    dev: Dev
    report: Report

    def network(self, rows: Sequence[int]) -> JointNetwork:
        """A network with the mean of the weights of some members."""
        network = copy.deepcopy(self.members[rows[0]].network)
        mean = mean_weights([self.members[row].weights() for row in rows])
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                parameter.copy_(mean[name])
        return network

    def score(self, rows: Sequence[int]) -> float:
        """Mean dev F1 of a soup at thresholds fitted for it, in fp32."""
        scores = self._scores(self.network(rows))
        names = [self.members[row].name for row in rows]
        self.report(
            {"event": "soup", "members": names, **scores.stated(), "mean": round(scores.mean, 2)}
        )
        return scores.mean

    def _scores(self, network: JointNetwork) -> DevScores:
        first, dev = self.members[0], self.dev
        remembering = RememberingNetwork(TorchNetwork(network))
        pipeline = Pipeline(remembering, first.rules.encoder(), first.labels, first.rules.limit)
        settings = fit_settings(pipeline, dev.documents, DEV_SETTINGS, dev.complete, dev.serve)
        symmetric = first.labels.relations.symmetric
        return dev_scores(dev.serve(pipeline, settings), dev.documents, symmetric, dev.complete)


def make_soup(
    members: Sequence[Ingredient],
    dev: Dev,
    dev_origin: str,
    method: str,
    output: Path,
    report: Report,
) -> ModelConfig:
    """Averages networks and writes the model folder of the soup.

    Args:
        members: The networks, all of one kind.
        dev: Gold documents that members are chosen and thresholds are fitted on.
        dev_origin: What the model card says of them.
        method: ``uniform``: all of them; ``greedy``: those that help.
        output: The new model folder; its name is the model's name.
        report: Told the dev scores of every member and soup.

    Raises:
        UsageError: There is no such method.
        OutputError: There is something at ``output`` already, or the disk is full.
    """
    if method not in METHODS:
        raise UsageError(f"--method {method} is not possible", f"allowed: {', '.join(METHODS)}")
    require_new(output)
    kitchen = Kitchen(members, dev, report)
    alone = [kitchen.score([row]) for row in range(len(members))]
    rows = list(range(len(members)))
    if method == "greedy":
        rows = greedy_soup(alone, kitchen.score)
    else:
        kitchen.score(rows)
    first = members[0]
    origin = {
        "encoder": first.encoder,
        "weights": f"{method} mean of {len(rows)} of {len(members)} trainings: "
        + ", ".join(Path(members[row].name).name for row in rows),
        "dev data": dev_origin,
    }
    packaging = Packaging(
        output.name, first.schema, first.labels, first.rules, dev.documents, origin,
        given_entities=first.given,
    )  # fmt: skip
    with explained(output):
        return write_model_folder(kitchen.network(rows), packaging, output)
