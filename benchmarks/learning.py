"""Adapters against a simulated annotator: F1, keys and seconds after 3 to 100 finished abstracts.

``python benchmarks/learning.py [--data FOLDER] [--results FILE] [--base MODEL] [--seeds N] [--test N] [--written] [--svg FILE]
[--tables]``. Every measurement is one line of the results file; a run that is started again goes on where the last one
ended.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from statistics import mean, stdev
from typing import Any

from benchmarks.rows import svg_figure
from sciextract import Extractor
from sciextract.documents.annotations import Annotations, Layer, State
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import load_schema, parse_schema
from sciextract.formats import BadRecord, read
from sciextract.inference.adapter.states import EncoderStates
from sciextract.learning.adapter import SUGGESTED, WRITTEN, learn
from sciextract.metrics.counts import Scorable, scorable
from sciextract.metrics.scorer import score
from sciextract.snapshot.documents import TrainingDocument
from sciextract.workflows.learning_curve import correction_keys
from sciextract.workflows.suggesters import Terms

Predict = Callable[[Document], AnnotatedDocument]

AFTER = (0, 3, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class DataSet:
    """Labelled documents of which one part is finished by the annotator and another one scored.

    Attributes:
        name: For tables.
        path: In the data folder.
        layers: The layers that it annotates.
        known: Whether the bundled model knows its labels; others are renamed so that none is equal by chance.
        sentences: Sentences of the pieces that full texts are cut into.
    """

    name: str
    path: str
    layers: frozenset[Layer]
    known: bool = False
    sentences: int = 0


SETS = (
    DataSet("SciREX types", "scirex/abstracts.jsonl", frozenset({Layer.ENTITIES})),
    DataSet("GENIA types", "genia/dev.jsonl", frozenset({Layer.ENTITIES})),
    DataSet(
        "SciER", "scier/train.jsonl", frozenset({Layer.ENTITIES, Layer.RELATIONS}), sentences=8
    ),
    DataSet("SciERC dev", "scierc/dev.jsonl", frozenset(Layer), known=True),
)


@dataclass(frozen=True)
class Result:
    """One measurement.

    Attributes:
        data: Name of the set.
        method: ``adapter``, ``strings`` or ``model``.
        seed: Which abstracts were finished and which scored.
        finished: How many abstracts were finished.
        scores: F1 by layer.
        keys: Keys of the desk for each scored abstract, all layers of the set together.
        manual: The same without any suggestions.
        seconds: Processor time of the update.
    """

    data: str
    method: str
    seed: int
    finished: int
    scores: dict[str, float]
    keys: float
    manual: float
    seconds: float


def documents(
    data: DataSet, folder: Path, cache: Path
) -> tuple[list[AnnotatedDocument], LabelSchema]:
    """The documents, decided by the annotator, with their schema."""
    path = folder / data.path
    if data.sentences:
        path = _cut(path, data.sentences, cache)
    items = [record for record in read([str(path)], "scierc") if not isinstance(record, BadRecord)]
    prefix = "" if data.known else "own "
    items = [_decide(record, prefix) for record in items]
    if data.known:
        return items, load_schema("scierc")
    entities = sorted({entity.label for item in items for entity in item.annotations.entities})
    relations = sorted(
        {relation.label for item in items for relation in item.annotations.relations}
    )
    symmetric = {"own Synonym-Of", "own Compare-With"}
    colours = {"colour": "#808080"}
    mapping = {
        "name": "own",
        "coreference": False,
        "entities": [{"label": e, "key": chr(97 + n)} | colours for n, e in enumerate(entities)],
        "relations": [
            {"label": e, "key": chr(97 + n), "symmetric": e in symmetric} | colours
            for n, e in enumerate(relations)
        ],
    }
    return items, parse_schema(mapping, "schema of the benchmark")


def _decide(item: AnnotatedDocument, prefix: str) -> AnnotatedDocument:
    found = item.annotations
    added = State.ADDED
    typed = [entity for entity in found.entities if entity.label]  # of STM's clusters some are not
    kept = {entity.id for entity in typed}
    return replace(
        item,
        annotations=Annotations(
            tuple(replace(e, label=prefix + e.label, state=added) for e in typed),
            tuple(replace(e, label=prefix + e.label, state=added) for e in found.relations),
            tuple(replace(e.only(kept), state=added) for e in found.clusters),
        ),
    )


def _cut(path: Path, sentences: int, cache: Path) -> Path:
    """The first four pieces of each full text, as long as an abstract, in a file of their own."""
    target = cache / f"{path.parent.name}-{sentences}.jsonl"
    with target.open("w", encoding="utf-8") as stream:
        for line in path.read_text("utf-8").splitlines():
            for piece in _pieces(json.loads(line), sentences):
                stream.write(json.dumps(piece) + "\n")
    return target


def _pieces(record: dict[str, Any], sentences: int) -> Iterator[dict[str, Any]]:
    first = 0
    for start in range(0, 4 * sentences, sentences):
        words = record["sentences"][start : start + sentences]
        if len(words) < sentences:
            return
        rows = slice(start, start + sentences)
        yield {
            "doc_key": f"{record['doc_key']}-{start}",
            "sentences": words,
            "ner": [[[a - first, b - first, l] for a, b, l in s] for s in record["ner"][rows]],
            "relations": [
                [[*(at - first for at in span[:4]), span[4]] for span in s]
                for s in record["relations"][rows]
            ],
            "clusters": [],
        }
        first += sum(map(len, words))


class Simulation:
    """One annotator on one set with one seed."""

    def __init__(
        self, data: DataSet, seed: int, states: EncoderStates, options: argparse.Namespace
    ) -> None:
        items, self.schema = documents(data, options.data, options.results.parent)
        Random(seed).shuffle(items)
        self.data, self.seed, self.states = data, seed, states
        self.thresholds = WRITTEN if options.written else SUGGESTED
        self.test, self.pool = items[: options.test], items[options.test :]

    def suggested(self, finished: int) -> Iterator[Result]:
        """All methods but retraining after so many abstracts."""
        done = [TrainingDocument(document, self.data.layers) for document in self.pool[:finished]]
        for annotated in self.pool[:finished]:  # an update finds the states of all but one abstract
            self.states.of(annotated.document)
        started = time.process_time()
        adapter = learn(done, self.schema, self.states, self.thresholds)
        seconds = time.process_time() - started
        yield self._result("adapter", finished, adapter.annotate, seconds)
        yield self._result("strings", finished, self._strings(finished), 0)
        if not finished:
            yield self._result("model", finished, adapter.using(()).annotate, 0)

    def _strings(self, finished: int) -> Predict:
        """INCEpTION's string matcher: every surface form with the label that it had most often."""
        counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for item in self.pool[:finished]:
            for entity in item.annotations.entities:
                counts[entity.text_of(item.document.text)][entity.label] += 1
        terms = Terms(((t, max(c, key=c.__getitem__)) for t, c in counts.items()), "strings")

        def predict(document: Document) -> AnnotatedDocument:
            [found] = terms([document])
            return AnnotatedDocument(document, found)

        return predict

    def _result(self, method: str, finished: int, predict: Predict, seconds: float) -> Result:
        predicted = [predict(gold.document) for gold in self.test]
        pairs = [(scorable(g), scorable(p)) for g, p in zip(self.test, predicted, strict=True)]
        gold, found = ([pair[side] for pair in pairs] for side in (0, 1))
        report = score(gold, found, self.schema.symmetric_labels)
        scores = {"entities": report.ner.all.f1}
        if Layer.RELATIONS in self.data.layers:
            scores["relations"] = report.relation.boundaries.directed.f1
        if Layer.COREFERENCE in self.data.layers:
            scores["coreference"] = report.coreference.conll.f1
        keys = mean(correction_keys(*pair) for pair in pairs)
        manual = mean(correction_keys(g, Scorable(g.doc_key)) for g in gold)
        rounded = {layer: round(value, 2) for layer, value in scores.items()}
        return Result(
            self.data.name, method, self.seed, finished, rounded, keys, manual, round(seconds, 2)
        )


def run(options: argparse.Namespace) -> None:
    """Measure what the results file lacks."""
    options.results.parent.mkdir(parents=True, exist_ok=True)
    known = {(e.data, e.seed, e.finished, e.method) for e in results(options.results)}
    states = EncoderStates(Extractor.load(options.base, threads=1), limit_mib=512)
    with options.results.open("a", encoding="utf-8") as stream:
        for seed in range(options.seeds):
            for data in SETS:
                simulation = Simulation(data, seed, states, options)
                for finished in options.after:
                    is_known = (data.name, seed, finished, "adapter") in known
                    if is_known or finished > len(simulation.pool):
                        continue
                    # A killed run repeats the whole point: its lines are written together.
                    lines = [
                        json.dumps(asdict(suggestion))
                        for suggestion in simulation.suggested(finished)
                    ]
                    stream.write("".join(line + "\n" for line in lines))
                    stream.flush()
                    print(*lines, sep="\n", flush=True)


def results(path: Path) -> list[Result]:
    """What has been measured so far."""
    if not path.exists():
        return []
    lines = path.read_text("utf-8").splitlines()
    return [Result(**json.loads(line)) for line in lines]


def table(found: Sequence[Result]) -> str:
    """Means and standard deviations over seeds as a Markdown table."""
    after = sorted({point.finished for point in found})
    lines = [
        "| labels | method | layer | " + " | ".join(map(str, after)) + " |",
        "|" + "---|" * (3 + len(after)),
    ]
    for data, method in dict.fromkeys((point.data, point.method) for point in found):
        mine = [point for point in found if (point.data, point.method) == (data, method)]
        for name in _values(mine[0]):
            at = ([_values(point)[name] for point in mine if point.finished == n] for n in after)
            cells = (with_spread(values) for values in at)
            lines.append(f"| {data} | {method} | {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def with_spread(values: Sequence[float]) -> str:
    """Mean and standard deviation over seeds."""
    if len(values) < 2:
        return "".join(f"{value:.1f}" for value in values)
    return f"{mean(values):.1f} ± {stdev(values):.1f}"


def _values(result: Result) -> dict[str, float]:
    """The numbers of a result by the name of their row."""
    rows = {f"{layer} F1": value for layer, value in result.scores.items()}
    rows["keys, % of adding all"] = 100 * result.keys / result.manual
    if result.method == "adapter":
        rows["seconds of an update"] = result.seconds
    return rows


COLOURS = {"adapter": "#1f5fa8", "strings": "#b35c00", "model": "#666666"}


def draw(found: Sequence[Result], path: Path) -> None:
    """Entity F1 by finished abstracts, a panel for each set, as SVG; the static model as a line."""
    with svg_figure(path, 1, len(SETS), figsize=(11, 3.2), sharey=True) as (_, panels):
        for data, panel in zip(SETS, panels, strict=True):
            for method, colour in COLOURS.items():
                mine = [
                    point for point in found if (point.data, point.method) == (data.name, method)
                ]
                after = sorted({point.finished for point in mine})
                means = [mean(e.scores["entities"] for e in mine if e.finished == n) for n in after]
                if method == "model" and means:
                    panel.axhline(means[0], color=colour, linestyle="--", label=method)
                elif means:
                    panel.plot(after, means, color=colour, marker="o", label=method)
            panel.set(title=data.name, xlabel="abstracts finished")
        panels[0].set(ylabel="entity F1")
        panels[0].legend(loc="lower right")


def main() -> None:
    options = _options()
    if not options.tables:
        run(options)
    found = results(options.results)
    print(table(found))
    if options.svg:
        draw(found, options.svg)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    shared = os.environ.get("SCIEXTRACT_SHARED", "../shared/data")
    parser.add_argument("--data", type=Path, default=Path(shared), help="folder of the data sets")
    parser.add_argument("--results", type=Path, default=Path("build/learning.jsonl"))
    parser.add_argument("--base", default="sci", help="the model whose encoder adapters stand on")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--test", type=int, default=20, help="abstracts that are scored")
    parser.add_argument("--after", type=int, nargs="*", default=AFTER, help="finished abstracts")
    parser.add_argument("--written", action="store_true", help="at the thresholds of models")
    parser.add_argument("--svg", type=Path, help="draw the curves there")
    parser.add_argument("--tables", action="store_true", help="measure nothing, print the table")
    return parser.parse_args()


if __name__ == "__main__":
    main()
