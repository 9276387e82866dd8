"""The key that makes a mention discontinuous, and whole again."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sciextract.documents.annotations import Span, State
from sciextract.store import EntityRef, LinkRef, Project
from sciextract_app.review.keys.desk import Desk
from sciextract_app.review.keys.selecting import with_part, without
from sciextract_app.shared.view_models import Mode
from tests.app.review.abstracts import TEXT, focus, place, press, project_with, row


def words(desk: Desk, name: str) -> list[str]:
    """The strings of a mention's parts."""
    return [fragment.of(TEXT) for fragment in row(desk, name).fragments]


def jump(desk: Desk, word: str, occurrence: int = 0) -> None:
    """The cursor to a word, by its letters."""
    press(desk, "f")
    press(desk, " ".join(desk.passage().hints[place(word, occurrence).char_start]))


def events(project: Project) -> int:
    return int(project.connection.execute("SELECT count(*) FROM event").fetchone()[0])


def test_a_part_is_added_and_taken_back(desk: Desk, project: Project) -> None:
    before = events(project)
    press(desk, "+ l +")  # behind "graph tagger": "for", then "noun"
    assert words(desk, "tagger1") == ["graph tagger", "noun"]
    assert row(desk, "tagger1").state is State.EDITED
    assert events(project) == before + 1
    assert desk.mode is Mode.REVIEW
    assert desk.focus == EntityRef("tagger1")
    press(desk, "u")
    assert words(desk, "tagger1") == ["graph tagger"]


def test_it_begins_behind_the_mention_and_the_focus_stays(desk: Desk) -> None:
    press(desk, "+")
    assert desk.mode is Mode.FRAGMENT
    assert Span(*desk.passage().selection or ()).of(TEXT) == "for"
    press(desk, "w h")
    assert desk.focus == EntityRef("tagger1")
    press(desk, "escape")
    assert str(desk.mode) == "review"
    assert desk.passage().cursor == (place("graph").char_start, place("graph").char_end)
    assert words(desk, "tagger1") == ["graph tagger"]


def test_several_tokens_by_v_and_by_jump(desk: Desk) -> None:
    press(desk, "+")
    jump(desk, "legal")
    assert desk.mode is Mode.FRAGMENT
    press(desk, "v l enter")
    assert words(desk, "tagger1") == ["graph tagger", "legal contracts"]
    press(desk, "+ h h f escape escape")
    assert str(desk.mode) == "review"


def test_what_lies_beside_or_over_it_makes_no_part_of_its_own(desk: Desk) -> None:
    press(desk, "+ +")
    assert words(desk, "tagger1") == ["graph tagger for"]
    press(desk, "+ h h v l l enter")  # from inside to beyond the end
    assert words(desk, "tagger1") == ["graph tagger for noun"]


def test_a_gap_that_is_filled_joins_the_parts(desk: Desk) -> None:
    press(desk, "+ l +")
    press(desk, "+")
    jump(desk, "for")
    press(desk, "+")
    assert words(desk, "tagger1") == ["graph tagger for noun"]


def test_the_same_key_takes_parts_out(desk: Desk) -> None:
    press(desk, "+ l + +")
    jump(desk, "noun")
    assert desk.footer()[0].words == "take this part out"
    press(desk, "+")
    assert words(desk, "tagger1") == ["graph tagger"]
    press(desk, "+ h h +")
    assert words(desk, "tagger1") == ["tagger"]
    press(desk, "+ h")
    assert desk.press("+").problem  # the whole mention is not part
    assert desk.mode is Mode.FRAGMENT
    press(desk, "escape")


def test_a_token_in_the_middle(desk: Desk) -> None:
    press(desk, "e e")  # graph tagger for noun
    press(desk, "+ h h +")
    assert words(desk, "tagger1") == ["graph tagger", "noun"]
    assert [mark.last for mark in desk.passage().marks if mark.focused] == [False, True]


def test_refusals(desk: Desk) -> None:
    focus(desk, "tagger1")
    press(desk, "+")
    for key in ("3", "x", "z", "D", "u"):
        assert desk.press(key).problem
    assert desk.mode is Mode.FRAGMENT
    press(desk, "escape x")
    jump(desk, "error")
    assert desk.focus is None
    assert desk.press("+").problem


def test_the_mention_of_a_link(desk: Desk) -> None:
    desk.focus_item(LinkRef("of tagger1", "it"))
    press(desk, "+ l +")
    assert words(desk, "it") == ["It", "compared"]
    assert desk.focus == LinkRef("of tagger1", "it")


def test_a_twin_is_refused(desk: Desk, project: Project) -> None:
    parts = (place("graph tagger"), place("noun"))
    project.actions.add_entity(1, parts, "Method")
    desk.refresh()
    press(desk, "+ l")
    told = desk.press("+")
    assert told.problem
    assert "already" in told.message
    assert words(desk, "tagger1") == ["graph tagger"]


def test_the_mention_goes_while_a_part_is_pointed_at(desk: Desk, project: Project) -> None:
    press(desk, "+ l")
    project.actions.reject(1, EntityRef("tagger1"))
    desk.refresh()
    assert desk.press("+").problem
    assert desk.mode is Mode.REVIEW


def test_the_mouse_points_at_parts_too(desk: Desk) -> None:
    press(desk, "+")
    desk.click(place("contracts").char_start)
    assert desk.mode is Mode.FRAGMENT
    assert Span(*desk.passage().selection or ()).of(TEXT) == "contracts"
    desk.drag(place("legal").char_start, place("contracts").char_end)
    press(desk, "enter")
    assert words(desk, "tagger1") == ["graph tagger", "legal contracts"]


def test_a_text_without_tokens(tmp_path: Path) -> None:
    with project_with(tmp_path, None, ("",)) as project:
        assert Desk(project).press("+").problem


@st.composite
def parts(draw: st.DrawFn) -> tuple[str, tuple[Span, ...], Span]:
    text = draw(st.text("ab ", min_size=3, max_size=30))
    edges = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=8)))
    pairs = zip(edges[::2], edges[1::2], strict=False)
    start = draw(st.integers(0, len(text) - 1))
    end = draw(st.integers(start + 1, len(text)))
    return text, tuple(Span(*pair) for pair in pairs), Span(start, end)


def characters(text: str, spans: tuple[Span, ...]) -> set[int]:
    covered = {place for span in spans for place in range(span.char_start, span.char_end)}
    return {place for place in covered if text[place].strip()}


@given(parts())
def test_parts_stay_ascending_and_cover_what_they_must(
    drawn: tuple[str, tuple[Span, ...], Span],
) -> None:
    text, before, part = drawn
    more, less = with_part(text, before, part), without(text, before, part)
    for spans in (more, less):
        assert all(span.char_start < span.char_end for span in spans)
        assert all(low.char_end <= high.char_start for low, high in pairwise(spans))
    assert characters(text, more) == characters(text, (*before, part))
    assert characters(text, less) == characters(text, before) - characters(text, (part,))
    assert [span for span in more if span.contains(part)]
