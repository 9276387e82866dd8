"""A type that is split: how often the first of the suggested new types is right, for mentions that have none yet.

``python benchmarks/split_type.py [--data FOLDER] [--results FILE] [--seeds N] [--test N] [--decided N]``. The two most
frequent types of a data set are one type at first, under names that no model knows. Of each seed one line in the results
file: the share of right suggestions in the other abstracts once the mentions of a few have their types, and the share of
the more frequent of both there.
"""

from __future__ import annotations

import argparse
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.draws import Draw, Row, measure, print_table
from sciextract.documents.annotations import Annotations, Layer, Span
from sciextract.errors import ActionRefusedError
from sciextract.store import EntityRef, Project, create_project
from sciextract.store.ingest import Import
from sciextract.store.type_changes import split_type
from sciextract.workflows.learn import suggest_parts

WHOLE = "Whole"
METHODS = ("suggested", "more frequent")


def measured(draw: Draw, options: argparse.Namespace) -> Row:
    """The shares of one draw, in percent."""
    items = [*draw.test, *draw.rest][: options.test]
    counts = Counter(entity.label for item in items for entity in item.annotations.entities)
    parts = {label: f"Part{place}" for place, (label, _) in enumerate(counts.most_common(2), 1)}
    types = tuple(
        replace(type_, label=WHOLE if type_.label in parts else f"Other {type_.label}")
        for type_ in draw.schema.entities
        if type_.label != [*parts][1]
    )
    gold: dict[tuple[str, Span], str | None] = {}
    with TemporaryDirectory() as folder:
        schema = replace(draw.schema, entities=types, relations=(), coreference=False)
        project = create_project(Path(folder) / "p.sciextract", schema, "measure")
        coming = Import(project, "import:gold", {}, done=(Layer.ENTITIES,))
        for item in items:
            entities = []
            for entity in item.annotations.entities:
                gold[item.document.text_sha256, entity.span] = parts.get(entity.label)
                label = WHOLE if entity.label in parts else f"Other {entity.label}"
                entities.append(replace(entity, label=label))
            coming.add([(replace(item, annotations=Annotations(tuple(entities))), ())])
        split_type(project, "entity", WHOLE, [*parts.values()])
        row = _suggest(project, gold, [*parts.values()], options.decided)
        project.close()
    return row


def _suggest(
    project: Project, gold: dict[tuple[str, Span], str | None], parts: list[str], decided: int
) -> Row:
    numbers = project.numbers()
    for number in numbers[:decided]:
        doc = project.document_state(number)
        for mention in doc.entities:
            part = gold[doc.stored.document.text_sha256, mention.fragments[0]]
            with suppress(ActionRefusedError):  # gold of two types on one place
                if mention.label == WHOLE and part:
                    project.actions.set_label(number, EntityRef(mention.id), part)
    suggest_parts(project, WHOLE, parts)
    right, seen = 0, Counter[str]()
    for number in numbers[decided:]:
        doc = project.document_state(number)
        for mention in doc.entities:
            part = gold[doc.stored.document.text_sha256, mention.fragments[0]]
            if mention.label == WHOLE and part:
                seen[part] += 1
                right += bool(mention.alternatives) and mention.alternatives[0].label == part
    shares = 100 * right / seen.total(), 100 * max(seen.values()) / seen.total()
    return dict(zip(METHODS, shares, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decided", type=int, default=10)
    rows = measure(parser, "split-type.jsonl", measured)
    cells = [lambda row: float(row["suggested"]), lambda row: float(row["more frequent"])]
    print_table(("labels", "right, in %", *METHODS), rows, [("first suggestion", cells)])


if __name__ == "__main__":
    main()
