"""``retrain`` against ``learn`` from the same fifty abstracts: F1 on sixty others, and processor seconds.

``python -m research.simulations.retraining --data DATA --run RUN [--seeds N] [--ways learn retrain ...]`` measures what RUN
lacks and prints a table. Labels are renamed, so that ``sci`` knows none. All learn from all fifty, and nothing chooses an
epoch. A training is resumed where it was stopped; its seconds then miss what an earlier process has done.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import mean

from benchmarks.learning import SETS, DataSet, documents
from sciextract import Extractor
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
from sciextract_trainer.build import as_joint, labels_of
from sciextract_trainer.config import find_recipe, load_config
from sciextract_trainer.data.examples import decided_examples
from sciextract_trainer.hardware import CPU, has_fast_bf16
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.network.joint import TorchNetwork
from sciextract_trainer.warm_start import open_start_model, probe

FINISHED, TEST = 50, 60
WAYS: dict[str, dict[str, int] | None] = {
    "learn": None,
    "retrain": {},
    "at once": {"probe_epochs": 0},
    "half": {"epochs": 12},
}
"""Each with what it changes in the recipe of ``retrain``."""

RESULT = "result.json"


def retrained(
    done: Sequence[TrainingDocument], schema: LabelSchema, changes: dict[str, int], folder: Path
) -> Extractor:
    """What ``retrain`` trains, without its export."""
    sci = Extractor.load("sci", threads=1)
    start = open_start_model(open_folder(locate_model("sci")))
    start = start.with_labels(labels_of(schema, start.labels.max_span_width))
    config = start.fit(
        load_config(find_recipe("correction-round"), **{"encoder": "sci", **changes})
    )
    config = replace(config.within_budget(len(done)), bf16=has_fast_bf16(CPU))
    rules = start.rules
    examples = list(decided_examples(done, start.labels, rules.encoder(), rules.limit))
    data, network = TrainingData(examples, []), start.network(config)
    if config.probe_epochs:
        probe(network, start, config, data, folder / "heads", CPU)
    trained = train(config, start.labels, rules, data, folder, lambda event: None, network, CPU)
    served = TorchNetwork(as_joint(trained))
    pipeline = Pipeline(served, rules.encoder(), start.labels, rules.limit)
    return Extractor(pipeline, replace(sci.config, labels=start.labels), sci.model)


def measure(data: DataSet, way: str, seed: int, options: argparse.Namespace) -> None:
    """One training: its predictions for the abstracts that it has not seen, and its seconds."""
    folder = _folder(options.run, data, way, seed)
    if (folder / RESULT).is_file():
        return
    folder.mkdir(parents=True, exist_ok=True)
    items, schema = documents(data, options.data, options.run)
    Random(seed).shuffle(items)
    test, pool = items[:TEST], items[TEST:]
    done = [TrainingDocument(document, data.layers) for document in pool[:FINISHED]]
    changes, began = WAYS[way], time.process_time()
    if changes is None:
        model = learn(done, schema, EncoderStates(Extractor.load("sci", threads=1)), WRITTEN)
    else:
        model = retrained(done, schema, {"seed": seed, **changes}, folder)
    seconds = time.process_time() - began
    for name, found in (
        ("gold", test),
        ("shown", model.stream([annotated.document for annotated in test])),
    ):
        lines = [encode(annotated, split=False) + "\n" for annotated in found]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    (folder / RESULT).write_text(json.dumps({"seconds": seconds}) + "\n", encoding="utf-8")


def table(options: argparse.Namespace) -> Iterator[str]:
    """F1 as the gate counts it, its gain over the adapter with 90 % intervals over abstracts, and seconds."""
    yield "| data | way | draws | entities | gain | relations | gain | seconds |"
    yield "|---|---|---|---|---|---|---|---|"
    for data in SETS[:3]:
        symmetric = documents(data, options.data, options.run)[1].symmetric_labels
        for way in WAYS:
            seeds = [
                seed
                for seed in range(options.seeds)
                if (_folder(options.run, data, way, seed) / RESULT).is_file()
            ]
            if not seeds:
                continue
            folders = [_folder(options.run, data, way, seed) for seed in seeds]
            adapters = [_folder(options.run, data, "learn", seed) for seed in seeds]
            gold, before = _kept(folders, "gold"), _kept(adapters, "shown")
            layers = [data.layers] * len(gold)
            tasks = compare_models(
                gold, before, _kept(folders, "shown"), symmetric, complete=layers
            ).tasks
            cells = []
            for task in ("entity", "relation"):
                found = tasks.get(task)
                cells += ["", ""] if found is None else [
                    f"{found.after:.1f}",
                    f"{found.difference:+.1f} ({found.low:+.1f} to {found.high:+.1f})",
                ]  # fmt: skip
            seconds = mean(
                json.loads((folder / RESULT).read_text())["seconds"] for folder in folders
            )
            yield f"| {data.name} | {way} | {len(seeds)} | {' | '.join(cells)} | {seconds:.0f} |"


def _folder(run: Path, data: DataSet, way: str, seed: int) -> Path:
    return run / f"{data.name.split()[0]}-{seed}-{way.replace(' ', '-')}"


def _kept(folders: Sequence[Path], name: str) -> list[Scorable]:
    """Documents that were written, of all trainings."""
    records = read([str(folder / f"{name}.jsonl") for folder in folders])
    return [scorable(record) for record in records if not isinstance(record, BadRecord)]


def main() -> None:
    """Measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--run", type=Path, default=Path("runs/retraining"))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=[*WAYS])
    options = parser.parse_args()
    for seed in range(options.seeds):
        for way in options.ways:
            for data in SETS[:3]:
                measure(data, way, seed, options)
    print("\n".join(table(options)))


if __name__ == "__main__":
    main()
