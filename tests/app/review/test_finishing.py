"""What finishing an abstract finishes, and what counts as done from then on."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from sciextract.documents.annotations import Annotations, Entity, Layer, Span, State
from sciextract.documents.document import AnnotatedDocument, ModelId
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import load_schema, parse_schema, schema_to_toml
from sciextract.errors import SchemaError
from sciextract.store import (
    Completeness,
    EntityRef,
    EntityRow,
    LinkRow,
    Project,
    RelationRef,
    RelationRow,
    label_changes,
    review,
)
from sciextract.store.coverage import find_missing
from sciextract.store.documents import known_documents
from sciextract.store.ingest import ModelRun
from sciextract.store.rows import ProgressRow
from sciextract.store.state_tables import save_label_schema
from sciextract.store.type_changes import remove_type
from sciextract.workflows.active.queues import queue_missing
from sciextract.workflows.active.ranking import pool_of
from sciextract.workflows.suggest import suggest
from sciextract.workflows.suggesters import read_terms
from sciextract_app.review.keys.desk import Desk
from tests.app.review.abstracts import press, row
from tests.unit.store.projects import all_state

DONE, BEGUN, UNTOUCHED = Completeness.DONE, Completeness.IN_PROGRESS, Completeness.UNTOUCHED


def layers(project: Project, number: int) -> tuple[Completeness, ...]:
    progress = project.document_state(number).progress or ProgressRow()
    return progress.entities, progress.relations, progress.coreference


def test_relations_that_nobody_ever_made_are_not_finished_as_none(
    desk: Desk, project: Project
) -> None:
    press(desk, "backspace")  # nobody has looked at the relation and the cluster that it is in
    accept_mentions(desk)
    assert "Relations and coreference" in press_done(desk)
    assert layers(project, 1) == (DONE, UNTOUCHED, UNTOUCHED)
    assert any(
        relation.state is State.UNDECIDED for relation in project.document_state(1).relations
    )
    assert desk.header().done == 1
    assert project.document(1).done
    assert 1 not in pool_of(project)
    assert [document.finished for document in known_documents(project.connection)] == [
        True,
        False,
        False,
    ]
    assert review.document_summaries(project.connection, [1])[0].done
    assert not find_missing(project.connection, project.schema)


def suggested(project: Project) -> list[State]:
    doc = project.document_state(1)
    rows: list[EntityRow | RelationRow | LinkRow] = [*doc.entities, *doc.relations, *doc.links]
    return [row.state for row in rows if row.score is not None]


def test_finishing_says_what_the_abstract_took_and_how_good_the_suggestions_were(
    desk: Desk, project: Project
) -> None:
    press(desk, "enter x n p")  # to look at another one is no key of this one's decisions
    accepted = suggested(project).count(State.ACCEPTED)
    assert accepted > 0
    said = press_done(desk)
    rejected = suggested(project).count(State.REJECTED)
    assert f"{100 * accepted / (accepted + rejected):.0f} % were right" in said
    assert "5 keys, 1 mention," in said, "Enter, x, n and D twice; p was pressed in another one"
    assert "2 to go" in said


def test_a_layer_that_comes_into_use_later_is_lacking_where_abstracts_are_done_already(
    desk: Desk, project: Project
) -> None:
    accept_mentions(desk)
    press_done(desk)
    assert desk.number == 2
    press(desk, "v 1 j v 2")
    first, second = (entity.id for entity in project.document_state(2).entities)
    project.actions.add_relation(2, first, second, "USED-FOR")
    desk.refresh()
    press_done(desk)
    assert layers(project, 2) == (DONE, DONE, UNTOUCHED)
    assert find_missing(project.connection, project.schema) == {(Layer.RELATIONS, ""): [1]}
    assert (desk.header().done, desk.header().missing) == (2, "1 finished before relations")
    desk.open(1)
    desk.focus_item(RelationRef("encoder tagger2"))
    press(desk, "x")
    assert desk.header().done == 1, "begun and not finished"
    press_done(desk)
    assert layers(project, 1) == (DONE, DONE, UNTOUCHED)
    assert not desk.header().missing


def test_a_queue_of_a_missing_layer_finishes_that_layer_alone(desk: Desk, project: Project) -> None:
    accept_mentions(desk)
    press_done(desk)
    press(desk, "v 1 j v 2")
    first, second = (entity.id for entity in project.document_state(2).entities)
    project.actions.add_relation(2, first, second, "USED-FOR")
    queue_missing(project, "relations", "")
    desk.queues.start("missing relations")
    assert (desk.number, desk.header().sought) == (1, "relations")
    waiting = desk.state.open_queue.undecided
    assert waiting and all(isinstance(item, RelationRef) for item in waiting)
    press(desk, "enter")
    assert desk.header().done == 0, "a layer that was begun and not finished"
    assert all(isinstance(item, RelationRef) for item in desk.state.open_queue.undecided)
    assert press_done(desk).startswith("Done: relations")
    assert layers(project, 1) == (DONE, DONE, UNTOUCHED)
    assert not find_missing(project.connection, project.schema)


def test_a_project_that_chose_entities_finishes_no_more(desk: Desk, project: Project) -> None:
    desk.focus_item(RelationRef("tagger1 task"))
    press(desk, "enter")
    desk.change_labels(partial(label_changes.choose_layers, layers=[Layer.ENTITIES]))
    press_done(desk)
    assert layers(project, 1) == (DONE, BEGUN, UNTOUCHED)
    assert (desk.header().done, project.document(1).done) == (1, True)
    press(desk, "u u")
    assert (desk.header().done, project.schema.finish) == (0, ())
    press_done(desk)
    assert layers(project, 1) == (DONE, DONE, UNTOUCHED)


def test_reopening_is_one_event_and_keeps_the_items(desk: Desk, project: Project) -> None:
    assert desk.press("B").problem
    press_done(desk)
    desk.open(1)
    assert desk.press("B").changed
    assert layers(project, 1) == (BEGUN, UNTOUCHED, UNTOUCHED)
    assert desk.header().done == 0
    assert row(desk, "task").state is State.REJECTED
    press(desk, "u")
    assert (layers(project, 1), desk.header().done) == ((DONE, UNTOUCHED, UNTOUCHED), 1)


@pytest.mark.parametrize("finish", [(), ("entities",), ("entities", "relations"), tuple(Layer)])
def test_tables_and_rows_say_the_same_of_what_is_done(
    project: Project, finish: tuple[Layer, ...]
) -> None:
    schema = replace(project.schema, finish=tuple(Layer(layer) for layer in finish))
    with project.writing() as connection:
        save_label_schema(connection, schema)
    for states in product(Completeness, repeat=3):
        entities, relations, coreference = states
        progress = ProgressRow(entities, relations, coreference)
        with project.writing() as connection:
            columns = "entities = ?, relations = ?, coreference = ?"
            connection.execute(f"UPDATE progress SET {columns} WHERE document_id = 1", states)
        assert review.count_done(project.connection)[1] == progress.is_finished(schema), states
        assert progress.is_finished(schema) or states != (DONE, DONE, DONE)


def test_a_schema_file_keeps_what_is_finished(tmp_path: Path) -> None:
    schema: LabelSchema = replace(load_schema("scierc"), finish=(Layer.ENTITIES,))
    file = tmp_path / "own.toml"
    file.write_text(schema_to_toml(schema), "utf-8")
    assert load_schema(file) == schema
    for wrong in (["relations"], ["entities", "words"], ["entities", ["relations"]]):
        with pytest.raises(SchemaError, match="finish"):
            parse_schema(schema.to_mapping() | {"finish": wrong}, "own.toml")


def accept_mentions(desk: Desk) -> None:
    desk.state.project.actions.accept_above(0.0, desk.number, {Layer.ENTITIES})
    desk.refresh()


def press_done(desk: Desk) -> str:
    """Finish the abstract, whatever waits in it."""
    number, message = desk.number, ""
    while desk.number == number and "All abstracts" not in message:
        message = desk.press("D").message
    return message


class TestMissingType:
    """A queue of abstracts that were finished before a type came."""

    @pytest.fixture
    def late(self, desk: Desk, project: Project) -> Desk:
        """Two finished abstracts of three, then a type that a model suggests in one of them."""
        accept_mentions(desk)
        press_done(desk)
        press_done(desk)
        label_changes.add_type(project, "entity", "Late")
        queue_missing(project, "Late", "")
        suggest_late(project, 1)
        assert project.documents_with_undecided() == [1]
        desk.open(3)
        assert "finished before Late" in replace_totals(desk)
        assert not desk.queues.start("missing Late").problem
        return desk

    def test_it_shows_suggestions_of_that_type_alone_and_finishing_covers_it_alone(
        self, late: Desk, project: Project
    ) -> None:
        before = all_state(project)
        assert late.header().sought == "Late"
        assert late.number == 1
        undecided = {late.state.open_view.by_id[item.id].label for item in undecided_of(late)}
        assert undecided == {"Late"}, "relations wait there as well"
        assert "1 item undecided" in late.press("D").message
        said = late.press("D").message
        assert said.startswith("Done: Late, ") and said.endswith(", 1 item rejected")
        assert late.number == 2
        assert "entities:Late" in covered(project, 1)
        assert layers(project, 1) == (DONE, UNTOUCHED, UNTOUCHED)
        assert any(
            relation.state is State.UNDECIDED for relation in project.document_state(1).relations
        )
        assert late.queues.lines()[0].done == 1
        assert (late.header().done, late.header().missing) == (2, "1 finished before Late")
        press_done(late)
        assert not late.header().missing
        press(late, "u u")
        assert all_state(project) == before

    def test_terms_of_that_type_are_suggested_there_and_no_others(
        self, late: Desk, project: Project, tmp_path: Path
    ) -> None:
        terms = tmp_path / "terms.csv"
        terms.write_text("term,label\nhard,Late\nremain,Method\n", "utf-8")
        suggest(project, [read_terms(terms, project.schema)], among=[1])
        doc = project.document_state(1)
        found = {row.surface(doc.text): row.label for row in doc.entities}
        assert found.get("hard") == "Late"
        assert "remain" not in found

    def test_outside_of_the_queue_everything_is_shown_again(self, late: Desk) -> None:
        count = late.waiting
        late.queues.leave()
        assert late.waiting > count
        assert not late.header().sought

    def test_an_abstract_that_was_opened_again_is_finished_as_a_whole(
        self, late: Desk, project: Project
    ) -> None:
        press(late, "B")
        assert late.waiting == project.document_state(1).count_undecided() > 1
        press_done(late)
        assert layers(project, 1) == (DONE, UNTOUCHED, UNTOUCHED)
        assert "entities:Late" in covered(project, 1)

    def test_a_queue_follows_its_type_under_another_name(
        self, late: Desk, project: Project
    ) -> None:
        label_changes.rename_type(project, "entity", "Late", "Later")
        late.queues.start("missing Late")
        assert late.header().sought == "Later"
        remove_type(project, "entity", "Later")
        late.queues.start("missing Late")
        assert not late.header().sought


def undecided_of(desk: Desk) -> list[EntityRef]:
    found = desk.state.open_queue.undecided
    return [item for item in found if isinstance(item, EntityRef)] if found else []


def covered(project: Project, number: int) -> tuple[str, ...]:
    progress = project.document_state(number).progress
    return progress.covered if progress else ()


def replace_totals(desk: Desk) -> str:
    desk.refresh()
    return desk.header().missing


def suggest_late(project: Project, number: int) -> None:
    """What a model that learned the type says, and much else that is finished there already."""
    document = project.document_state(number).stored.document
    said = Annotations(
        (
            Entity("x", (Span(0, 2),), "Late", 0.9, State.UNDECIDED, ""),
            Entity("y", (Span(3, 10),), "Method", 0.9, State.UNDECIDED, ""),
        )
    )
    run = ModelRun(project, ModelId("learned", "c" * 64, "+adapter"), {}, background=True)
    run.add([(number, AnnotatedDocument(document, said))])
    run.finish()
