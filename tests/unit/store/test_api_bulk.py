"""One decision for many items, and what is said of an abstract as a whole."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sciextract.documents.annotations import ALL_LAYERS, Entity, Layer, Span, State
from sciextract.errors import ActionRefusedError
from sciextract.store import Completeness, EntityRef, Project, RelationRef
from sciextract.store.actions.places import find_occurrences
from sciextract.store.maintenance.backup import list_backups
from sciextract.store.rows import ProgressRow
from tests.unit.store.projects import (
    OTHER_TEXT,
    TEXT,
    counted,
    document,
    entity,
    guess,
    guess_cluster,
    guess_relation,
    place,
    predict,
    put,
    put_all,
    spread,
    states,
)

NETS = tuple(place("net", occurrence) for occurrence in (0, 1, 3))


def surfaces(project: Project, number: int = 1) -> list[tuple[int, str, str, State]]:
    doc = project.document_state(number)
    return [(e.char_start, e.surface(doc.text), e.label, e.state) for e in doc.entities]


def progress(project: Project) -> ProgressRow:
    found = project.document_state(1).progress
    assert found is not None
    return found


def test_occurrences_have_whole_tokens_under_them(project: Project) -> None:
    put(project)
    assert tuple(find_occurrences(project.document_state(1), "net")) == NETS
    assert list(find_occurrences(project.document_state(1), "")) == []


def test_identical_strings_get_the_label(project: Project) -> None:
    put(project, entity("E1", NETS[0], "Task"))
    predict(project, guess("P1", NETS[1], "Method"))
    done = project.actions.apply_to_identical(1, "E1")
    assert (done.documents, done.items) == (1, 2)
    assert surfaces(project) == [
        (NETS[0].char_start, "net", "Task", State.IMPORTED),
        (NETS[1].char_start, "net", "Task", State.EDITED),
        (NETS[2].char_start, "net", "Task", State.ADDED),
    ]


def test_a_proposal_that_has_the_label_already_is_accepted(project: Project) -> None:
    put(project, entity("E1", NETS[0], "Task"))
    predict(project, guess("P1", NETS[1], "Method"), guess("P2", NETS[1], "Task"))
    project.actions.apply_to_identical(1, "E1")
    found = states(project.document_state(1))
    assert (found["P1"], found["P2"]) == (State.UNDECIDED, State.ACCEPTED)


def test_what_somebody_decided_stays_and_so_does_what_is_inside_of_others(project: Project) -> None:
    inside = Span(NETS[1].char_start - 4, NETS[1].char_end)
    items: list[Entity] = [entity("E1", NETS[0], "Task"), entity("E2", inside)]
    put(project, *items, entity("E3", NETS[2], "Method"))
    assert project.actions.apply_to_identical(1, "E1").event_id is None


def test_a_rejected_occurrence_does_not_come_back(project: Project) -> None:
    put(project, *(entity(f"E{n}", net, "Task") for n, net in enumerate(NETS)))
    project.actions.reject(1, EntityRef("E2"))
    project.actions.apply_to_identical(1, "E0")
    assert states(project.document_state(1))["E2"] is State.REJECTED


def test_a_rejection_holds_for_all_identical_proposals_of_that_type(project: Project) -> None:
    put(project)
    labels = ("Task", "Task", "Method")
    predict(project, *(guess(f"P{n}", NETS[n], labels[n]) for n in range(3)))
    project.actions.reject(1, EntityRef("P0"))
    assert project.actions.apply_to_identical(1, "P0").items == 1
    assert list(states(project.document_state(1)).values()) == [
        State.REJECTED,
        State.REJECTED,
        State.UNDECIDED,
    ]


def test_identical_strings_of_the_whole_project(project: Project) -> None:
    put_all(project, [(document(), [entity("E1", NETS[0], "Task")]), (document(OTHER_TEXT), [])])
    expected = counted(project, 1, "E1")
    done = spread(project, 1, "E1")
    assert (done.documents, done.items) == (expected.documents, expected.items) == (2, 3)
    assert surfaces(project, 2) == [(8, "net", "Task", State.ADDED)]
    assert len(list_backups(project.path)) == 1


def test_identical_strings_with_combining_accents_are_found_in_the_whole_project(
    project: Project,
) -> None:
    word, text = "re\u0301sume\u0301", "The re\u0301sume\u0301 net."
    both = [
        (document(f"A {word}."), [entity("E1", Span(2, 2 + len(word)))]),
        (document(text, "e"), []),
    ]
    put_all(project, both)
    assert spread(project, 1, "E1").documents == 1
    assert surfaces(project, 2) == [(4, word, "Method", State.ADDED)]


def test_done_abstracts_are_left_alone(project: Project) -> None:
    put_all(project, [(document(), [entity("E1", NETS[0])]), (document(OTHER_TEXT), [])])
    project.actions.mark_done(2, [Layer.ENTITIES])
    spread(project, 1, "E1")
    assert surfaces(project, 2) == []


def test_counting_writes_nothing_even_for_a_new_author(project: Project) -> None:
    put(project, entity("E1", NETS[0]))
    stranger = Project(project.path, project.connection, "person:new", project.mode)
    before = project.connection.total_changes
    assert counted(stranger, 1, "E1").items == 2
    assert project.connection.total_changes == before


def proposals(project: Project) -> None:
    put(project)
    predict(
        project,
        *(guess("E1", NETS[0], score=0.9), guess("E2", NETS[1], "Task", score=0.3)),
        *(guess("E3", NETS[2], score=0.5), guess_relation("R1", "E1", "E2", score=0.6)),
        guess_cluster("C1", "E1", "E3", score=0.4),
    )


def test_everything_above_a_score_is_accepted_and_arguments_go_along(project: Project) -> None:
    proposals(project)
    done = project.actions.accept_above(0.6, 1)
    found = states(project.document_state(1))
    accepted = {item for item, state in found.items() if state is State.ACCEPTED}
    assert accepted == {"E1", "E2", "R1"}
    assert (done.documents, done.items) == (1, 3)


def test_named_items_are_accepted_as_one_action(project: Project) -> None:
    proposals(project)
    before = states(project.document_state(1))
    done = project.actions.accept_all(1, [EntityRef("E3"), RelationRef("R1")])
    found = states(project.document_state(1))
    accepted = {item for item, state in found.items() if state is State.ACCEPTED}
    assert accepted == {"E1", "E2", "E3", "R1"}, "arguments go along"
    assert done.items == 4
    project.undo()
    assert states(project.document_state(1)) == before


def test_only_the_named_layers_are_accepted(project: Project) -> None:
    proposals(project)
    project.actions.accept_above(0.0, None, [Layer.ENTITIES])
    found = states(project.document_state(1))
    assert {item for item, state in found.items() if state is State.UNDECIDED} == {
        "R1",
        "C1 E1",
        "C1 E3",
    }
    assert len(list_backups(project.path)) == 1


def test_done_is_refused_while_something_waits(project: Project) -> None:
    proposals(project)
    with pytest.raises(ActionRefusedError, match="6 items are still undecided"):
        project.actions.mark_done(1)
    assert progress(project).entities is Completeness.UNTOUCHED


@pytest.mark.parametrize(
    ("undecided", "state"), [("accept", State.ACCEPTED), ("reject", State.REJECTED)]
)
def test_done_decides_what_waits(project: Project, undecided: str, state: State) -> None:
    proposals(project)
    project.actions.mark_done(1, undecided=undecided)  # type: ignore[arg-type]
    assert set(states(project.document_state(1)).values()) == {state}
    assert progress(project) == ProgressRow().with_layers(
        ALL_LAYERS, Completeness.DONE, project.schema
    )


def test_one_layer_is_done_without_the_others(project: Project) -> None:
    proposals(project)
    project.actions.mark_done(1, [Layer.RELATIONS], "reject")
    assert progress(project).relations is Completeness.DONE
    assert progress(project).coreference is Completeness.UNTOUCHED
    assert states(project.document_state(1))["E1"] is State.UNDECIDED


def test_completeness_flag_and_note_can_be_set_and_taken_back(project: Project) -> None:
    put(project)
    actions = project.actions
    actions.set_completeness(1, Completeness.DONE)
    actions.flag(1)
    actions.note(1, "see [12] \ud800")
    row = ProgressRow(flagged=True, note="see [12] ?")
    done = row.with_layers(ALL_LAYERS, Completeness.DONE, project.schema)
    assert progress(project) == done
    actions.flag(1, False)
    actions.note(1, "")
    actions.set_completeness(1, Completeness.UNTOUCHED, [Layer.COREFERENCE])
    untouched = replace(done, flagged=False, note="", coreference=Completeness.UNTOUCHED)
    assert progress(project) == untouched
    assert actions.flag(1, False).event_id is None


def test_a_string_of_the_text_is_not_a_pattern(project: Project) -> None:
    text = "f(x) and f(x) [12] [12]"
    put(project, entity("E1", place("[12]", text=text)), text=text)
    assert text != TEXT
    spread(project, 1, "E1")
    assert [surface for _, surface, _, _ in surfaces(project)] == ["[12]", "[12]"]
