"""What holds in a project at any time: the part of the store's machine that looks and does nothing."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant

from sciextract.documents import annotations as ids
from sciextract.errors import ActionRefusedError, UndoRefusedError
from sciextract.store import (
    AttributeRef,
    DocumentState,
    EntityRef,
    ItemRef,
    LinkRef,
    Project,
    RelationRef,
    open_project,
)
from sciextract.store.document_state import EVERYTHING
from sciextract.store.rows import IN_VIEW
from sciextract.store.state_tables import find_differing, summarise, tally
from tests.unit.store.projects import all_state, new_project

HUMAN = ("accepted", "edited", "added", "rejected")
REFUSALS = (ActionRefusedError, UndoRefusedError)


class StoreRules(RuleBasedStateMachine):
    """Two authors on one file, and the rules that every step must leave whole."""

    names = ("ann", "bob")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="store-machine-"))
        with new_project(self.folder) as empty:
            self.path = empty.path
        # Ids that are the same every time, so that hypothesis can repeat what it found.
        numbers = count()
        self.ids = mock.patch.multiple(
            ids, os=mock.Mock(urandom=lambda size: next(numbers).to_bytes(size, "big"))
        )
        self.ids.start()
        self.authors = [self.opened(name) for name in self.names]
        self.imported_twice: set[tuple[Any, ...]] = set()

    def opened(self, name: str) -> Project:
        """The project; without waiting for the disk, since nothing here is about power loss."""
        project = open_project(self.path, name)
        project.connection.execute("PRAGMA synchronous = OFF")
        return project

    def teardown(self) -> None:
        for project in self.authors:
            project.close()
        self.ids.stop()
        shutil.rmtree(self.folder)

    # What holds

    @invariant()
    def log_tells_the_state(self) -> None:
        assert find_differing(self.authors[0].connection) == []

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
            doc = project.document_state(number)
            fresh = summarise(doc, tally(doc))
            stored = self.rows(
                "SELECT entities, relations, clusters, undecided, decided, least_score, uncertainty"
                f" FROM summary WHERE document_id = {number}"
            )
            counts = (fresh.entities, fresh.relations, fresh.clusters, fresh.undecided)
            assert stored == [
                (*counts, fresh.decided, fresh.least_score, pytest.approx(fresh.uncertainty))
            ]
            tallied = self.rows(
                f"SELECT kind, label, state, number FROM tally WHERE document_id = {number}"
            )
            assert {row[:3]: row[3] for row in tallied} == _counted(doc)

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
            doc = project.document_state(number)
            for entity in doc.entities:
                edges = [
                    edge
                    for fragment in entity.fragments
                    for edge in (fragment.char_start, fragment.char_end)
                ]
                assert edges == sorted(edges) and edges[0] >= 0 and edges[-1] <= len(doc.text)
                surface = self.rows(
                    f"""SELECT s.text FROM entity e JOIN surface s ON s.id = e.surface_id
                    WHERE e.document_id = {number} AND e.id = '{entity.id}'"""
                )
                shown = entity.surface(doc.text).encode("utf-8", "surrogatepass")
                assert surface == [(shown.decode("utf-8", "replace"),)]

    @invariant()
    def views_are_whole(self) -> None:
        project = self.authors[1]
        for number in project.numbers():
            for chosen in (IN_VIEW, EVERYTHING):
                seen = project.document(number, chosen)
                kept = {entity.id for entity in seen.annotations.entities}
                for relation in seen.annotations.relations:
                    assert {relation.head, relation.tail} <= kept
                assert all(set(cluster.mentions) <= kept for cluster in seen.annotations.clusters)

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

    def as_counted(self, count: Callable[[], Any], act: Callable[[], Any]) -> None:
        """Counting writes nothing, and says what the action then does."""
        before = self.everything()
        try:
            expected = count()
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

    def some_draft(self, data: st.DataObject) -> DocumentState | None:
        number = self.some_number(data)
        return None if number is None else self.authors[0].document_state(number)

    def some_entity(self, data: st.DataObject) -> tuple[DocumentState | None, str | None]:
        doc = self.some_draft(data)
        if not doc or not doc.entities:
            return doc, None
        return doc, data.draw(st.sampled_from([entity.id for entity in doc.entities]))

    def some_item(self, data: st.DataObject, doc: DocumentState | None) -> ItemRef | None:
        if not doc:
            return None
        items: list[ItemRef] = [
            *(EntityRef(entity.id) for entity in doc.entities),
            *(RelationRef(relation.id) for relation in doc.relations),
            *(LinkRef(link.cluster_id, link.entity_id) for link in doc.links),
            *(AttributeRef(row.id) for row in doc.attributes),
        ]
        return data.draw(st.sampled_from(items)) if items else None


def _counted(doc: DocumentState) -> Counter[tuple[str, str, str]]:
    items = [
        *(("entity", entity.label, entity.state.value) for entity in doc.entities),
        *(("relation", relation.label, relation.state.value) for relation in doc.relations),
        *(("link", "", link.state.value) for link in doc.links),
        *(("attribute", row.label, row.state.value) for row in doc.attributes),
    ]
    return Counter(items)
