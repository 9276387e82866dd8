"""Modes of the desk: selecting, candidates, relations, clusters, the same for many."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sciextract.documents.annotations import (
    Annotations,
    Candidates,
    LabelScore,
    LinkCandidate,
    PairCandidate,
    Span,
    SpanCandidate,
    State,
)
from sciextract.store import EntityRef, Project, RelationRef
from sciextract_app.review.keys.desk import Desk
from sciextract_app.review.model.targets import sure_items
from sciextract_app.shared.view_models import Mode
from tests.app.review.abstracts import (
    TEXT,
    document,
    focus,
    gold,
    place,
    predict,
    press,
    project_with,
    row,
)


def test_letters_set_types(desk: Desk) -> None:
    press(desk, "semicolon")
    assert desk.mode is Mode.TYPE
    assert desk.press("z").problem
    press(desk, "d")
    assert row(desk, "tagger1").label == "Material"
    desk.focus_item(RelationRef("features window"))
    press(desk, "; p")
    assert desk.state.open_view.relation_by_id["features window"].label == "PART-OF"


def test_selection_becomes_a_mention(desk: Desk) -> None:
    press(desk, "A f")
    press(desk, " ".join(desk.passage().hints[place("error").char_start]))
    assert desk.focus is None
    press(desk, "v l")
    assert desk.passage().selection == (
        place("error study").char_start,
        place("error study").char_end,
    )
    press(desk, "5")
    assert isinstance(desk.focus, EntityRef)
    assert desk.state.open_view.surface(desk.focus.id) == "error study"
    assert desk.mode is Mode.REVIEW


def test_selection_extends_by_jump_and_sentence(desk: Desk) -> None:
    press(desk, "v f")
    hint = desk.passage().hints[place("contracts").char_start]
    press(desk, " ".join(hint))
    assert desk.mode is Mode.SELECT
    assert desk.passage().selection == (place("graph").char_start, place("contracts").char_end)
    press(desk, "f escape w")
    assert desk.passage().selection == (
        place("graph").char_start,
        place("The tagger").char_start + 3,
    )
    press(desk, "escape")
    assert desk.passage().selection is None


def candidates(project: Project) -> None:
    """A second run that is less sure of itself."""
    labels = (LabelScore("Method", 0.2), LabelScore("Task", 0.35))
    spans = [SpanCandidate(place(word), labels) for word in ("We", "error study", "clauses")]
    pair = PairCandidate(place("chunk F1"), place("tagging speed"), (LabelScore("COMPARE", 0.4),))
    said = gold().annotations
    told = Candidates(tuple(spans), (pair,))
    known = Annotations(said.entities, said.relations[:-1], said.clusters, told)
    predict(project, known, document(doc_key="d1"))


def test_a_wrong_key_among_letters_says_what_to_type(desk: Desk) -> None:
    press(desk, "f")
    assert desk.press("1").message == "No word has the letter 1; Esc leaves"
    assert desk.press("tab").message == "Type the letters shown at a word; Esc leaves"
    assert not desk.legend()


def test_candidates_come_one_after_another(desk: Desk, project: Project) -> None:
    assert desk.press("y").problem
    candidates(project)
    desk.refresh()
    press(desk, "A y")
    shown = [desk.passage().candidate]
    for _ in range(3):
        press(desk, "y")
        shown.append(desk.passage().candidate)
    assert len(set(shown)) == 3
    assert shown[0] == shown[3]
    while desk.passage().candidate != (place("We").char_start, place("We").char_end):
        press(desk, "y")
    assert desk.footer()[0].words == "add as Task"
    press(desk, "enter")
    assert desk.inspector().title == "‹We› · Task"


def test_a_sign_shows_where_other_edges_are_known_and_y_names_them(
    desk: Desk, project: Project
) -> None:
    longer = place("lattice encoder")
    spans = [
        SpanCandidate(Span(longer.char_start + 8, longer.char_end), (LabelScore("Method", 0.4),))
    ]
    spans += [SpanCandidate(place("We"), (LabelScore("Task", 0.9),))]
    told = replace(gold().annotations, candidates=Candidates(tuple(spans)))
    predict(project, told, document(doc_key="d1"))
    desk.refresh()
    assert desk.passage().other_edges == {"encoder"}
    focus(desk, "encoder")
    press(desk, "y")
    assert desk.passage().candidate == (longer.char_start + 8, longer.char_end)
    press(desk, "escape enter")
    assert not desk.passage().other_edges, "what was decided has no sign"
    focus(desk, "encoder")
    press(desk, "y")
    assert desk.passage().candidate == (place("We").char_start, place("We").char_end)


def test_relation_takes_the_models_best_type_and_turns(desk: Desk, project: Project) -> None:
    candidates(project)
    desk.refresh()
    focus(desk, "f1")
    press(desk, "r")
    hint = desk.passage().hints[place("tagging speed").char_start]
    assert len(hint) == 1
    press(desk, hint)
    assert desk.footer()[0].words == "COMPARE"
    press(desk, "enter")
    assert [line.head for line in desk.relations() if line.label == "COMPARE"] == ["chunk F1"]
    focus(desk, "lexicon")
    press(desk, "r")
    press(desk, desk.passage().hints[place("lattice encoder").char_start])
    press(desk, "space 1")
    made = [line for line in desk.relations() if line.label == "USED-FOR"]
    assert [(line.head, line.tail) for line in made] == [("lattice encoder", "label lexicon")]


def test_i_turns_the_only_relation_of_a_mention(desk: Desk) -> None:
    focus(desk, "features")
    assert desk.press("i").message.startswith("‹window baseline› USED-FOR")
    assert desk.focus == EntityRef("features")
    focus(desk, "window")
    assert desk.press("i").problem  # it has two


def test_relations_stay_in_the_sentence_unless_asked(desk: Desk) -> None:
    focus(desk, "clauses")
    assert desk.press("r").problem
    feedback = desk.press("R")
    assert "across sentences" in feedback.message
    press(desk, "escape")
    assert desk.mode is Mode.REVIEW


def test_illegal_types_are_refused_and_marked(desk: Desk) -> None:
    focus(desk, "task")
    press(desk, "r")
    press(desk, desk.passage().hints[place("graph tagger").char_start])
    live = {hint.words: hint.live for hint in desk.legend()}
    assert (live["USED-FOR"], live["COMPARE"]) == (True, False)
    assert desk.press("6").problem
    assert desk.mode is Mode.RELATE_TYPE


def test_what_is_sure_is_shown_and_accepted_with_one_undo(tmp_path: Path) -> None:
    right = gold()
    entities = {
        name: replace(entity, score=0.95 if name in ("tagger1", "task", "corpus") else 0.5)
        for name, entity in right.entities.items()
    }
    desk = Desk(project_with(tmp_path, replace(right, entities=entities), (TEXT,)))
    waiting = desk.waiting
    desk.promise({"entity": 0.9, "relation": 0.85})
    sure, relations, _ = sure_items(desk.state)
    assert {mention.id for mention in sure} == {"tagger1", "task", "corpus"}
    assert [relation.id for relation in relations] == ["tagger1 task"], (
        "none takes an unsure mention along"
    )
    words = [hint.words for hint in desk.footer()]
    assert f"accept {len(sure)}+{len(relations)}, 70 % right, ≥ 0.90 ≥ 0.85" in words
    assert desk.passage().sure == 0.9
    marked = [line.item_id for line in desk.relations(everything=True) if line.sure]
    assert marked == ["tagger1 task"]
    feedback = desk.press("A")
    assert feedback.changed and "u undoes all of it" in feedback.message
    assert desk.waiting == waiting - len(sure) - len(relations)
    scores = [
        abs(2 * (row.score or 0) - 1)
        for row in map(desk.state.open_view.row, desk.state.open_queue.undecided)
        if row
    ]
    assert scores == sorted(scores), "the least certain first"
    desk.press("u")
    assert desk.waiting == waiting


def test_where_nothing_is_sure_it_says_what_that_takes(desk: Desk) -> None:
    waiting = desk.waiting
    desk.promise({}, "about 12 more finished abstracts are needed")
    feedback = desk.press("A")
    assert "about 12 more finished abstracts" in feedback.message
    assert desk.waiting == waiting
    desk.press("A")
    assert desk.waiting < waiting, "as long as nothing is known, the score alone decides"
    desk.promise({"entity": 1.0})
    assert "Nothing undecided here is sure" in desk.press("A").message


def test_clusters(desk: Desk) -> None:
    press(desk, "A")
    focus(desk, "f1")
    press(desk, "c enter")
    press(desk, desk.passage().hints[place("tagging speed").char_start])
    assert [line.letter for line in desk.clusters()] == ["a", "b", "d"]
    focus(desk, "lexicon")
    press(desk, "c c")
    letters = [line.letter for line in desk.clusters()]
    assert letters == ["a", "d", "b"]  # letters stay, the order is that of the text
    press(desk, "o")
    assert desk.focus == EntityRef("f1")
    press(desk, "O")
    assert desk.focus == EntityRef("lexicon")
    press(desk, "C")
    assert desk.clusters()[-1].mentions == ("chunk F1", "tagging speed")
    focus(desk, "it")
    press(desk, "X")
    assert [len(line.mentions) for line in desk.clusters()] == [2, 2, 2, 2]
    assert desk.press("m").problem is False
    assert desk.press("Z").problem


def test_the_footer_names_what_a_decides(desk: Desk) -> None:
    press(desk, "x")
    footer = {hint.key: hint.words for hint in desk.footer()}
    assert footer["a"] == "all ‹graph tagger›"


def test_same_strings_of_one_abstract(desk: Desk) -> None:
    press(desk, "n v l")
    assert desk.passage().selection == (0, len("The graph"))
    press(desk, "escape v l 2")
    assert desk.press("a").message == "‹graph tagger›: 1 item decided; u undoes all of it"
    assert len(desk.passage().marks) == 2
    assert desk.press("a").message == "No other ‹graph tagger› here waits for that"


def test_repeat_does_the_last_thing_to_the_focus(desk: Desk) -> None:
    assert desk.press(".").problem
    press(desk, "3 .")
    assert row(desk, "task").label == "Metric"
    focus(desk, "lexicon")
    press(desk, "E")
    focus(desk, "corpus")
    press(desk, ".")
    assert desk.state.open_view.surface("corpus") == "Ledger"


def test_mentions_are_walked_past_relations_and_back_to_the_end_of_one(desk: Desk) -> None:
    rows = desk.state.open_view.entities
    assert desk.focus == EntityRef(rows[0].id)
    press(desk, "L L")
    assert desk.focus == EntityRef(rows[2].id)
    press(desk, "H")
    assert desk.focus == EntityRef(rows[1].id)
    press(desk, "H H")
    assert desk.focus == EntityRef(rows[0].id)
    desk.focus_item(RelationRef("tagger1 task"))
    assert desk.mode_words == "relation"
    press(desk, "H")
    assert (desk.focus, desk.mode_words) == (EntityRef("task"), "mention")


def test_keys_of_mentions_take_the_nearer_end_of_a_relation(desk: Desk) -> None:
    for key, mode in (("c", Mode.CLUSTER), ("z", Mode.CHARACTERS), ("+", Mode.FRAGMENT)):
        desk.focus_item(RelationRef("tagger1 task"))
        press(desk, key)
        assert (desk.mode, desk.focus) == (mode, EntityRef("task"))
        press(desk, "escape")


def test_what_the_model_considered_is_added_by_a_letter(desk: Desk, project: Project) -> None:
    def score(label: str, value: float) -> tuple[LabelScore, ...]:
        return (LabelScore(label, value),)

    lexicon, encoder, corpus = (
        place("label lexicon"),
        place("lattice encoder"),
        place("Ledger corpus"),
    )
    known = Candidates(
        pairs=(
            PairCandidate(lexicon, encoder, score("CONJUNCTION", 0.3)),
            PairCandidate(encoder, lexicon, score("USED-FOR", 0.2)),  # the same two, less likely
            PairCandidate(place("graph tagger"), place("noun chunking"), score("USED-FOR", 0.9)),
            PairCandidate(lexicon, corpus, score("HYPONYM-OF", 0.1)),
        ),
        links=(LinkCandidate(lexicon, corpus, 0.4),),
    )
    predict(project, replace(gold().annotations, candidates=known), document(doc_key="d1"))
    desk.refresh()
    focus(desk, "lexicon")
    before = len(desk.state.open_view.relations)
    press(desk, "Y")
    shown = [hint.words for hint in desk.legend()]
    assert shown[0].startswith("same as") and shown[0].endswith("0.40")
    assert [line[-4:] for line in shown[1:]] == ["0.30", "0.10"]
    assert desk.press("9").problem
    press(desk, "s")
    rows = desk.state.open_view.relations
    assert len(rows) == before + 1
    (made,) = (row for row in rows if row.state is State.ADDED)
    assert {made.head, made.tail, made.label} == {"lexicon", "encoder", "CONJUNCTION"}
    # The others keep their letters, and a key that goes on leaves.
    assert [(hint.key, hint.words[-4:]) for hint in desk.legend()] == [("a", "0.40"), ("d", "0.10")]
    press(desk, "a")
    assert desk.state.open_view.homes["lexicon"]
    assert [hint.words[-4:] for hint in desk.legend()] == ["0.10"]
    press(desk, "tab")
    assert desk.mode is Mode.REVIEW and desk.focus != EntityRef("lexicon")
    focus(desk, "lexicon")
    press(desk, "Y a 4 tab")
    assert desk.mode is Mode.REVIEW
    related = desk.state.open_view.relations_of["lexicon"]
    assert [row.label for row in related if row.state is State.ADDED] == ["CONJUNCTION", "PART-OF"]
