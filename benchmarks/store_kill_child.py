"""The victim of ``store_kills.py``: works on a project and reports every finished action before it begins the next.

A report is one JSON line with what must be in the file from then on. The process ends when it is killed.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.store_corpus import annotated, annotations_for, batches, generated_record
from sciextract.documents.document import AnnotatedDocument, ModelId
from sciextract.documents.schema_file import load_schema
from sciextract.errors import ActionRefusedError, UndoRefusedError
from sciextract.store import (
    EntityRef,
    Outcome,
    Project,
    create_project,
    opening,
)
from sciextract.store.actions.bulk import counting, spreading
from sciextract.store.ingest import Import, ModelRun

Report = dict[str, Any]
BATCH = 10
ITEMS = 24


def do_import(project: Project, chance: random.Random) -> Iterator[Report]:
    run = Import(project, f"import:{chance.random()}.jsonl", {"path": "killed.jsonl"})
    schema, first = project.schema, chance.randrange(10**6, 10**9)
    for batch in batches(range(first, first + 10**6), BATCH):
        made = [annotated(generated_record(number), ITEMS, schema) for number in batch]
        run.add([(document, ()) for document in made])
        yield {"keys": [annotated.document.doc_key for annotated in made]}


def do_actions(project: Project, chance: random.Random) -> Iterator[Report]:
    actions, numbers, labels = project.actions, project.numbers(), project.schema.entity_labels
    while True:
        number = chance.choice(numbers)
        entities = project.document_state(number).entities
        if entities:
            ref = EntityRef(chance.choice(entities).id)
            yield from _outcome(
                chance.choice(
                    (
                        partial(actions.accept, number, ref),
                        partial(actions.reject, number, ref),
                        partial(actions.set_label, number, ref, chance.choice(labels)),
                        partial(actions.flag, number, chance.random() < 0.5),
                    )
                )
            )


def do_bulk(project: Project, chance: random.Random) -> Iterator[Report]:
    """Project-wide decisions, each with the backup before it, and their undo."""
    actions, numbers = project.actions, project.numbers()
    while True:
        number = chance.choice(numbers)
        ref = chance.choice(project.document_state(number).entities).id
        yield from _outcome(partial(actions.accept_above, round(chance.random(), 2)))
        yield from _outcome(partial(_spread, project, number, ref))
        yield from _outcome(partial(_turn, project.undo))


def do_undo(project: Project, chance: random.Random) -> Iterator[Report]:
    """Undo and redo across cascades and bulk decisions."""
    for number in project.numbers()[:6]:
        for entity in project.document_state(number).entities[:3]:
            yield from _outcome(partial(project.actions.reject, number, EntityRef(entity.id)))
    yield from _outcome(partial(project.actions.accept_above, 0.7))
    while True:
        turn = project.undo if chance.random() < 0.5 else project.redo
        yield from _outcome(partial(_turn, turn))


def do_run(project: Project, chance: random.Random) -> Iterator[Report]:
    """Runs of ever new models over all documents."""
    numbers = project.numbers()
    while True:
        run = ModelRun(
            project, ModelId("killed", f"{chance.getrandbits(64):016x}"), {"entities": 0.5}
        )
        for batch in batches(numbers, BATCH):
            run.add([(number, _predict(project, number, chance)) for number in batch])
            yield {"predicted": [run.source, batch]}
        run.finish()
        yield {"finished": run.id}


def do_backup(project: Project, chance: random.Random) -> Iterator[Report]:
    while True:
        yield from _outcome(partial(project.actions.flag, 1, chance.random() < 0.5))
        yield {"backup": str(project.backup("kill test").path)}


def do_create(path: Path, chance: random.Random) -> Iterator[Report]:
    schema = load_schema("scierc")
    for turn in range(10**6):
        made = path.with_name(f"made-{turn}.sciextract")
        create_project(made, schema, "killed").close()
        yield {"created": str(made)}


IN_PROJECT: dict[str, Callable[[Project, random.Random], Iterator[Report]]] = {
    "import": do_import,
    "single actions": do_actions,
    "bulk actions": do_bulk,
    "undo and redo": do_undo,
    "model run": do_run,
    "backup": do_backup,
}
ON_FILES: dict[str, Callable[[Path, random.Random], Iterator[Report]]] = {
    "new project": do_create,
}
KINDS = (*IN_PROJECT, *ON_FILES)


def _turn(undo_or_redo: Callable[[], tuple[object, Outcome]]) -> Outcome:
    return undo_or_redo()[1]


def _outcome(action: Callable[[], Outcome]) -> Iterator[Report]:
    """The event of an action; one that is refused, or changes nothing, has none."""
    try:
        outcome = action()
    except (ActionRefusedError, UndoRefusedError):
        return
    if outcome.event_id is not None:
        yield {"event": outcome.event_id}


def _spread(project: Project, number: int, ref: str) -> Outcome:
    """One decision for all identical strings of the project."""
    *_, count = counting(project, number, ref)
    return [Outcome(None, 0, 0), *spreading(project, number, ref, count)][-1]


def _predict(project: Project, number: int, chance: random.Random) -> AnnotatedDocument:
    document = project.document_state(number).stored.document
    found = annotations_for(document, chance.randrange(ITEMS), project.schema)
    return AnnotatedDocument(document, found)


def main(kind: str, path: str, seed: str) -> None:
    chance = random.Random(int(seed))
    if kind in ON_FILES:
        steps = ON_FILES[kind](Path(path), chance)
    else:
        steps = IN_PROJECT[kind](opening.open_project(path, "killed"), chance)
    _say({"ready": True})
    for report in steps:
        _say(report)


def _say(report: Report) -> None:
    os.write(sys.stdout.fileno(), (json.dumps(report) + "\n").encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
