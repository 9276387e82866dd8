"""Net keys of a person for each gold item: invented abstracts, predicted by a bundled model, corrected in a real terminal.

Usage: ``python benchmarks/tui_net_keys.py [NAME ...] [--play]``. The gold was written before the model was asked. Keys were
pressed by a person who looked at the screen, and are kept here; they are pressed again in a pseudo-terminal, counted as
``sciextract stats --learning`` counts them, and the result is compared with the gold. Where a model or the desk
has changed, the result is not the gold any more: correct the abstract again (``--play`` prepares it and opens the desk).
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "app")]

from benchmarks.tui_terminal import DESK, environment, started
from sciextract.documents.annotations import State
from sciextract.documents.schema_file import load_schema
from sciextract.store import Project, create_project, open_project
from sciextract.store.finished import count_keys
from sciextract.workflows.import_files import import_files
from sciextract.workflows.model_choice import ModelChoice
from sciextract.workflows.predict_project import predict_project

_MARK = re.compile(r"\[(\d+):(\w+) ([^\[\]]+)\]")
Truth = tuple[
    frozenset[tuple[int, int, str]],
    frozenset[tuple[int, int, int, int, str]],
    frozenset[frozenset[tuple[int, int]]],
]


@dataclass(frozen=True)
class Abstract:
    """A text with its gold, and the keys that lead there.

    Attributes:
        model: The bundled model that predicts it.
        marked: The text; ``[3:Method parser]`` is a mention, which relations and clusters call 3.
        relations: Head, tail, type.
        clusters: Mentions that mean the same.
        keys: What was pressed at 120x36, separated by blanks; ``D`` is the last one.
    """

    model: str
    marked: str
    relations: tuple[tuple[int, int, str], ...]
    clusters: tuple[tuple[int, ...], ...]
    keys: str

    @property
    def text(self) -> str:
        return _MARK.sub(r"\3", self.marked)

    def gold(self, symmetric: frozenset[str]) -> Truth:
        """Mentions, relations and clusters by the places of their characters."""
        spans: dict[int, tuple[int, int]] = {}
        labels: dict[int, str] = {}
        taken = 0
        for found in _MARK.finditer(self.marked):
            start = found.start() - taken
            number, label, surface = int(found[1]), found[2], found[3]
            spans[number], labels[number] = (start, start + len(surface)), label
            taken += len(found[0]) - len(surface)
        relations = ((spans[head], spans[tail], label) for head, tail, label in self.relations)
        return (
            frozenset((*spans[number], labels[number]) for number in spans),
            frozenset(_relation(*relation, symmetric) for relation in relations),
            frozenset(frozenset(spans[number] for number in mates) for mates in self.clusters),
        )


def _relation(
    head: tuple[int, int], tail: tuple[int, int], label: str, symmetric: frozenset[str]
) -> tuple[int, int, int, int, str]:
    first, second = sorted((head, tail)) if label in symmetric else (head, tail)
    return (*first, *second, label)


ABSTRACTS = {
    "weather": Abstract(
        "sci",
        "We present a [1:Method constrained decoder] for [2:Task generating weather bulletins] from [3:Material sensor tables]. "
        "The [4:Generic decoder] interleaves a [5:Method finite-state grammar] with a [6:Method neural language model], so that "
        "[16:OtherScientificTerm place names] and [17:OtherScientificTerm temperatures] are never altered. We train [7:Generic it] "
        "on the [8:Material Fjord corpus], a collection of 4,200 bulletins in two languages. Compared with a [9:Method template "
        "system], our [10:Generic decoder] raises [11:Metric BLEU] by 3.1 points and halves the [12:Metric rate of factual "
        "errors]. A [13:Method copy mechanism] without the [14:Generic grammar] produces fluent text but fails on "
        "[15:OtherScientificTerm rare place names].",
        (
            (1, 2, "USED-FOR"), (3, 2, "USED-FOR"), (5, 6, "CONJUNCTION"), (5, 4, "PART-OF"), (6, 4, "PART-OF"),
            (16, 17, "CONJUNCTION"), (8, 7, "USED-FOR"), (10, 9, "COMPARE"), (11, 10, "EVALUATE-FOR"),
            (12, 10, "EVALUATE-FOR"), (11, 12, "CONJUNCTION"),
        ),
        ((1, 4, 7, 10), (5, 14)),
        "M enter x 4 1 enter x enter x escape Y a enter 6 enter Y a s d 4 enter y y enter r j 7 enter "
        "enter x 6 y enter r r enter r t 7 enter enter H 6 x enter enter D",
    ),
    "underwater": Abstract(
        "sci",
        "[1:Task Estimating the depth of underwater scenes] from a [2:Material single image] is hard because light scatters. We "
        "introduce [3:Method TurbidNet], a [4:Method two-stage network] that first restores colour and then predicts "
        "[5:OtherScientificTerm depth maps]. The [6:Generic network] is trained with a [7:Method self-supervised loss] on "
        "[8:Material stereo videos] from the [9:Material ReefDive dataset], and needs no [10:OtherScientificTerm ground-truth "
        "depth]. On [11:Material ReefDive], [12:Method TurbidNet] lowers the [13:Metric absolute relative error] by 12 % over "
        "[14:Method MonoDepth] and outperforms an [15:Method image enhancement baseline]. Ablation experiments show that the "
        "[16:Method self-supervised loss] and [17:Task colour restoration] contribute equally.",
        (
            (2, 1, "USED-FOR"), (3, 4, "HYPONYM-OF"), (4, 5, "USED-FOR"), (7, 6, "USED-FOR"), (8, 6, "USED-FOR"),
            (8, 9, "PART-OF"), (11, 12, "EVALUATE-FOR"), (13, 12, "EVALUATE-FOR"), (12, 14, "COMPARE"),
            (12, 15, "COMPARE"), (16, 17, "CONJUNCTION"),
        ),
        ((3, 6, 12), (9, 11), (7, 16)),
        "M enter enter x x enter enter enter enter enter enter enter x x enter escape H s enter x H 2 x enter Y f "
        "H r l 4 enter enter H H 4 enter 2 enter f j 2 D",
    ),
    "permafrost": Abstract(
        "science",
        "[1:Process Thawing] [2:Material permafrost] releases [3:Material dissolved organic carbon] into [4:Material Arctic "
        "streams]. We measured the [5:Data carbon concentration] of 31 [6:Material streams] with [7:Method fluorescence "
        "spectroscopy] and compared the [21:Data results] with a [8:Method hydrological model]. [9:Material Streams] below "
        "[10:Material retrogressive thaw slumps] carried more [11:Material sediment], and the [12:Material sediment] adsorbed "
        "up to a third of the [13:Material dissolved organic carbon]. The [14:Method hydrological model] underestimates "
        "[15:Process adsorption] because it ignores [17:Material mineral surfaces]. Our [18:Data measurements] suggest that "
        "[19:Material slumps] delay the [20:Process release] of [22:Material carbon dioxide].",
        (),
        ((3, 13), (8, 14), (11, 12), (10, 19)),
        "S h 1 enter x enter enter x x S enter x enter enter x S enter S enter enter x enter x 3 S enter enter x x "
        "S enter enter S 2 enter x enter x enter e S 4 enter enter x S enter enter D",
    ),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ABSTRACTS))
    parser.add_argument("--play", action="store_true", help="correct the first one by hand")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SCIEXTRACT_HOME"] = f"{folder}/home"
        pressed = items = 0
        for name in options.names or ABSTRACTS:
            path, keys = prepare(Path(folder), name), ABSTRACTS[name].keys.split()
            if options.play:
                subprocess.run([*DESK, str(path), "--no-predict"], env=environment(), check=True)
            else:
                press(path, keys)
            counted, right = score(path, ABSTRACTS[name])
            parts = [len(part) for part in ABSTRACTS[name].gold(frozenset())]
            pressed, items = pressed + len(keys), items + sum(parts)
            each = f"{len(keys) / sum(parts):.2f} for each of {'/'.join(map(str, parts))} items"
            print(f"{name}: {len(keys)} keys, {counted} by the desk's count, {each}; {right}")
        print(f"all: {pressed} keys, {items} items, {pressed / items:.2f} net keys a gold item")


def prepare(folder: Path, name: str) -> Path:
    """A project with the abstract, predicted."""
    abstract, path = ABSTRACTS[name], folder / f"{name}.sciextract"
    (folder / f"{name}.txt").write_text(abstract.text)
    schema = "scierc" if abstract.model == "sci" else abstract.model
    with create_project(path, load_schema(schema)) as project:
        import_files(project, [str(folder / f"{name}.txt")])
        predict_project(project, ModelChoice(abstract.model, candidates=True).load())
    return path


def press(path: Path, keys: list[str]) -> None:
    """Press keys in a terminal of 120 columns and 36 lines, and leave."""
    with started((*DESK, path.name, "--no-predict"), path.parent, (120, 36)) as terminal:
        terminal.open("Relations")
        terminal.settle()
        for key in keys:
            terminal.repaint(key)
        terminal.leave()


def score(path: Path, abstract: Abstract) -> tuple[int, str]:
    """The keys that were pressed, and whether what is there is the gold."""
    with open_project(path, read=True) as project:
        symmetric = frozenset(project.schema.symmetric_labels)
        found, gold = truth_of(project, symmetric), abstract.gold(symmetric)
        pressed = count_keys(project.connection, 1)
    if found == gold:
        return pressed, "exactly the gold"
    wrong = [sorted(map(str, a ^ b)) for a, b in zip(found, gold, strict=True)]
    return pressed, f"NOT the gold: {wrong}"


def truth_of(project: Project, symmetric: frozenset[str]) -> Truth:
    """What is accepted, or still undecided, in the only abstract."""
    doc = project.document_state(1)
    spans = {row.id: (row.char_start, row.char_end) for row in doc.entities}
    kept = [row for row in doc.entities if row.state is not State.REJECTED]
    relations = [row for row in doc.relations if row.state is not State.REJECTED]
    clusters: dict[str, set[tuple[int, int]]] = {}
    for link in doc.links:
        if link.state is not State.REJECTED:
            clusters.setdefault(link.cluster_id, set()).add(spans[link.entity_id])
    return (
        frozenset((*spans[row.id], row.label) for row in kept),
        frozenset(_relation(spans[r.head], spans[r.tail], r.label, symmetric) for r in relations),
        frozenset(map(frozenset, clusters.values())),
    )


if __name__ == "__main__":
    main()
