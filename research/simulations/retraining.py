"""``retrain`` against ``learn`` and other ways from the same abstracts: F1 on others, and processor seconds.

``python -m research.simulations.retraining --data DATA --run RUN [--seeds N] [--ways learn retrain ...] [--sets SciERC ...]
[--start MODEL] [--finished N]`` measures what RUN lacks and prints a table. Labels that the start model knows are renamed, but
those of SciERC. All learn from all that is finished, and nothing chooses an epoch. A training is resumed where it was stopped;
its seconds then miss what an earlier process has done.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from statistics import mean, stdev
from typing import Any

from torch import nn

from benchmarks.learning import SETS, DataSet, documents
from research.methods.triples import Injected, read_branches
from sciextract import Extractor
from sciextract.documents.annotations import Layer
from sciextract.documents.schema import LabelSchema
from sciextract.formats import BadRecord, read
from sciextract.formats.exchange import encode
from sciextract.inference.adapter.states import EncoderStates
from sciextract.inference.model_folder import locate_model, open_folder
from sciextract.inference.pipeline import Pipeline
from sciextract.learning.adapter import WRITTEN, learn
from sciextract.metrics.counts import Scorable, scorable
from sciextract.metrics.promotion import compare_models
from sciextract.snapshot.documents import TrainingDocument
from sciextract_trainer.build import SubwordRules, as_joint, labels_of
from sciextract_trainer.config import find_recipe, load_config
from sciextract_trainer.data.examples import decided_examples
from sciextract_trainer.hardware import CPU, has_fast_bf16
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.network.joint import TorchNetwork
from sciextract_trainer.warm_start import open_start_model, probe

WAYS: dict[str, dict[str, Any] | None] = {
    "learn": None,
    "retrain": {},
    "at once": {"probe_epochs": 0},
    "half": {"epochs": 12},
    "sift": {"network": "sift"},
    "k-bert": {},
    "k-bert, all visible": {},
}
"""Each with what it changes in the recipe of ``retrain``."""
_SCIERC = DataSet("SciERC", "scierc/train.jsonl", frozenset(Layer), known=True)
FIELDS = {data.name.split()[0]: data for data in (*SETS[:3], _SCIERC)} | {
    "SciERC-entities": replace(_SCIERC, layers=frozenset({Layer.ENTITIES}))
}

RESULT = "result.json"


def retrained(
    done: Sequence[TrainingDocument],
    schema: LabelSchema,
    changes: dict[str, Any],
    folder: Path,
    model: str = "sci",
    inject: Callable[[nn.Module, SubwordRules], nn.Module] | None = None,
) -> Extractor:
    """What ``retrain`` trains from a bundled model, without its export; ``inject`` may change what the encoder reads."""
    bundled = Extractor.load(model, threads=1)
    start = open_start_model(open_folder(locate_model(model)))
    start = start.with_labels(labels_of(schema, start.labels.max_span_width))
    config = start.fit(
        load_config(find_recipe("correction-round"), **{"encoder": model, **changes})
    )
    config = replace(config.within_budget(len(done)), bf16=has_fast_bf16(CPU))
    rules = start.rules
    examples = list(decided_examples(done, start.labels, rules.encoder(), rules.limit))
    data, network = TrainingData(examples, []), start.network(config)
    if inject is not None:
        network.words.encoder = inject(network.words.encoder, rules)
    if config.probe_epochs:
        plain = replace(config, network="joint")  # the heads alone learn without the encoder
        probe(network, start, plain, data, folder / "heads", CPU)
    trained = train(config, start.labels, rules, data, folder, lambda event: None, network, CPU)
    served = TorchNetwork(as_joint(trained))
    pipeline = Pipeline(served, rules.encoder(), start.labels, rules.limit)
    return Extractor(pipeline, replace(bundled.config, labels=start.labels), bundled.model)


def measure(name: str, way: str, seed: int, options: argparse.Namespace) -> None:
    """One training: its predictions for the abstracts that it has not seen, and its seconds."""
    folder, data = _folder(options, name, way, seed), FIELDS[name]
    if (folder / RESULT).is_file():
        return
    folder.mkdir(parents=True, exist_ok=True)
    items, schema = documents(data, options.data, options.run)
    Random(seed).shuffle(items)
    test, pool = items[: options.test], items[options.test :]
    done = [TrainingDocument(document, data.layers) for document in pool[: options.finished]]
    changes, began = WAYS[way], time.process_time()
    if changes is None:
        states = EncoderStates(Extractor.load(options.start, threads=1))
        model = learn(done, schema, states, WRITTEN)
    else:
        inject = partial(_inject, way, options) if way.startswith("k-bert") else None
        epochs = {"epochs": options.epochs} if options.epochs else {}
        recipe = {"seed": seed, **epochs, **changes}
        model = retrained(done, schema, recipe, folder, options.start, inject)
    seconds = time.process_time() - began
    for part, found in (
        ("gold", test),
        ("shown", model.stream([annotated.document for annotated in test])),
    ):
        lines = [encode(annotated, split=False) + "\n" for annotated in found]
        (folder / f"{part}.jsonl").write_text("".join(lines), encoding="utf-8")
    (folder / RESULT).write_text(json.dumps({"seconds": seconds}) + "\n", encoding="utf-8")


def _inject(
    way: str, options: argparse.Namespace, encoder: nn.Module, rules: SubwordRules
) -> nn.Module:
    branches = read_branches(options.graph, rules, options.relations)
    inner = {n for word, n in rules.tokenizer.get_vocab().items() if word.startswith("##")}
    return Injected(encoder, branches, frozenset(inner), way.endswith("all visible"))


def table(options: argparse.Namespace) -> Iterator[str]:
    """F1 as the gate counts it, and what each draw gains over another way: means, ± deviations over the draws."""
    tasks = [layer.task for layer in Layer]
    yield f"| data | way | draws | {' | '.join(f'{task} | gain' for task in tasks)} | seconds |"
    yield f"|---|---|---|{'---|---|' * len(tasks)}---|"
    for name in options.sets:
        data = FIELDS[name]
        symmetric = documents(data, options.data, options.run)[1].symmetric_labels
        for way in options.ways:
            pairs = [
                (_folder(options, name, way, seed), _folder(options, name, options.against, seed))
                for seed in range(options.seeds)
            ]
            pairs = [pair for pair in pairs if all((part / RESULT).is_file() for part in pair)]
            found = [
                compare_models(
                    gold := _kept(folder, "gold"), _kept(before, "shown"), _kept(folder, "shown"),
                    symmetric, complete=[data.layers] * len(gold),
                ).tasks
                for folder, before in pairs
            ]  # fmt: skip
            cells = [
                _spread([getattr(draw[task], value) for draw in found if task in draw], form)
                for task in tasks
                for value, form in (("after", ".1f"), ("difference", "+.1f"))
            ]
            seconds = [json.loads((folder / RESULT).read_text())["seconds"] for folder, _ in pairs]
            if found:
                told = " | ".join((name, way, str(len(found)), *cells, f"{mean(seconds):.0f}"))
                yield f"| {told} |"


def _spread(values: Sequence[float], form: str) -> str:
    if not values:
        return ""
    return f"{mean(values):{form}}" + (f" ± {stdev(values):.1f}" if len(values) > 1 else "")


def _folder(options: argparse.Namespace, name: str, way: str, seed: int) -> Path:
    run: Path = options.run
    told = (name, options.start, options.finished, options.epochs, seed, way.replace(" ", "-"))
    return run / "-".join(map(str, told))


def _kept(folder: Path, name: str) -> list[Scorable]:
    """Documents that were written by a training."""
    records = read([str(folder / f"{name}.jsonl")])
    return [scorable(record) for record in records if not isinstance(record, BadRecord)]


def main() -> None:
    """Measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--run", type=Path, default=Path("runs/retraining"))
    parser.add_argument("--start", default="sci", help="bundled model to train on from")
    parser.add_argument("--finished", type=int, default=50, help="abstracts to learn from")
    parser.add_argument("--epochs", type=int, default=0, help="0 are those of the recipe")
    parser.add_argument("--test", type=int, default=60, help="abstracts to score")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--sets", nargs="*", choices=FIELDS, default=[*FIELDS][:3])
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=["learn", "retrain"])
    parser.add_argument("--against", choices=WAYS, default="learn", help="what gains are over")
    parser.add_argument("--graph", type=Path, help="of sciextract graph build, for k-bert")
    parser.add_argument("--relations", nargs="*", default=["HYPONYM-OF", "PART-OF", "USED-FOR"])
    options = parser.parse_args()
    for seed in range(options.seeds):
        for way in options.ways:
            for name in options.sets:
                measure(name, way, seed, options)
    print("\n".join(table(options)))


if __name__ == "__main__":
    main()
