"""The layout of passages: nothing lost, nothing moved, offsets right in both directions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciextract.documents.annotations import State
from sciextract_app.shared.view_models import Mark, Passage
from sciextract_app.widgets.paragraphs import Line, cut
from sciextract_app.widgets.passage_layout import (
    PassageLayout,
    changed_lines,
    moved_lines,
    same_layout,
)
from sciextract_app.widgets.wrapping import Kind
from tests.app.widgets.passages import (
    RICH,
    lines_of,
    long_passage,
    other_decisions,
    passages,
    with_focus,
)

widths = st.integers(1, 60)


def layout_of(passage: Passage, width: int) -> PassageLayout:
    return PassageLayout(passage.text, passage.marks, width)


def written(layout: PassageLayout) -> list[str]:
    """Lines with a plain sign for every mark."""
    signs = {Kind.OPEN: "<", Kind.CLOSE: ">", Kind.KEY: "", Kind.CLUSTER: ""}
    return ["".join(signs.get(a.kind, a.shown) for a in line.atoms) for line in lines_of(layout)]


@given(passages(), widths)
def test_every_character_appears_exactly_once_and_in_order(passage: Passage, width: int) -> None:
    atoms = [atom for line in lines_of(layout_of(passage, width)) for atom in line.atoms]
    texts = [atom for atom in atoms if atom.kind is Kind.TEXT]
    edges = [0, *(atom.char_end for atom in texts)]
    assert [atom.char_start for atom in texts] == edges[:-1]
    assert edges[-1] == len(passage.text)


@given(passages(), widths)
def test_cells_lead_back_to_the_characters(passage: Passage, width: int) -> None:
    layout = layout_of(passage, width)
    for line in lines_of(layout):
        for atom in line.atoms:
            if atom.kind is Kind.TEXT and atom.cells:
                for char in range(atom.char_start, atom.char_end):
                    assert layout.char_at(*layout.cell_of(char)) == atom.char_start
                    assert layout.end_of(char) == atom.char_end
    for y, line in enumerate(lines_of(layout)):
        for column in range(line.cells):
            under = layout.char_at(y, column)
            assert under is not None
            assert 0 <= under < len(passage.text)


@given(passages(), widths)
def test_marks_are_at_their_characters(passage: Passage, width: int) -> None:
    layout = layout_of(passage, width)
    for char in range(len(passage.text)):
        y, column = layout.cell_of(char)
        atom = lines_of(layout)[y].atom_at(column)
        if atom is None or not atom.is_text:
            continue
        touching = [
            index
            for index, mark in enumerate(passage.marks)
            if mark.char_start < atom.char_end
            and atom.char_start < min(mark.char_end, len(passage.text))
            and mark.char_start < mark.char_end
        ]
        assert sorted(layout.marks_at(y, column)) == touching


@given(passages(), widths)
def test_lines_keep_the_width_unless_one_glyph_is_wider(passage: Passage, width: int) -> None:
    for line in lines_of(layout_of(passage, width)):
        assert line.cells <= width or sum(atom.cells > 0 for atom in line.atoms) == 1


@given(passages(), widths)
def test_every_mark_has_its_brackets(passage: Passage, width: int) -> None:
    atoms = [atom for line in lines_of(layout_of(passage, width)) for atom in line.atoms]
    inside = [m for m in passage.marks if m.char_start < min(m.char_end, len(passage.text))]
    for kind in (Kind.OPEN, Kind.CLOSE):
        assert sum(atom.kind is kind for atom in atoms) == len(inside)


@given(passages(), widths, st.integers(0, 99))
def test_decisions_and_focus_move_nothing(passage: Passage, width: int, seed: int) -> None:
    other = other_decisions(passage, seed)
    assert same_layout(passage, other)
    assert lines_of(layout_of(passage, width)) == lines_of(layout_of(other, width))


def test_words_stay_whole_and_brackets_stay_with_them() -> None:
    mark = Mark(4, 9, "i", "m", "Method", State.UNDECIDED, 0.5)
    assert written(PassageLayout("one graph two", [mark], 10)) == ["one ", "<graph> ", "two"]


def test_nested_brackets_stack_inner_ones_inside() -> None:
    outer = Mark(0, 9, "o", "m", "Method", State.UNDECIDED, 0.5)
    inner = Mark(0, 3, "i", "t", "Task", State.UNDECIDED, 0.5, depth=1)
    assert written(PassageLayout("big graph", [outer, inner], 40)) == ["<<big> graph>"]


def test_overlapping_ones_end_where_they_end() -> None:
    first = Mark(0, 7, "a", "m", "Method", State.UNDECIDED, 0.5)
    second = Mark(4, 11, "b", "t", "Task", State.UNDECIDED, 0.5)
    assert written(PassageLayout("one two six", [first, second], 40)) == ["<one <two> six>"]


def test_a_mark_that_cuts_an_emoji_goes_around_all_of_it() -> None:
    mark = Mark(0, 1, "i", "m", "Method", State.UNDECIDED, 0.5)
    assert written(PassageLayout("👩\u200d🔬 x", [mark], 40)) == ["<👩\u200d🔬> x"]


def test_blanks_hang_over_the_end_instead_of_beginning_a_line() -> None:
    assert written(PassageLayout("abcd   ef", [], 4)) == ["abcd", "ef"]


def test_wide_characters_break_anywhere_but_before_a_full_stop() -> None:
    assert written(PassageLayout("中文資料。中", [], 8)) == ["中文資", "料。中"]


def test_long_words_break() -> None:
    assert written(PassageLayout("x" * 9, [], 4)) == ["xxxx", "xxxx", "x"]


def test_clicks_beside_the_text_mean_the_last_character_of_the_line() -> None:
    layout = PassageLayout("one two", [], 4)
    assert layout.char_at(0, 30) == 3
    assert layout.char_at(1, 30) == 6
    assert layout.char_at(9, 0) is None
    assert PassageLayout("", [], 4).char_at(0, 0) is None


def test_only_lines_with_a_difference_change() -> None:
    passage = long_passage()
    layout = layout_of(passage, 80)
    before, after = with_focus(passage, 3), with_focus(passage, 4)
    changed = changed_lines(layout, before, after)
    assert changed
    assert len(changed) <= 5 < len(lines_of(layout))


@pytest.mark.parametrize(
    "other",
    [
        replace(RICH, text=RICH.text + " more"),
        replace(RICH, marks=RICH.marks[1:]),
        replace(RICH, marks=(replace(RICH.marks[0], cluster="c"), *RICH.marks[1:])),
        replace(RICH, marks=(replace(RICH.marks[0], char_end=25), *RICH.marks[1:])),
    ],
)
def test_what_moves_text_is_noticed(other: Passage) -> None:
    assert not same_layout(RICH, other)


@st.composite
def plain_passages(draw: st.DrawFn) -> Passage:
    """Words of letters with many mentions."""
    words = draw(st.lists(st.sampled_from(["a", "graph", "parser.", "(of)", "", "x" * 12])))
    text = " ".join(words)
    starts = draw(st.lists(st.integers(0, len(text) - 1), max_size=12)) if text else []
    marks = [
        Mark(start, start + length, f"i{n}", "m", "Method", State.UNDECIDED, 0.5, cluster=cluster)
        for n, start in enumerate(sorted(starts))
        for length, cluster in [draw(st.tuples(st.integers(1, 20), st.sampled_from(["", "a"])))]
    ]
    return Passage(text, 0, tuple(marks), (0, 0))


@given(passages() | plain_passages(), st.lists(st.sets(st.integers(0, 11)), max_size=4), widths)
def test_lines_keep_every_sign_and_the_width_while_mentions_come_and_go(
    passage: Passage, without: list[set[int]], width: int
) -> None:
    shown, layout = passage, layout_of(passage, width)
    for gone in without:
        rows = range(len(lines_of(layout)))
        marks = tuple(mark for at, mark in enumerate(passage.marks) if at not in gone)
        again, new = replace(passage, marks=marks), PassageLayout(passage.text, marks, width)
        after = PassageLayout(passage.text, marks, width, layout)
        moved = moved_lines(layout, shown, after, again, rows)
        assert signs_of(after) == signs_of(new)
        for line in lines_of(after):
            assert line.cells <= width or sum(atom.cells > 0 for atom in line.atoms) == 1
        for y in {*rows} - moved:
            assert texts_of(layout.line(y)) == texts_of(after.line(y))
        shown, layout = again, after


def signs_of(layout: PassageLayout) -> list[object]:
    """What stands in a passage from first to last; blanks may hang over the end of a line."""
    atoms = (atom for line in lines_of(layout) for atom in line.atoms)
    return [(atom.kind, atom.char_start, atom.marks) for atom in atoms]


def test_words_stay_on_their_lines_when_mentions_go_and_come() -> None:
    text = "The parser reads a graph of words and the tagger learns from it every day. " * 12
    starts = [at for at in range(len(text)) if text.startswith(("parser", "tagger"), at)]
    marks = [
        Mark(at, at + 6, f"i{at}", "m", "Method", State.UNDECIDED, 0.5, cluster="a")
        for at in starts
    ]
    layout = PassageLayout(text, marks, 80)
    begins = [line.atoms[0].char_start for line in lines_of(layout)]
    for at in (2, 7, 20, 4):
        del marks[at]
        layout = PassageLayout(text, marks, 80, layout)
        assert [line.atoms[0].char_start for line in lines_of(layout)] == begins
    added = Mark(text.index("graph"), text.index(" of"), "new", "m", "Method", State.ADDED, None)
    layout = PassageLayout(text, sorted([*marks, added], key=lambda m: m.char_start), 80, layout)
    assert [line.atoms[0].char_start for line in lines_of(layout)] == begins


def texts_of(line: Line) -> list[object]:
    """What stands on a line, its mentions left out."""
    return [atom[:5] for atom in line.atoms]


def test_only_the_paragraph_of_a_change_is_laid_out_again() -> None:
    passage = long_passage(20_000, 3_000)
    before = layout_of(passage, 80)
    assert before.height > 1_000
    changed = replace(passage.marks[1500], char_end=passage.marks[1500].char_end + 1)
    marks = (*passage.marks[:1500], changed, *passage.marks[1501:])
    after = PassageLayout(passage.text, marks, 80, before)
    same = [old is new for old, new in zip(before.paragraphs, after.paragraphs, strict=True)]
    assert len(same) > 20
    assert same.count(False) == 1


def test_very_long_texts_get_paragraphs_at_ends_of_sentences() -> None:
    text = "The parser reads a graph. " * 1_000
    assert {text[end - 2 : end] for _, end in cut(text)} == {". "}
    assert [start for start, _ in cut(text)][1:] == [end for _, end in cut(text)][:-1]
    assert cut("x" * 50_000) == [(0, 50_000)]
    assert cut("word " * 400) == [(0, 2_000)]
