"""Whatever two people, two models and imports do to a project, its rules hold and its log tells the state.

For a long run: ``SCIEXTRACT_STORE_EXAMPLES=200 pytest tests/property/test_store_machine.py``.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from sciextract.documents import ids
from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, State
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.schema import validate_annotations
from sciextract.documents.spans import Span
from sciextract.errors import ActionRefusedError, UndoRefusedError
from sciextract.store import Project, open_project
from sciextract.store.actions.api import EntityRef, ItemRef, LinkRef, RelationRef
from sciextract.store.draft import Draft
from sciextract.store.ingest import Import, Run
from sciextract.store.rebuild import differing
from sciextract.store.rows import IN_VIEW, Completeness, Layer
from sciextract.store.summary import summarise
from sciextract.store.views import EVERYTHING
from tests.unit.store.projects import (
    FIRST_MODEL,
    SECOND_MODEL,
    all_state,
    document,
    new_project,
    small_schema,
)

TEXTS = (
    "A net and a net, the nets.",
    "e\u0301t α net 😀 a net",
    "A graph net.\r\nNet of graph; \ud800 net",
)
DOCUMENTS = tuple(document(text, f"d{index}") for index, text in enumerate(TEXTS))
LABELS = ("Method", "Task")
RELATIONS = ("Uses", "Like")
SCORES = (0.2, 0.5, 0.9)
HUMAN = ("accepted", "edited", "added", "rejected")
REFUSALS = (ActionRefusedError, UndoRefusedError)
LONG = os.environ.get("SCIEXTRACT_STORE_EXAMPLES")

layers = st.lists(st.sampled_from(tuple(Layer)), min_size=1, unique=True)
seconds = st.sampled_from([None, 1.5])


@st.composite
def spans(draw: st.DrawFn, of: Document) -> Span:
    """Usually whole tokens, few of them, so that the same ones come again."""
    tokens = of.tokens.spans
    first = draw(st.integers(0, len(tokens) - 1))
    last = min(first + draw(st.integers(0, 1)), len(tokens) - 1)
    cut = draw(st.integers(0, 9)) == 0
    return Span(tokens[first].char_start, tokens[last].char_end - cut * (last > first))


@st.composite
def fragments(draw: st.DrawFn, of: Document) -> tuple[Span, ...]:
    first, second = sorted((draw(spans(of)), draw(spans(of))))
    apart = first.char_end < second.char_start and draw(st.booleans())
    return (first, second) if apart else (first,)


@st.composite
def entities(draw: st.DrawFn, of: Document, state: st.SearchStrategy[State]) -> tuple[Entity, ...]:
    label = st.sampled_from((*LABELS, "Foreign"))
    made = draw(st.lists(fragments(of), max_size=5))
    score = st.sampled_from(SCORES)
    return tuple(
        Entity(f"E{index}", each, draw(label), draw(score), draw(state))
        for index, each in enumerate(made)
    )


@st.composite
def predictions(draw: st.DrawFn, of: Document) -> Annotations:
    """What a model says: scores everywhere, every mention in at most one cluster."""
    found = draw(entities(of, st.just(State.UNDECIDED)))
    ids = [each.id for each in found]
    score = st.sampled_from(SCORES)
    relations = tuple(
        Relation(f"R{index}", head, tail, draw(st.sampled_from(RELATIONS)), draw(score))
        for index, (head, tail) in enumerate(draw(_pairs(ids)))
    )
    middle = draw(st.integers(0, len(ids)))
    halves = [half for half in (ids[:middle], ids[middle:]) if len(half) > 1]
    clusters = tuple(
        Cluster(f"C{index}", tuple(half), 0.5, mention_scores=(draw(score),) * len(half))
        for index, half in enumerate(halves)
    )
    return Annotations(found, relations, clusters)


@st.composite
def foreign_annotations(draw: st.DrawFn, of: Document) -> Annotations:
    """What a file says: gold, whose clusters may share mentions, or our own export with all states."""
    gold = draw(st.booleans())
    state = st.just(State.IMPORTED) if gold else st.sampled_from([*State])
    found = draw(entities(of, state))
    ids = [each.id for each in found]
    relations = tuple(
        Relation(f"R{index}", head, tail, draw(st.sampled_from(RELATIONS)), None, draw(state))
        for index, (head, tail) in enumerate(draw(_pairs(ids)))
    )
    groups = draw(st.lists(_some(ids), max_size=2)) if ids else []
    if not gold:
        groups = [
            [each for each in group if each not in sum(groups[:i], [])]
            for i, group in enumerate(groups)
        ]
    clusters = tuple(
        Cluster(f"C{i}", tuple(group), state=draw(state), mention_states=draw(_each(state, group)))
        for i, group in enumerate(groups)
        if group
    )
    return Annotations(found, relations, clusters)


def _each(
    state: st.SearchStrategy[State], mentions: list[str]
) -> st.SearchStrategy[tuple[State, ...]]:
    """A state for every mention, or none at all."""
    return st.one_of(st.just(()), st.tuples(*[state] * len(mentions)))


def _some(ids: list[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(ids), min_size=1, max_size=3, unique=True)


def _pairs(ids: list[str]) -> st.SearchStrategy[list[tuple[str, str]]]:
    if not ids:
        return st.just([])
    each = st.sampled_from(ids)
    return st.lists(st.tuples(each, each), max_size=3)


class StoreMachine(RuleBasedStateMachine):
    """Two authors on one file; every rule leaves the project whole, a refusal leaves it as it was."""

    template: Path

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="store-machine-"))
        # Ids that are the same every time, so that hypothesis can repeat what it found.
        numbers = count()
        self.ids = mock.patch.multiple(
            ids, os=mock.Mock(urandom=lambda size: next(numbers).to_bytes(size, "big"))
        )
        self.ids.start()
        self.path = self.folder / "p.sciextract"
        shutil.copy(self.template, self.path)
        self.authors = [open_project(self.path, name) for name in ("ann", "bob")]
        self.imported_twice: set[tuple[Any, ...]] = set()

    def teardown(self) -> None:
        for project in self.authors:
            project.close()
        self.ids.stop()
        shutil.rmtree(self.folder)

    # What happens

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        self.import_file(data, self.authors[0], again=False)

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
        run = Run(project, identity, {}, background=background)
        of = project.draft(number).stored.document
        said = data.draw(predictions(of))
        run.add([(number, AnnotatedDocument(of, said, identity))])
        run.finish()
        assert self.human_rows() == before

    @rule(data=st.data(), who=st.integers(0, 1), accept=st.booleans(), seconds=seconds)
    def decide(self, data: st.DataObject, who: int, accept: bool, seconds: float | None) -> None:
        draft, actions = self.some_draft(data), self.authors[who].actions
        item = self.some_item(data, draft)
        if draft and item:
            number, act = draft.stored.number, actions.accept if accept else actions.reject
            self.attempt(lambda: act(number, item, seconds))

    @rule(data=st.data(), who=st.integers(0, 1), label=st.sampled_from((*LABELS, *RELATIONS)))
    def relabel(self, data: st.DataObject, who: int, label: str) -> None:
        draft, actions = self.some_draft(data), self.authors[who].actions
        item = self.some_item(data, draft)
        if draft and item and not isinstance(item, LinkRef):
            number, found = draft.stored.number, item
            self.attempt(lambda: actions.set_label(number, found, label))

    @rule(
        data=st.data(),
        who=st.integers(0, 1),
        edge=st.sampled_from(["start", "end"]),
        tokens=st.integers(-2, 2),
    )
    def move_edge(self, data: st.DataObject, who: int, edge: str, tokens: int) -> None:
        draft, entity = self.some_entity(data)
        if draft and entity:
            number, actions = draft.stored.number, self.authors[who].actions
            self.attempt(lambda: actions.move_edge(number, entity, edge, tokens))

    @rule(data=st.data(), who=st.integers(0, 1))
    def set_fragments(self, data: st.DataObject, who: int) -> None:
        draft, entity = self.some_entity(data)
        if draft and entity:
            chosen = data.draw(fragments(draft.stored.document))
            number, actions = draft.stored.number, self.authors[who].actions
            self.attempt(lambda: actions.set_fragments(number, entity, chosen))

    @rule(data=st.data(), who=st.integers(0, 1), label=st.sampled_from(LABELS))
    def add_entity(self, data: st.DataObject, who: int, label: str) -> None:
        draft, actions = self.some_draft(data), self.authors[who].actions
        if draft:
            chosen, number = data.draw(fragments(draft.stored.document)), draft.stored.number
            self.attempt(lambda: actions.add_entity(number, chosen, label))

    @rule(data=st.data(), who=st.integers(0, 1), label=st.sampled_from(RELATIONS))
    def add_relation(self, data: st.DataObject, who: int, label: str) -> None:
        draft, actions = self.some_draft(data), self.authors[who].actions
        if draft and draft.entities:
            ids = st.sampled_from([each.id for each in draft.entities])
            number, head, tail = draft.stored.number, data.draw(ids), data.draw(ids)
            self.attempt(lambda: actions.add_relation(number, head, tail, label))

    @rule(data=st.data(), who=st.integers(0, 1))
    def invert(self, data: st.DataObject, who: int) -> None:
        draft, actions = self.some_draft(data), self.authors[who].actions
        if draft and draft.relations:
            chosen = data.draw(st.sampled_from([each.id for each in draft.relations]))
            number = draft.stored.number
            self.attempt(lambda: actions.invert(number, chosen))

    @rule(data=st.data(), who=st.integers(0, 1))
    def join(self, data: st.DataObject, who: int) -> None:
        draft, entity = self.some_entity(data)
        if draft and entity and draft.clusters:
            chosen = data.draw(st.sampled_from([each.id for each in draft.clusters]))
            number, actions = draft.stored.number, self.authors[who].actions
            self.attempt(lambda: actions.join(number, entity, chosen))

    @rule(data=st.data(), who=st.integers(0, 1))
    def new_cluster(self, data: st.DataObject, who: int) -> None:
        draft, actions = self.some_draft(data), self.authors[who].actions
        if draft and draft.entities:
            mentions = data.draw(_some([each.id for each in draft.entities]))
            number = draft.stored.number
            self.attempt(lambda: actions.new_cluster(number, mentions))

    @rule(data=st.data(), who=st.integers(0, 1))
    def leave(self, data: st.DataObject, who: int) -> None:
        draft, entity = self.some_entity(data)
        if draft and entity:
            number, actions = draft.stored.number, self.authors[who].actions
            self.attempt(lambda: actions.leave(number, entity))

    @rule(data=st.data(), who=st.integers(0, 1))
    def merge(self, data: st.DataObject, who: int) -> None:
        draft, actions = self.some_draft(data), self.authors[who].actions
        if draft and draft.clusters:
            ids = st.sampled_from([each.id for each in draft.clusters])
            number, one, other = draft.stored.number, data.draw(ids), data.draw(ids)
            self.attempt(lambda: actions.merge(number, one, other))

    @rule(data=st.data(), who=st.integers(0, 1))
    def split(self, data: st.DataObject, who: int) -> None:
        draft, actions = self.some_draft(data), self.authors[who].actions
        if draft and draft.links:
            link = data.draw(st.sampled_from(draft.links))
            number = draft.stored.number
            self.attempt(lambda: actions.split(number, link.cluster_id, link.entity_id))

    @rule(data=st.data(), who=st.integers(0, 1), everywhere=st.booleans())
    def apply_to_identical(self, data: st.DataObject, who: int, everywhere: bool) -> None:
        draft, entity = self.some_entity(data)
        if draft and entity:
            number, actions = draft.stored.number, self.authors[who].actions
            self.as_previewed(
                lambda: actions.preview_identical(number, entity, whole_project=everywhere),
                lambda: actions.apply_to_identical(number, entity, whole_project=everywhere),
            )

    @rule(data=st.data(), who=st.integers(0, 1), score=st.sampled_from(SCORES), layers=layers)
    def accept_above(
        self, data: st.DataObject, who: int, score: float, layers: list[Layer]
    ) -> None:
        number, actions = self.some_number(data), self.authors[who].actions
        where = number if data.draw(st.booleans()) else None
        self.as_previewed(
            lambda: actions.preview_accept_above(score, where, layers),
            lambda: actions.accept_above(score, where, layers),
        )

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
        number, actions = self.some_number(data), self.authors[who].actions
        if number is not None:
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
        self.authors[who] = open_project(self.path, ("ann", "bob")[who])
        assert all_state(self.authors[who]) == before

    # What holds

    @invariant()
    def log_tells_the_state(self) -> None:
        assert differing(self.authors[0].connection) == []

    @invariant()
    def every_reference_is_there(self) -> None:
        assert self.rows("PRAGMA foreign_key_check") == []
        assert self.rows("PRAGMA integrity_check") == [("ok",)]

    @invariant()
    def arguments_are_in_view(self) -> None:
        in_view = "('imported', 'accepted', 'edited', 'added')"
        for table, column in (("relation", "head"), ("relation", "tail"), ("link", "entity_id")):
            assert not self.rows(
                f"""SELECT i.* FROM {table} i JOIN entity e
                ON e.document_id = i.document_id AND e.id = i.{column}
                WHERE i.state IN {in_view} AND e.state NOT IN {in_view}"""
            )

    @invariant()
    def nothing_waits_on_what_was_rejected(self) -> None:
        for table, column in (("relation", "head"), ("relation", "tail"), ("link", "entity_id")):
            assert not self.rows(
                f"""SELECT i.* FROM {table} i JOIN entity e
                ON e.document_id = i.document_id AND e.id = i.{column}
                WHERE i.state = 'undecided' AND e.state = 'rejected'"""
            )

    @invariant()
    def no_mention_is_alone(self) -> None:
        assert not self.rows(
            """SELECT c.document_id, c.id FROM cluster c JOIN link l
            ON l.document_id = c.document_id AND l.cluster_id = c.id AND l.state <> 'rejected'
            WHERE c.state <> 'imported' GROUP BY 1, 2 HAVING count(*) = 1"""
        )

    @invariant()
    def nothing_is_there_twice(self) -> None:
        assert self.doubled() <= self.imported_twice

    @invariant()
    def derived_rows_are_fresh(self) -> None:
        project = self.authors[1]
        for number in project.numbers():
            draft, fresh = project.draft(number), summarise(project.draft(number))
            stored = self.rows(
                "SELECT entities, relations, clusters, undecided, decided, least_score, uncertainty"
                f" FROM summary WHERE document_id = {number}"
            )
            counts = (fresh.entities, fresh.relations, fresh.clusters, fresh.undecided)
            assert stored == [
                (*counts, fresh.decided, fresh.least_score, pytest.approx(fresh.uncertainty))
            ]
            tally = self.rows(
                f"SELECT kind, label, state, number FROM tally WHERE document_id = {number}"
            )
            assert {row[:3]: row[3] for row in tally} == _counted(draft)

    @invariant()
    def listed_documents_are_those_in_the_project(self) -> None:
        listed = [(number,) for number in self.authors[0].numbers()]
        assert self.rows("SELECT document_id FROM progress ORDER BY 1") == listed
        assert self.rows("SELECT document_id FROM summary ORDER BY 1") == listed
        assert {row[0] for row in self.rows("SELECT DISTINCT document_id FROM tally")} <= {
            number for (number,) in listed
        }

    @invariant()
    def spans_lie_in_the_text(self) -> None:
        project = self.authors[0]
        for number in project.numbers():
            draft = project.draft(number)
            for entity in draft.entities:
                edges = [
                    edge for each in entity.fragments for edge in (each.char_start, each.char_end)
                ]
                assert edges == sorted(edges) and edges[0] >= 0 and edges[-1] <= len(draft.text)
                surface = self.rows(
                    f"""SELECT s.text FROM entity e JOIN surface s ON s.id = e.surface_id
                    WHERE e.document_id = {number} AND e.id = '{entity.id}'"""
                )
                shown = entity.surface(draft.text).encode("utf-8", "surrogatepass")
                assert surface == [(shown.decode("utf-8", "replace"),)]

    @invariant()
    def views_are_whole(self) -> None:
        project = self.authors[1]
        for number in project.numbers():
            for chosen in (IN_VIEW, EVERYTHING):
                seen = project.document(number, chosen)
                kept = {each.id for each in seen.annotations.entities}
                for relation in seen.annotations.relations:
                    assert {relation.head, relation.tail} <= kept
                assert all(set(each.mentions) <= kept for each in seen.annotations.clusters)

    # Helpers

    def rows(self, query: str) -> list[Any]:
        return self.authors[0].connection.execute(query).fetchall()

    def human_rows(self) -> dict[Any, Any]:
        """Rows of items that a person decided."""
        return {
            (number, place): values
            for number, rows in all_state(self.authors[0]).items()
            for place, values in rows.items()
            if values.get("state") in HUMAN
        }

    def attempt(self, act: Callable[[], object]) -> bool:
        """Do something that may be refused; then nothing may have changed."""
        before = self.everything()
        try:
            act()
        except REFUSALS as refusal:
            assert refusal.message
            assert self.everything() == before
            return False
        return True

    def as_previewed(self, preview: Callable[[], Any], act: Callable[[], Any]) -> None:
        """The preview writes nothing, and says what the action then does."""
        before = self.everything()
        try:
            expected = preview()
        except ActionRefusedError:
            expected = None
        assert self.everything() == before
        try:
            done = act()
        except ActionRefusedError:
            assert expected is None and self.everything() == before
        else:
            assert (done.documents, done.items) == (expected.documents, expected.items)

    def everything(self) -> Any:
        tables = ("event", "change", "source", "run", "record", "annotation_set", "surface")
        counts = [self.rows(f"SELECT count(*) FROM {table}") for table in tables]
        return counts, all_state(self.authors[0])

    def doubled(self) -> set[tuple[Any, ...]]:
        """Mentions in several clusters, and items in view that say the same."""
        homes = self.rows(
            """SELECT 'home', document_id, entity_id FROM link WHERE state <> 'rejected'
            GROUP BY 2, 3 HAVING count(*) > 1"""
        )
        same = self.rows(
            """SELECT 'entity', a.document_id, a.id, b.id FROM entity a JOIN entity b
            ON a.document_id = b.document_id AND a.id < b.id AND a.label = b.label
            AND a.char_start = b.char_start AND a.char_end = b.char_end AND a.fragments IS b.fragments
            WHERE a.state <> 'rejected' AND b.state <> 'rejected'"""
        )
        related = self.rows(
            """SELECT 'relation', a.document_id, a.id, b.id FROM relation a JOIN relation b
            ON a.document_id = b.document_id AND a.id < b.id AND a.label = b.label
            AND ((a.head = b.head AND a.tail = b.tail)
                 OR (a.label = 'Like' AND a.head = b.tail AND a.tail = b.head))
            WHERE a.state <> 'rejected' AND b.state <> 'rejected'"""
        )
        return {*homes, *same, *related}

    def some_number(self, data: st.DataObject) -> int | None:
        numbers = self.authors[0].numbers()
        return data.draw(st.sampled_from(numbers)) if numbers else None

    def some_draft(self, data: st.DataObject) -> Draft | None:
        number = self.some_number(data)
        return None if number is None else self.authors[0].draft(number)

    def some_entity(self, data: st.DataObject) -> tuple[Draft | None, str | None]:
        draft = self.some_draft(data)
        if not draft or not draft.entities:
            return draft, None
        return draft, data.draw(st.sampled_from([each.id for each in draft.entities]))

    def some_item(self, data: st.DataObject, draft: Draft | None) -> ItemRef | None:
        if not draft:
            return None
        items: list[ItemRef] = [
            *(EntityRef(each.id) for each in draft.entities),
            *(RelationRef(each.id) for each in draft.relations),
            *(LinkRef(each.cluster_id, each.entity_id) for each in draft.links),
        ]
        return data.draw(st.sampled_from(items)) if items else None

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


def _import(project: Project, name: str, items: list[Any]) -> None:
    Import(project, f"import:{name}", {"path": name}).add(items)


def _repeats_itself(items: list[tuple[AnnotatedDocument, Any]]) -> bool:
    """Whether a file has a text or a mention twice: then it may say two things about the same."""
    said = [
        (each.document.text, entity and (entity.label, entity.fragments))
        for each, _ in items
        for entity in (None, *each.annotations.entities)
    ]
    return len(set(said)) < len(said)


def _counted(draft: Draft) -> Counter[tuple[str, str, str]]:
    items = [
        *(("entity", each.label, each.state.value) for each in draft.entities),
        *(("relation", each.label, each.state.value) for each in draft.relations),
        *(("link", "", each.state.value) for each in draft.links),
    ]
    return Counter(items)


StoreMachine.TestCase.settings = settings(
    max_examples=int(LONG or 12),
    stateful_step_count=25,
    derandomize=not LONG,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


class TestStore(StoreMachine.TestCase):
    """Runs the machine on copies of one empty project."""

    def setUp(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="store-template-"))
        self.addCleanup(shutil.rmtree, folder)
        with new_project(folder) as project:
            StoreMachine.template = project.path
        super().setUp()
