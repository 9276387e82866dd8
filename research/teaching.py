"""`science` from an encoder that other corpora taught first, and from soft labels: tried, and not taken (notes/science.md).

``python -m research.teaching teach --data DATA --run RUN`` trains ``sci`` on with the types of some corpora, each in a
group of its own, and writes the weights that ``python -m research.science train PART --run RUN`` then begins with.
``python -m research.teaching soft PART --teachers RUN RUN --run RUN`` trains a part on its gold abstracts and on
paragraphs that the networks of the same part of other runs have labelled together.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from research.distillation.ensemble import Ensemble, Member
from research.partial_labels.datasets import (
    TaughtSet,
    documents_of,
    prepared,
    read_records,
    taught_targets,
)
from research.science import (
    DATA,
    SCHEMA,
    TAUGHT,
    WEIGHTS,
    fold_of,
    print_event,
    recipe,
    start_model,
)
from sciextract.documents.document import Document
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.text.analyse import make_document
from sciextract_trainer.build import as_joint
from sciextract_trainer.config import find_recipe, load_config
from sciextract_trainer.data.examples import Example, examples_from, gold_targets, windows_of
from sciextract_trainer.data.gold import read_gold
from sciextract_trainer.data.soft_labels import (
    TEACHER_SETTINGS,
    SoftDocument,
    soft_examples,
    targets_from,
)
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.network.joint import TorchNetwork
from sciextract_trainer.warm_start import ENTITY_ROWS, StartModel, carry_weights, probe

TYPES = {
    "scienceie": ("Task", "Process", "Material"),
    "chemprot": ("GENE", "CHEMICAL"),
    "s800": ("Species",),
}
"""What a corpus teaches beside SciERC, which teaches all that ``sci`` knows."""

MOST = {"chemprot": 120, "s800": 80}
"""How many documents of a corpus are enough; all of the others."""

SAME = {
    "Material": "data of SciERC",
    "scienceie Process": "Process",
    "scienceie Material": "Material",
    "Generic": "",
}
"""Types that begin as types of ``science``."""

CPU = torch.device("cpu")


def taught_labels(sci: Labels) -> Labels:
    """The types of all corpora, each corpus a group."""
    added = (tuple(f"{name} {label}" for label in labels) for name, labels in TYPES.items())
    groups = (sci.entities, *added)
    return replace(sci, entities=tuple(label for group in groups for label in group), groups=groups)


def examples(data: Path, start: StartModel, sci: Labels) -> Iterator[Example]:
    """The windows of all corpora."""
    for name in ("scierc", *TYPES):
        path = data / name / "train.jsonl"
        rename = {label: f"{name} {label}" for label in TYPES.get(name, ())}
        teaches = list(rename.values()) or list(sci.entities)
        taught = TaughtSet(name=name, teaches=teaches, licence="", rename=rename)
        records = read_records(path)
        if name != "scierc":
            records = prepared(records, taught, 1)
            order = np.random.default_rng(1).permutation(len(records))[: MOST.get(name)]
            records = [records[row] for row in sorted(order.tolist())]
        for item in documents_of(records, taught, path):
            targets = taught_targets(
                gold_targets(item.annotated, start.labels), taught, start.labels
            )
            if name == "scierc":
                targets = replace(targets, mask=None)
            yield from windows_of(
                item.annotated.document, targets, start.labels, start.rules.encoder(), start.rules.limit
            )  # fmt: skip


def teach(data: Path, run: Path, epochs: int = 5) -> None:
    """Trains ``sci`` on with the corpora, and keeps the weights for the labels of ``science``."""
    own = start_model()
    sci = own.folder.config.labels
    start = replace(own, labels=taught_labels(sci))
    changes = {
        "epochs": epochs, "patience": 0, "step_budget": 0, "batch_documents": 6, "warmup": 0.06, "dropout": 0.15,
        "word_dropout": 0.1, "ema": 0.995, "pull": 0.0, "rehearsal": 0.0,
    }  # fmt: skip
    config = start.fit(load_config(find_recipe("correction-round"), encoder="sci", **changes))
    network = start.network(config)
    with torch.no_grad():  # "no entity" is always 0 with groups: what sci has above its own
        for name in ENTITY_ROWS:
            values = network.get_parameter(name)
            values[1 : 1 + len(sci.entities)] -= values[0]
            values[0] = 0
    found = TrainingData(list(examples(data, start, sci)), [])
    train(config, start.labels, start.rules, found, run / "taught", print_event, network, CPU)
    stored = {name: values.detach().numpy() for name, values in network.named_parameters()}
    stored[ENTITY_ROWS[1]] = stored[ENTITY_ROWS[1]] + 4  # as new types are rare at first
    fresh = {
        name: values.detach().numpy()
        for name, values in own.network(recipe(own, 1)).named_parameters()
    }
    old = replace(
        start.labels, groups=(), entities=tuple(SAME.get(label, label) for label in start.labels.entities)
    )  # fmt: skip
    carried = carry_weights(stored, fresh, old, own.labels)
    save_file(
        {name: torch.from_numpy(np.ascontiguousarray(values)) for name, values in carried.items()},
        run / TAUGHT,
    )


def paragraphs(data: Path, held: set[str], abstracts: Sequence[str]) -> Iterator[Document]:
    """Texts of many fields: none of an abstract at hand, none of an article whose abstract is scored."""
    whole = [_letters(text) for text in abstracts]
    for line in (data / "measeval" / "train.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        letters = _letters(record["text"])
        places = range(0, max(1, len(letters) - 60), 20)
        seen = any(letters[at : at + 60] in text for text in whole for at in places)
        if not seen and record["id"].split("-")[0] not in held:
            yield make_document(record["id"], record["text"])
    path, taught = (
        data / "scienceie" / "train.jsonl",
        TaughtSet(name="scienceie", teaches=[], licence=""),
    )
    yield from (item.annotated.document for item in documents_of(read_records(path), taught, path))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


def train_softly(data: Path, run: Path, part: str, teachers: Sequence[Path], share: float) -> None:
    """Trains a part on gold abstracts and on paragraphs that the teachers labelled, ``share`` of them an abstract."""
    gold, start = read_gold(data / DATA, SCHEMA), start_model()
    rules, labels, config = start.rules, start.labels, replace(recipe(start, 1), rehearsal=share)
    rows = list(zip(gold, fold_of(len(gold)), strict=True))
    held = {
        annotated.document.doc_key.split("/")[-1] for annotated, fold in rows if str(fold) == part
    }
    members = []
    for teacher in teachers:
        network = start.network(config)
        network.load_state_dict(load_file(teacher / f"{part}-1" / WEIGHTS), strict=False)
        engine = TorchNetwork(as_joint(network.eval()))
        members.append(Member(Pipeline(engine, rules.encoder(), labels, rules.limit)))
    ensemble = Ensemble(members)
    texts = paragraphs(data, held, [annotated.document.text for annotated in gold])
    soft = [
        SoftDocument(text, targets_from(ensemble.predict(text, TEACHER_SETTINGS), labels.relations))
        for text in texts
    ]
    chosen = [annotated for annotated, fold in rows if str(fold) != part]
    found = TrainingData(
        list(examples_from(chosen, labels, rules.encoder(), rules.limit)),
        [],
        rehearsal=list(soft_examples(soft, labels, rules.encoder(), rules.limit)),
    )
    folder = run / f"{part}-1"
    network = start.network(config)
    probe(network, start, config, found, folder / "heads", CPU)
    train(config, labels, rules, found, folder, print_event, network, CPU)
    save_file(
        {name: parameter.detach() for name, parameter in network.named_parameters()},
        folder / WEIGHTS,
    )


def main(words: Sequence[str] | None = None) -> None:
    """Teaches, or trains a part softly."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("teach", "soft"):
        command = commands.add_parser(name)
        command.add_argument("--data", type=Path, default=Path("../shared/data"))
        command.add_argument("--run", type=Path, required=True)
        if name == "soft":
            command.add_argument("part")
            command.add_argument("--teachers", type=Path, nargs="+", required=True)
            command.add_argument("--share", type=float, default=0.75)
    chosen = parser.parse_args(words)
    if chosen.command == "teach":
        teach(chosen.data, chosen.run)
    else:
        train_softly(chosen.data, chosen.run, chosen.part, chosen.teachers, chosen.share)


if __name__ == "__main__":
    main()
