"""Whatever two people, two models and imports do to a project, its rules hold and its log tells the state.

For a long run: ``SCIEXTRACT_STORE_EXAMPLES=200 pytest tests/property/test_store_machine.py``.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from sciextract.documents.annotations import Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import validate_annotations
from sciextract.store import Completeness, EntityRef, Project, RelationRef, create_project
from sciextract.store.ingest import Import, ModelRun
from sciextract.store.maintenance.backup import copy_project
from sciextract.store.rows import BY_PERSONS, original_of
from sciextract.workflows.divide import merge_projects
from sciextract.workflows.export_project import ExportJob
from sciextract.workflows.import_files import import_files
from tests.property.store_rules import StoreRules
from tests.property.store_strategies import (
    DOCUMENTS,
    LABELS,
    RELATIONS,
    SCORES,
    attributes,
    foreign_annotations,
    fragments,
    layers,
    predictions,
    seconds,
    some,
)
from tests.tiers import examples
from tests.unit.store.projects import (
    FIRST_MODEL,
    SECOND_MODEL,
    all_state,
    counted,
    small_schema,
    spread,
)


def standing(project: Project) -> dict[str, Any]:
    """What holds in a project without the numbers that each project gives anew: items, who decided them, progress."""
    query = "SELECT e.id, s.name FROM event e JOIN source s ON s.id = e.author_id"
    authors = dict(project.connection.execute(query).fetchall())
    found: dict[str, Any] = {}
    for number in project.numbers():
        doc = project.document_state(number)
        items = {
            (row.TABLE, row.key, row.state, row.score, tuple(sorted(original_of(row).items(), key=str)).__repr__(),
             authors[row.event_id] if row.state in BY_PERSONS else "")
            for row in doc.items_of()
        }  # fmt: skip
        assert doc.progress is not None
        found[doc.text] = items, replace(doc.progress, warned=0)
    return found


LONG = os.environ.get("SCIEXTRACT_STORE_EXAMPLES")


class StoreMachine(StoreRules):
    """Every rule does something that people, models or imports do; refusals change nothing."""

    has_travelled = False

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        self.import_file(data, self.authors[0], again=False)

    @precondition(lambda self: not self.has_travelled)
    @rule()
    def travel(self) -> None:
        """Into an exchange file and out of it into an empty project: what people did is there again."""
        self.has_travelled = True
        here = self.authors[0]
        with tempfile.TemporaryDirectory() as folder:
            lines = Path(folder) / "all.jsonl"
            ExportJob("jsonl", str(lines), undecided=True).run(here)
            with create_project(Path(folder) / "new.sciextract", here.schema) as there:
                if here.numbers():
                    import_files(there, [str(lines)], add_labels=True)
                assert standing(there) == standing(here)

    @rule()
    def keep_copy(self) -> None:
        copy = self.folder / "copy.sciextract"
        copy.unlink(missing_ok=True)
        copy_project(self.authors[0].connection, self.path, copy)

    @precondition(lambda self: (self.folder / "copy.sciextract").exists())
    @rule(who=st.integers(0, 1))
    def merge_copy(self, who: int) -> None:
        """An earlier copy comes back: no decision of today changes, and merging again does nothing."""
        project, copy, before = (
            self.authors[who],
            self.folder / "copy.sciextract",
            self.human_rows(),
        )
        merge_projects(project, copy)
        after = self.human_rows()
        assert {place: after.get(place) for place in before} == before
        assert merge_projects(project, copy).counts.items == 0

    @rule(data=st.data(), who=st.integers(0, 1), again=st.booleans())
    def bring_in(self, data: st.DataObject, who: int, again: bool) -> None:
        self.import_file(data, self.authors[who], again)

    @rule(data=st.data(), who=st.integers(0, 1), model=st.booleans(), background=st.booleans())
    def run_model(self, data: st.DataObject, who: int, model: bool, background: bool) -> None:
        project, number = self.authors[who], self.some_number(data)
        if number is None:
            return
        identity = FIRST_MODEL if model else SECOND_MODEL
        before = self.human_rows()
        run = ModelRun(project, identity, {}, background=background and len(set(self.names)) > 1)
        of = project.document_state(number).stored.document
        said = data.draw(predictions(of))
        run.add([(number, AnnotatedDocument(of, said, identity))])
        run.finish()
        assert self.human_rows() == before

    @rule(data=st.data(), who=st.integers(0, 1), accept=st.booleans(), seconds=seconds)
    def decide(self, data: st.DataObject, who: int, accept: bool, seconds: float | None) -> None:
        doc, actions = self.some_draft(data), self.authors[who].actions
        item = self.some_item(data, doc)
        if doc and item:
            number, act = doc.stored.number, actions.accept if accept else actions.reject
            self.attempt(lambda: act(number, item, seconds))

    @rule(data=st.data(), who=st.integers(0, 1), label=st.sampled_from((*LABELS, *RELATIONS)))
    def relabel(self, data: st.DataObject, who: int, label: str) -> None:
        doc, actions = self.some_draft(data), self.authors[who].actions
        item = self.some_item(data, doc)
        if doc and isinstance(item, EntityRef | RelationRef):
            number, found = doc.stored.number, item
            self.attempt(lambda: actions.set_label(number, found, label))

    @rule(data=st.data(), who=st.integers(0, 1), said=attributes)
    def say(self, data: st.DataObject, who: int, said: tuple[str, str]) -> None:
        doc = self.some_draft(data)
        if doc:
            rows = [*doc.entities, *doc.relations]
            target = data.draw(st.sampled_from(["", *(row.id for row in rows)]))
            number, actions = doc.stored.number, self.authors[who].actions
            self.attempt(lambda: actions.set_attribute(number, target, *said))

    @rule(
        data=st.data(),
        who=st.integers(0, 1),
        edge=st.sampled_from(["start", "end"]),
        tokens=st.integers(-2, 2),
    )
    def move_edge(self, data: st.DataObject, who: int, edge: str, tokens: int) -> None:
        doc, entity = self.some_entity(data)
        if doc and entity:
            number, actions = doc.stored.number, self.authors[who].actions
            self.attempt(lambda: actions.move_edge(number, entity, edge, tokens))

    @rule(data=st.data(), who=st.integers(0, 1))
    def set_fragments(self, data: st.DataObject, who: int) -> None:
        doc, entity = self.some_entity(data)
        if doc and entity:
            chosen = data.draw(fragments(doc.stored.document))
            number, actions = doc.stored.number, self.authors[who].actions
            self.attempt(lambda: actions.set_fragments(number, entity, chosen))

    @rule(data=st.data(), who=st.integers(0, 1), label=st.sampled_from(LABELS))
    def add_entity(self, data: st.DataObject, who: int, label: str) -> None:
        doc, actions = self.some_draft(data), self.authors[who].actions
        if doc:
            chosen, number = data.draw(fragments(doc.stored.document)), doc.stored.number
            self.attempt(lambda: actions.add_entity(number, chosen, label))

    @rule(data=st.data(), who=st.integers(0, 1), label=st.sampled_from(RELATIONS))
    def add_relation(self, data: st.DataObject, who: int, label: str) -> None:
        doc, actions = self.some_draft(data), self.authors[who].actions
        if doc and doc.entities:
            ids = st.sampled_from([entity.id for entity in doc.entities])
            number, head, tail = doc.stored.number, data.draw(ids), data.draw(ids)
            self.attempt(lambda: actions.add_relation(number, head, tail, label))

    @rule(data=st.data(), who=st.integers(0, 1))
    def invert(self, data: st.DataObject, who: int) -> None:
        doc, actions = self.some_draft(data), self.authors[who].actions
        if doc and doc.relations:
            chosen = data.draw(st.sampled_from([relation.id for relation in doc.relations]))
            number = doc.stored.number
            self.attempt(lambda: actions.invert(number, chosen))

    @rule(data=st.data(), who=st.integers(0, 1))
    def join(self, data: st.DataObject, who: int) -> None:
        doc, entity = self.some_entity(data)
        if doc and entity and doc.clusters:
            chosen = data.draw(st.sampled_from([cluster.id for cluster in doc.clusters]))
            number, actions = doc.stored.number, self.authors[who].actions
            self.attempt(lambda: actions.join(number, entity, chosen))

    @rule(data=st.data(), who=st.integers(0, 1))
    def new_cluster(self, data: st.DataObject, who: int) -> None:
        doc, actions = self.some_draft(data), self.authors[who].actions
        if doc and doc.entities:
            mentions = data.draw(some([entity.id for entity in doc.entities]))
            number = doc.stored.number
            self.attempt(lambda: actions.new_cluster(number, mentions))

    @rule(data=st.data(), who=st.integers(0, 1))
    def leave(self, data: st.DataObject, who: int) -> None:
        doc, entity = self.some_entity(data)
        if doc and entity:
            number, actions = doc.stored.number, self.authors[who].actions
            self.attempt(lambda: actions.leave(number, entity))

    @rule(data=st.data(), who=st.integers(0, 1))
    def merge(self, data: st.DataObject, who: int) -> None:
        doc, actions = self.some_draft(data), self.authors[who].actions
        if doc and doc.clusters:
            ids = st.sampled_from([cluster.id for cluster in doc.clusters])
            number, one, other = doc.stored.number, data.draw(ids), data.draw(ids)
            self.attempt(lambda: actions.merge(number, one, other))

    @rule(data=st.data(), who=st.integers(0, 1))
    def split(self, data: st.DataObject, who: int) -> None:
        doc, actions = self.some_draft(data), self.authors[who].actions
        if doc and doc.links:
            link = data.draw(st.sampled_from(doc.links))
            number = doc.stored.number
            self.attempt(lambda: actions.split(number, link.cluster_id, link.entity_id))

    @rule(data=st.data(), who=st.integers(0, 1), everywhere=st.booleans())
    def apply_to_identical(self, data: st.DataObject, who: int, everywhere: bool) -> None:
        doc, entity = self.some_entity(data)
        if doc and entity:
            number, author = doc.stored.number, self.authors[who]
            if everywhere:
                self.as_counted(
                    lambda: counted(author, number, entity), lambda: spread(author, number, entity)
                )
            else:
                self.attempt(lambda: author.actions.apply_to_identical(number, entity))

    @rule(data=st.data(), who=st.integers(0, 1), score=st.sampled_from(SCORES), layers=layers)
    def accept_above(
        self, data: st.DataObject, who: int, score: float, layers: list[Layer]
    ) -> None:
        number, actions = self.some_number(data), self.authors[who].actions
        where = number if data.draw(st.booleans()) else None
        self.attempt(lambda: actions.accept_above(score, where, layers))

    @rule(
        data=st.data(),
        who=st.integers(0, 1),
        layers=layers,
        undecided=st.sampled_from(["refuse", "accept", "reject"]),
    )
    def mark_done(self, data: st.DataObject, who: int, layers: list[Layer], undecided: Any) -> None:
        number, actions = self.some_number(data), self.authors[who].actions
        if number is not None:
            self.attempt(lambda: actions.mark_done(number, layers, undecided))

    @rule(
        data=st.data(),
        who=st.integers(0, 1),
        layers=layers,
        completeness=st.sampled_from(tuple(Completeness)),
    )
    def set_completeness(
        self, data: st.DataObject, who: int, layers: list[Layer], completeness: Completeness
    ) -> None:
        doc, actions = self.some_draft(data), self.authors[who].actions
        # Done in spite of what waits is what mark_done refuses; an exchange file that says so is not believed.
        if doc and not (completeness is Completeness.DONE and doc.count_undecided(*layers)):
            number = doc.stored.number
            self.attempt(lambda: actions.set_completeness(number, completeness, layers))

    @rule(
        data=st.data(),
        who=st.integers(0, 1),
        flagged=st.booleans(),
        text=st.sampled_from(["", "see [12]", "\x00\ud800"]),
    )
    def remark(self, data: st.DataObject, who: int, flagged: bool, text: str) -> None:
        number, actions = self.some_number(data), self.authors[who].actions
        if number is not None:
            self.attempt(lambda: actions.flag(number, flagged))
            self.attempt(lambda: actions.note(number, text))

    @rule(who=st.integers(0, 1))
    def undo(self, who: int) -> None:
        self.attempt(self.authors[who].undo)

    @rule(who=st.integers(0, 1))
    def redo(self, who: int) -> None:
        self.attempt(self.authors[who].redo)

    @rule(data=st.data(), who=st.integers(0, 1))
    def undo_an_event(self, data: st.DataObject, who: int) -> None:
        project = self.authors[who]
        chosen = data.draw(st.sampled_from([event.id for event in project.log()]))
        self.attempt(lambda: project.undo(chosen))

    @rule(who=st.integers(0, 1))
    def undo_and_redo(self, who: int) -> None:
        project, before = self.authors[who], all_state(self.authors[0])
        if self.attempt(project.undo):
            project.redo()
            assert all_state(project) == before

    @rule(who=st.integers(0, 1))
    def reopen(self, who: int) -> None:
        before = all_state(self.authors[who])
        self.authors[who].close()
        self.authors[who] = self.opened(self.names[who])
        assert all_state(self.authors[who]) == before

    def import_file(self, data: st.DataObject, project: Project, again: bool) -> None:
        before = self.human_rows()
        name = data.draw(st.sampled_from(["a.jsonl", "b.jsonl"]))
        items = []
        for of in data.draw(st.lists(st.sampled_from(DOCUMENTS), min_size=1, max_size=2)):
            annotated = AnnotatedDocument(of, data.draw(foreign_annotations(of)))
            items.append((annotated, validate_annotations(annotated, small_schema())))
        _import(project, name, items)
        assert self.human_rows().items() >= before.items()
        self.imported_twice |= self.doubled()
        if again and not _repeats_itself(items):
            once = all_state(project)
            _import(project, name, items)
            assert all_state(project) == once


class OneAuthorMachine(StoreMachine):
    """One person alone in two windows can always go back to the beginning."""

    names = ("ann", "ann")

    def undo_an_event(self, *_: object) -> None:
        """Not here: what is taken back out of turn may stand in the way later."""

    def teardown(self) -> None:
        try:
            self.go_back()
        finally:
            super().teardown()

    def go_back(self) -> None:
        while self.attempt(self.authors[0].undo):
            pass
        assert all_state(self.authors[0]) == {}


def _import(project: Project, name: str, items: list[Any]) -> None:
    Import(project, f"import:{name}", {"path": name}).add(items)


def _repeats_itself(items: list[tuple[AnnotatedDocument, Any]]) -> bool:
    """Whether a file has a text or a mention twice: then it may say two things about the same."""
    said = [
        (item.document.text, entity and (entity.label, entity.fragments))
        for item, _ in items
        for entity in (None, *item.annotations.entities)
    ]
    return len(set(said)) < len(said)


def _settings(most: int) -> settings:
    return settings(
        max_examples=int(LONG or examples(most)),
        stateful_step_count=40 if LONG else 25,
        derandomize=not LONG,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


TestStore = StoreMachine.TestCase
TestStore.settings = _settings(60)
TestOneAuthor = OneAuthorMachine.TestCase
TestOneAuthor.settings = _settings(40)
