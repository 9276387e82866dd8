"""Work that is divided: what an adapter learns from the merged copies of two or three annotators who make mistakes.

``python benchmarks/divided_work.py [--data FOLDER] [--results FILE] [--seeds N] [--abstracts N] [--overlap SHARE]
[--missed SHARE] [--wrong SHARE] [--test N]``. Each annotator leaves out some mentions and gives others a wrong type, and
finishes what ``divide`` gave. Of each draw one line in the results file. By the number of people it has F1 of what is learned
from all abstracts by one of them (``one``), from the share of one (``share``), from the merged copies (``merged``), from these
after their differences were decided, by somebody without mistakes where there are two annotators and by majority where there
are three (``decided``), and, as if what nobody looked at were absent, from the merged copies of people who finished the shares
of others as well, with nothing in them (``as none``). For several rates of mistakes it has the F1 of an annotator against the
gold, and Krippendorff's alpha of three, in the shared abstracts and in all as if all had annotated them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from random import Random
from shutil import copyfile
from tempfile import TemporaryDirectory

from benchmarks.draws import Draw, Row, measure, print_table
from sciextract.documents.annotations import Annotations, Entity, Layer, Span, State, new_id
from sciextract.documents.document import AnnotatedDocument
from sciextract.metrics.agreement import token_alpha
from sciextract.metrics.counts import scorable
from sciextract.metrics.differences import AnnotatedItem
from sciextract.metrics.scorer import score
from sciextract.snapshot.documents import TrainingDocument
from sciextract.store import DocumentState, create_project, open_project
from sciextract.store.actions.editing import Edit
from sciextract.store.document_state import Context
from sciextract.store.queries import read_queue
from sciextract.workflows.adjudicate import decide_all, disputes
from sciextract.workflows.agreement import agree
from sciextract.workflows.disagreements import Dispute
from sciextract.workflows.divide import SHARED, divide, merge_projects
from sciextract.workflows.import_files import import_items
from sciextract.workflows.learn import training_documents

NAMES = ("anna", "ben", "cleo")
METHODS = ("one", "share", "merged", "decided", "as none")
RATES = (0.05, 0.1, 0.2)
Marks = Mapping[tuple[Span, ...], str]
"""The type of each mention, by its place; of a place with two types, one."""
Work = Mapping[str, Marks]
"""What an annotator marks, or would, by the hash of the text."""


def marks_of(item: AnnotatedDocument) -> Marks:
    """The mentions of an abstract."""
    return {entity.fragments: entity.label for entity in item.annotations.entities}


def with_mistakes(
    marks: Marks, labels: Sequence[str], missed: float, wrong: float, random: Random
) -> Marks:
    """What an annotator marks who misses some mentions, and gives some of the others a wrong type."""
    found = {}
    for place, label in marks.items():
        if random.random() >= missed:
            others = [other for other in labels if other != label]
            found[place] = random.choice(others) if random.random() < wrong else label
    return found


def works(draw: Draw, truth: Work, missed: float, wrong: float) -> list[Work]:
    """What each annotator would mark in all abstracts: the same, whatever their share is."""
    labels = sorted(draw.schema.entity_labels)
    return [
        {
            sha: with_mistakes(marks, labels, missed, wrong, Random(f"{draw.seed} {name} {sha}"))
            for sha, marks in truth.items()
        }
        for name in NAMES
    ]


def annotate(path: Path, queues: Sequence[str] | None, work: Work) -> None:
    """The owner of a copy marks what they find in the abstracts of some queues, or in all unfinished ones, and finishes them."""

    def on_document(doc: DocumentState, context: Context) -> None:
        edit = Edit(doc, context)
        for place, label in work.get(doc.stored.document.text_sha256, {}).items():
            edit.add_entity(place, label)
        edit.mark_done((Layer.ENTITIES,), "refuse")

    with open_project(path, path.stem) as project:
        saved = [read_queue(project, name) for name in queues or ()]
        numbers = [number for queue in saved if queue for number in queue.numbers]
        if not saved:
            rows = project.connection.execute(
                "SELECT document_id FROM progress WHERE entities <> 'done'"
            )
            numbers = [number for (number,) in rows]
        project.perform("done", {}, numbers, on_document)


def finished_in(path: Path) -> list[TrainingDocument]:
    """What a project has to learn from."""
    with open_project(path, read=True) as project:
        return training_documents(project, len(project.numbers()))


def divide_among(base: Path, work: Sequence[Work], overlap: float) -> list[Path]:
    """The copies of people who have finished what is theirs."""
    with open_project(base, read=True) as project:
        copies = [Path(copy.project) for copy in divide(project, NAMES[: len(work)], overlap)]
    for path, marks in zip(copies, work, strict=True):
        annotate(path, (path.stem, SHARED), marks)
    return copies


def merge(copies: Sequence[Path]) -> list[TrainingDocument]:
    """What is finished when the first person has merged the copies of the others."""
    with open_project(copies[0], copies[0].stem) as first:
        for path in copies[1:]:
            merge_projects(first, path)
    return finished_in(copies[0])


def decide(copies: Sequence[Path], judges: Sequence[Work]) -> list[TrainingDocument]:
    """What is finished when the differences with each other annotator are decided as somebody else would."""
    with open_project(copies[0], copies[0].stem) as first:
        texts = {n: first.document(n).document.text_sha256 for n in first.numbers()}
        for path, judge in zip(copies[1:], judges, strict=True):
            source = f"import:{path.name}"
            theirs = [
                dispute
                for dispute in disputes(first, source)
                if prefers_theirs(dispute, judge[texts[dispute.number]])
            ]
            decide_all(first, theirs, "theirs", only_these=True)
            decide_all(first, list(disputes(first, source)), "mine", only_these=True)
    return finished_in(copies[0])


def prefers_theirs(dispute: Dispute, judge: Marks) -> bool:
    """Whether somebody else has what the other side has, and not what is here."""

    def agrees(item: AnnotatedItem | None) -> bool:
        return item is not None and judge.get(item.fragments[0]) == item.label

    mine, theirs = dispute.difference.first, dispute.difference.second
    return not agrees(mine) and (theirs is None or agrees(theirs))


def measured(draw: Draw, options: argparse.Namespace) -> Row:
    """F1 by the number of people and by method, and what the mistakes do by their rate."""
    items = draw.rest[: options.abstracts]
    truth = {item.document.text_sha256: marks_of(item) for item in items}
    row: Row = {"mistakes": {}}

    def learned(finished: Sequence[TrainingDocument]) -> float:
        return round(draw.report(draw.predict(finished)).ner.all.f1, 2)

    with TemporaryDirectory() as folder:
        base, alone = Path(folder) / "base.sciextract", Path(folder) / "alone.sciextract"
        with create_project(base, draw.schema, "owner") as project:
            import_items(
                project, "abstracts", [replace(item, annotations=Annotations()) for item in items]
            )
        copyfile(base, alone)
        work = works(draw, truth, options.missed, options.wrong)
        annotate(alone, None, work[0])
        one = learned(finished_in(alone))
        for people in (2, 3):
            judges = [truth] if people == 2 else [work[2], work[1]]
            copies = divide_among(base, work[:people], options.overlap)
            row[str(people)] = found = {"one": one, "share": learned(finished_in(copies[0]))}
            found["merged"] = learned(merge(copies))
            found["decided"] = learned(decide(copies, judges))
            delete(copies)
            copies = divide_among(base, work[:people], options.overlap)
            for path in copies:
                annotate(path, None, {})
            found["as none"] = learned(merge(copies))
            delete(copies)
        for rate in RATES:
            work = works(draw, truth, rate, rate)
            copies = divide_among(base, work, options.overlap)
            values = agreement(copies, items, work)
            row["mistakes"][f"{rate:.0%}"] = [round(value, 2) for value in values]
            delete(copies)
    return row


def agreement(
    copies: Sequence[Path], items: Sequence[AnnotatedDocument], work: Sequence[Work]
) -> Iterator[float]:
    """F1 of an annotator against the gold, alpha of the shared abstracts, and alpha of all as if all had annotated them."""
    groups = [[with_marks(item, marks) for marks in work] for item in items]
    quality = score([*map(scorable, items)], [scorable(group[0]) for group in groups])
    yield quality.ner.all.f1
    with ExitStack() as stack:
        opened = [stack.enter_context(open_project(path, read=True)) for path in copies]
        yield 100 * (agree(opened).tokens.all.alpha or 0.0)
    yield 100 * (token_alpha(groups).all.alpha or 0.0)


def with_marks(item: AnnotatedDocument, work: Work) -> AnnotatedDocument:
    """The abstract as an annotator would have it."""
    marks = work[item.document.text_sha256].items()
    entities = tuple(Entity(new_id(), place, label, None, State.ADDED) for place, label in marks)
    return replace(item, annotations=Annotations(entities))


def delete(copies: Sequence[Path]) -> None:
    """Delete copies, so that the next ones can have their names."""
    for path in copies:
        path.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--abstracts", type=int, default=30)
    parser.add_argument("--overlap", type=float, default=0.2)
    parser.add_argument("--missed", type=float, default=0.1)
    parser.add_argument("--wrong", type=float, default=0.1)
    rows = measure(parser, "divided-work.jsonl", measured)

    def f1(people: int, method: str) -> Callable[[Row], float]:
        return lambda row: float(row[str(people)][method])

    def of_mistakes(rate: float, place: int) -> Callable[[Row], float]:
        return lambda row: float(row["mistakes"][f"{rate:.0%}"][place])

    lines = [(f"{people} people", [f1(people, method) for method in METHODS]) for people in (2, 3)]
    print_table(("labels", "divided among", *METHODS), rows, lines)
    names = ("F1 of an annotator", "100 alpha, shared abstracts", "100 alpha, all abstracts")
    rates = [
        (f"{rate:.0%} + {rate:.0%}", [of_mistakes(rate, place) for place in range(3)])
        for rate in RATES
    ]
    print_table(("labels", "missed + wrong", *names), rows, rates)


if __name__ == "__main__":
    main()
