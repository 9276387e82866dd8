"""One of several processes of the tests: ``python group_child.py MODE FOLDER``."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import nn

from research.reporting import as_mappings
from sciextract.documents.schema_file import load_schema
from sciextract.errors import SciextractError
from sciextract_trainer.build import family_of, labels_of, load_subword_rules
from sciextract_trainer.config import config_from
from sciextract_trainer.hardware import CPU, Group, join_group
from sciextract_trainer.loop import LossError, TrainingData, train
from tests.trainer.corpus import ONE_MENTION, TEN_SENTENCES

FIVE = (*TEN_SENTENCES[:4], ONE_MENTION)
"""An odd number, and one without pairs."""


def main() -> None:
    mode, folder = sys.argv[1], Path(sys.argv[2])
    torch.set_num_threads(1)
    with join_group(CPU) as group:
        if mode == "talk":
            _write(folder / f"talk-{group.rank}.json", _talk(group))
        _train(group, folder, killed=mode == "killed")


def _write(path: Path, values: Any) -> None:
    path.write_text(json.dumps(values), encoding="utf-8")


def _train(group: Group, folder: Path, killed: bool) -> None:
    config = config_from(json.loads((folder / "config.json").read_text("utf-8")), "test")
    labels = labels_of(load_schema("scierc"), config.max_span_width)
    rules = load_subword_rules(config.encoder)
    examples = list(family_of(config).examples(FIVE, labels, rules))
    events: list[dict[str, Any]] = []

    def report(event: dict[str, Any]) -> None:
        events.append(event)
        if killed and event["event"] == "step" and event["epoch"] == 2:
            os.kill(int((folder / "pid-1").read_text()), signal.SIGKILL)

    (folder / f"pid-{group.rank}").write_text(str(os.getpid()))
    data = TrainingData(examples, TEN_SENTENCES)
    network = train(config, labels, rules, data, folder, as_mappings(report), group=group)
    save_file(dict(network.state_dict()), folder / f"network-{group.rank}.safetensors")
    _write(folder / f"events-{group.rank}.json", events)


def _talk(group: Group) -> dict[str, Any]:
    """What every method of a group comes to, for two processes."""
    parameters = [nn.Parameter(torch.zeros(2)) for _ in range(3)]
    if group.rank:
        parameters[0].grad = torch.tensor([1.0, 2.0])  # the other process has none here
    parameters[1].grad = torch.full((2,), float(group.rank + 1))
    sums = group.combine(parameters, torch.tensor([1.0, group.rank]))
    layer = nn.Linear(1, 1)
    nn.init.constant_(layer.weight, group.rank + 3.0)
    group.spread(layer)
    return {
        "sums": sums.tolist(),
        "gradients": [None if p.grad is None else p.grad.tolist() for p in parameters],
        "spread": layer.weight.item(),
        "agreed": group.agree({"epoch": group.rank}),
        "same": _told(lambda: group.require_same("data", "a", "")),
        "differ": _told(lambda: group.require_same("data", f"f{group.rank}", "the same files")),
        "error": _told(lambda: group.combine(parameters, sums, _error_of(group))),
    }


def _error_of(group: Group) -> SciextractError | None:
    return LossError("the loss is nan at the document moss", "look") if group.rank else None


def _told(call: Any) -> str:
    try:
        call()
    except SciextractError as error:
        return f"{type(error).__name__}: {error.message}; {error.hint}"
    return ""


if __name__ == "__main__":
    main()
