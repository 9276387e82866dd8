"""What is learned of attributes: of mentions (MeasEval, how a quantity is modified) and of abstracts (STM, the field).

``python benchmarks/attributes.py --data FOLDER [--seeds N] [--base sci|science|bio]``. For each corpus and number of finished
abstracts the share of the others' places that are right, and the share of the commonest value, over several draws; of the
abstracts also how many of a tenth of the fields are among the first fifth that ``queue make --likely`` would list. Then, of the
draws, how often 0.8 was promised by folds, how often that was broken on the others, and how many of their values it gives.
"""

from __future__ import annotations

import argparse
import json
import random
from math import inf
from pathlib import Path
from statistics import mean, stdev

from sciextract.documents.annotations import Annotations, Attribute, Entity, Span, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import ABSTRACT, AttributeKind, AttributeType
from sciextract.formats import read
from sciextract.inference.adapter.states import EncoderStates
from sciextract.inference.extractor import Extractor
from sciextract.inference.promise import make_promise
from sciextract.inference.settings import ATTRIBUTE
from sciextract.learning.attributes import AttributeHeads
from sciextract.text.analyse import make_document

SIZES = (10, 20, 40)
PROMISE = 0.8
SAID = State.ACCEPTED


def quantities(data: Path) -> tuple[AttributeType, list[AnnotatedDocument]]:
    """MeasEval: the first modifier of each quantity, none where it has none."""
    found, values = [], set()
    for line in (data / "measeval" / "train.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        entities, said = [], []
        for mention in record["mentions"]:
            if mention["label"] == "Quantity":
                span = Span(mention["start"], mention["end"])
                entities.append(Entity(mention["id"], (span,), "Quantity", state=SAID))
                for value in mention.get("modifiers", ())[:1]:
                    values.add(value)
                    name = f"a{mention['id']}"
                    said.append(Attribute(name, mention["id"], "modifier", value, state=SAID))
        document = make_document(record["id"], record["text"], {})
        annotations = Annotations(tuple(entities), attributes=tuple(said))
        found.append(AnnotatedDocument(document, annotations))
    kind = AttributeType(
        "modifier", "m", ("Quantity",), AttributeKind.CHOICE, tuple(sorted(values))
    )
    return kind, found


def fields(data: Path) -> tuple[AttributeType, list[AnnotatedDocument]]:
    """STM: the field of each abstract, which its key says."""
    found, values = [], set()
    for item in read([str(data / "stm" / "train.jsonl")]):
        if isinstance(item, AnnotatedDocument):
            field = item.document.doc_key.partition("/")[0]
            values.add(field)
            said = (Attribute("a", "", "field", field, state=SAID),)
            found.append(AnnotatedDocument(item.document, Annotations(attributes=said)))
    kind = AttributeType("field", "f", (ABSTRACT,), AttributeKind.CHOICE, tuple(sorted(values)))
    return kind, found


def values_of(item: AnnotatedDocument) -> dict[str, str]:
    """What is said, by target."""
    return {said.target: said.value for said in item.annotations.attributes}


def measure(
    kind: AttributeType, items: list[AnnotatedDocument], states: EncoderStates, size: int, seed: int
) -> tuple[float, ...]:
    """Shares of right places and of the commonest value, and of wanted abstracts that the first fifth holds; then whether
    a precision was promised, whether it was broken, and the share of the values that was written."""
    drawn = random.Random(seed).sample(items, len(items))
    heads, rest = AttributeHeads([(kind, drawn[:size])], states), drawn[size:]
    [promised] = make_promise(heads.held_out(), {ATTRIBUTE: PROMISE}, 0.9).labels
    least = inf if promised.threshold is None else promised.threshold
    right = places = written = kept = 0
    gold: list[str] = []
    for item in rest:
        bare = AnnotatedDocument(item.document, Annotations(item.annotations.entities))
        found, known = heads.suggest(bare), values_of(item)
        said = {attribute.target: attribute.value for attribute in found}
        sure = [one for one in found if (one.score or 0.0) >= least]
        written += len(sure)
        kept += sum(known.get(one.target) == one.value for one in sure)
        targets = (
            [""] if ABSTRACT in kind.on else [entity.id for entity in item.annotations.entities]
        )
        gold += [known.get(target, "") for target in targets]
        right += sum(said.get(target, "") == known.get(target, "") for target in targets)
        places += len(targets)
    recall = 0.0
    if ABSTRACT in kind.on:
        wanted = [
            item for item in rest if values_of(item)[""] == kind.values[seed % len(kind.values)]
        ]
        ranked = sorted(
            rest,
            key=lambda item: (
                -(
                    heads.probability_of(item, kind.label, kind.values[seed % len(kind.values)])
                    or 0.0
                )
            ),
        )[: len(rest) // 5]
        recall = sum(item in ranked for item in wanted) / max(1, len(wanted))
    common = max(gold.count(value) for value in {*gold}) / len(gold)
    broken = kept < PROMISE * written
    there = len(gold) - gold.count("")
    return right / places, common, recall, least < inf, broken, kept / there


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--base", default="science")
    options = parser.parse_args()
    states = EncoderStates(Extractor.load(options.base), limit_mib=2048)
    for load in (quantities, fields):
        kind, items = load(options.data)
        for size in SIZES:
            rows = [measure(kind, items, states, size, seed) for seed in range(options.seeds)]
            columns = [[100 * value for value in column] for column in zip(*rows, strict=True)]
            shown = "  ".join(
                f"{mean(column):5.1f} ± {stdev(column):4.1f}" for column in columns[:3]
            )
            made, broken, recall = map(mean, columns[3:])
            print(
                f"{kind.label:9} {size:3} finished: right, commonest, found in the first fifth: {shown}; "
                f"{PROMISE} promised in {made:.0f} %, broken in {broken:.0f} %, recall {recall:.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
