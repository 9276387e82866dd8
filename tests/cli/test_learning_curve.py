"""The running score from the event log: what stood there before a person touched an abstract."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.documents.annotations import Entity, Layer, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.metrics.scorer import Tallies, tally
from sciextract.store import EntityRef, Project
from sciextract.store.finished import finished_abstracts
from sciextract.store.ingest import ModelRun
from sciextract.workflows.learning_curve import LEAST, Pair, layer_use, learning_curve
from tests.cli.conftest import Command
from tests.unit.metrics.builders import entity as scored_entity
from tests.unit.metrics.builders import scored
from tests.unit.store.projects import (
    FIRST_MODEL,
    TEXT,
    entity,
    guess,
    new_project,
    place,
    predict,
    put,
    said,
)

GRAPH, NET, LEARNS = place("graph"), place("net"), place("learns")


class AdapterRun(ModelRun):
    @property
    def source(self) -> str:
        return f"model:{self.model}+adapter/1"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with new_project(tmp_path) as opened:
        yield opened


def adapt(project: Project, *items: Entity, number: int = 1) -> None:
    document = project.document_state(number).stored.document
    run = AdapterRun(project, FIRST_MODEL, {}, background=True)
    run.add([(number, AnnotatedDocument(document, said(*items), FIRST_MODEL))])


def refs(project: Project, number: int = 1) -> list[EntityRef]:
    return [EntityRef(mention.id) for mention in project.document_state(number).entities]


def finish(project: Project, number: int = 1) -> None:
    """Accepts the first entity, rejects the rest, adds one that was missed."""
    first, *rest = refs(project, number)
    project.actions.accept(number, first, seconds=2.0)
    for ref in rest:
        project.actions.reject(number, ref, seconds=1.0)
    project.actions.add_entity(number, [LEARNS], "Task", seconds=3.0)
    project.actions.mark_done(number)


def test_what_stood_there_before_the_first_touch_is_scored(project: Project) -> None:
    put(project)
    predict(project, guess("M1", NET))
    adapt(project, guess("A1", GRAPH), guess("A2", NET))
    finish(project)
    predict(project, guess("L1", GRAPH), guess("L2", LEARNS, "Task"))  # knows the corrections
    [found] = finished_abstracts(project)
    spans = {
        name: [mention.span for mention in getattr(found, name).annotations.entities]
        for name in ("gold", "shown", "adapter", "other")
    }
    assert spans == {
        "gold": [GRAPH, LEARNS],
        "shown": [GRAPH, NET],
        "adapter": [GRAPH, NET],
        "other": [NET],
    }
    assert found.layers == set(Layer)
    assert (found.keys, found.seconds, bool(found.model)) == (1 + 1 + 4 + 1, 6.0, True)


def test_an_undone_touch_is_no_touch_and_imported_gold_no_correction(project: Project) -> None:
    put(project)
    put(project, entity("G", place("net", text="Another net")), text="Another net", doc_key="gold")
    predict(project, guess("M1", NET))
    for ref in refs(project):
        project.actions.accept(1, ref)
    project.undo()
    adapt(project, guess("A1", GRAPH))
    finish(project)
    [found] = finished_abstracts(project)
    assert [mention.span for mention in found.shown.annotations.entities] == [GRAPH]
    project.undo()  # the end of the abstract
    assert finished_abstracts(project) == []


def test_the_curve_of_both_and_of_the_command_line(project: Project, command: Command) -> None:
    assert learning_curve(project).abstracts == ()
    assert (
        "imported ones do not count"
        in command("stats", "--learning", "--project", str(project.path)).out
    )
    put(project)
    predict(project, guess("M1", NET))
    adapt(project, guess("A1", GRAPH), guess("A2", LEARNS, "Task"))
    first, second = refs(project)
    project.actions.accept(1, first)
    project.actions.accept(1, second)
    project.actions.mark_done(1)
    curve = learning_curve(project)
    entities = curve.layers[Layer.ENTITIES]
    assert (entities.shown, entities.adapter, entities.other) == ((100.0,), (100.0,), (0.0,))
    [point] = curve.abstracts
    assert (point.keys, point.keys_adapter) == (3, 3)
    assert point.keys_other == 1 + 4 + 4 + 1  # one to reject, two missed, the end
    project.close()
    result = command("stats", "--learning", "--project", str(project.path))
    assert (
        "decision keys to correct what was suggested: 3.0 with the adapter, 10.0 without it"
        in result.out
    )
    assert "keys to decide, per abstract: 3.0" in result.out
    assert "entities" in result.out
    assert "relations" not in result.out and "coreference" not in result.out, "nobody uses them"
    report = json.loads(
        command("stats", "--learning", "--json", "--project", str(project.path)).out
    )
    assert report["layers"]["entities"]["adapter"] == [100.0]
    assert report["abstracts"][0]["keys_other"] == 10


GOLD = scored([scored_entity(1, 2), scored_entity(4, 5)])
RIGHT: Tallies = tally(GOLD, GOLD, frozenset())
HALF: Tallies = tally(GOLD, scored([scored_entity(1, 2)]), frozenset())
WRONG: Tallies = tally(GOLD, scored([scored_entity(8, 9)]), frozenset())


def test_the_adapter_is_used_while_it_is_ahead() -> None:
    behind, ahead = Pair(WRONG, HALF), Pair(RIGHT, HALF)
    few = layer_use([ahead] * (LEAST - 1), Layer.ENTITIES, first=False)
    assert not few.on and "finished abstracts on" in few.reason
    assert layer_use([ahead] * LEAST, Layer.ENTITIES, first=False).on
    off = layer_use([*[ahead] * 20, *[behind] * 30], Layer.ENTITIES, first=False)
    assert [switch.on for switch in off.switches] == [True, False]
    assert off.switches[0].after == LEAST
    assert 20 < off.switches[1].after <= 35
    assert "off since abstract" in off.reason and "without it" in off.reason
    again = layer_use([*[behind] * 30, *[ahead] * 30], Layer.ENTITIES, first=True)
    assert [switch.on for switch in again.switches] == [False, True]


def test_a_tie_and_a_layer_without_items_switch_nothing() -> None:
    same = Pair(HALF, HALF)
    assert not layer_use([same] * 30, Layer.ENTITIES, first=False).on
    assert layer_use([same] * 30, Layer.COREFERENCE, first=True).on
    assert layer_use([], Layer.RELATIONS, first=True).on


def test_edits_are_shown_as_what_they_were_before(project: Project) -> None:
    put(project)
    adapt(project, guess("A1", GRAPH, "Task"))
    [only] = refs(project)
    project.actions.set_label(1, only, "Method")
    project.actions.mark_done(1, undecided="reject")
    [found] = finished_abstracts(project)
    assert [mention.label for mention in found.shown.annotations.entities] == ["Task"]
    assert [(mention.label, mention.state) for mention in found.gold.annotations.entities] == [
        ("Method", State.EDITED)
    ]


def test_what_is_sure_is_chosen_on_what_stood_in_finished_abstracts(
    project: Project, command: Command
) -> None:
    for number in range(1, 16):
        put(project, text=f"{TEXT} {number}.", doc_key=str(number))
        adapt(
            project,
            guess("A1", GRAPH, score=0.9),
            guess("A2", NET, score=0.9),
            guess("A3", LEARNS, score=0.2),
            number=number,
        )
        first, second, third = sorted(refs(project, number), key=lambda ref: ref.id)
        project.actions.accept(number, first)
        project.actions.accept(number, second)
        project.actions.reject(number, third)
        project.actions.mark_done(number)
        if number == 1:
            [none] = learning_curve(project).sure.labels
            assert none.threshold is None
    [entities] = learning_curve(project).sure.labels
    assert (entities.task, entities.threshold, entities.precision) == ("entity", 0.9, 1.0)
    project.close()
    out = command("stats", "--learning", "--project", str(project.path)).out
    assert "entity suggestions of which at least 0.7 are right: from a score of 0.90 on" in out
