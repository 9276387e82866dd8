"""How passages look: signs beside colour, jump letters over the text, nothing read as markup."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from sciextract.documents.annotations import State
from sciextract_app.shared.view_models import Mark, Passage
from sciextract_app.widgets.passage_layout import PassageLayout
from sciextract_app.widgets.passage_paint import Look, Painter
from tests.app.widgets.passages import RICH, other_decisions, passages

LOOK = Look(
    hit=Style(blink=True),
    text=Style.parse("white on black"),
    title=Style(bold=True),
    cursor=Style(blink=True),
    selection=Style(italic=True),
    candidate=Style(overline=True),
    hint=Style.parse("bold yellow"),
    next_hint=Style.parse("underline yellow"),
    label=lambda label: Style.parse("green on blue" if label == "Method" else "red on magenta"),
)


def lines_of(passage: Passage, width: int = 80) -> list[str]:
    painter = Painter(passage, LOOK)
    layout = PassageLayout(passage.text, passage.marks, width)
    lines = [layout.line(y) for y in range(layout.height)]
    return ["".join(segment.text for segment in painter.segments(line, width)) for line in lines]


def style_at(passage: Passage, words: str) -> Style:
    """The style of the segment that has these words."""
    painter = Painter(passage, LOOK)
    segments = painter.segments(PassageLayout(passage.text, passage.marks, 200).line(0), 200)
    return next(segment.style for segment in segments if words in segment.text) or Style.null()


def passage_with(**fields: object) -> Passage:
    mark = Mark(4, 9, "i", "m", "Method", State.UNDECIDED, 0.9)
    return Passage("the graph parser", 0, (replace(mark, **fields),), (0, 0))  # type: ignore[arg-type]


class TestSigns:
    def test_undecided(self) -> None:
        assert lines_of(passage_with()) == ["the ‹graph›ᴹ parser"]

    def test_focused(self) -> None:
        assert lines_of(passage_with(focused=True)) == ["the ⟦graph⟧ᴹ parser"]

    def test_decided(self) -> None:
        for state in (State.ACCEPTED, State.EDITED, State.ADDED, State.IMPORTED):
            assert lines_of(passage_with(state=state)) == ["the ⌊graph⌋ᴹ parser"]

    def test_clusters(self) -> None:
        assert lines_of(passage_with(cluster="ab")) == ["the ‹graph›ᴹᵃᵇ parser"]

    def test_other_fragments_have_no_letters(self) -> None:
        assert lines_of(passage_with(last=False, cluster="a")) == ["the ‹graph› parser"]

    def test_hostile_text_stays_text(self) -> None:
        shown = "\n".join(lines_of(RICH))
        assert "[12]" in shown
        assert "␛" in shown
        assert "\x1b" not in shown


class TestStyles:
    def test_focus_is_reverse(self) -> None:
        assert style_at(passage_with(focused=True), "graph").reverse

    def test_decided_is_underlined_and_undecided_is_not(self) -> None:
        assert style_at(passage_with(state=State.ACCEPTED), "graph").underline
        assert not style_at(passage_with(state=State.ACCEPTED), "graph").bold
        assert style_at(passage_with(), "graph").bold, "what needs a decision is the strongest"
        assert not style_at(passage_with(), "graph").underline

    def test_uncertain_has_a_mark_and_is_never_faint(self) -> None:
        assert lines_of(passage_with(score=0.3)) == ["the ‹graph?ᴹ parser"]
        assert not style_at(passage_with(score=0.3), "graph").dim
        assert lines_of(passage_with(score=0.3, state=State.ACCEPTED)) == ["the ⌊graph⌋ᴹ parser"]

    def test_partner_has_marked_edges(self) -> None:
        assert style_at(passage_with(partner=True), "‹").reverse
        assert not style_at(passage_with(partner=True), "graph").reverse

    def test_inner_gives_the_colour_and_outer_the_ground(self) -> None:
        outer = Mark(0, 16, "o", "t", "Task", State.UNDECIDED, 0.9)
        passage = passage_with(depth=1)
        style = style_at(replace(passage, marks=(outer, *passage.marks)), "graph")
        assert style.color is not None and style.color.name == "green"
        assert style.bgcolor is not None and style.bgcolor.name == "magenta"
        assert style.underline

    def test_cursor_selection_candidate_and_title(self) -> None:
        passage = replace(passage_with(), cursor=(0, 3), selection=(4, 9), candidate=(10, 16))
        assert style_at(passage, "the").blink
        assert style_at(passage, "graph").italic
        assert style_at(passage, "parser").overline
        assert style_at(replace(passage, title_end=3), "the").bold


class TestHints:
    def shown(self, hints: Mapping[int, str]) -> str:
        return lines_of(replace(passage_with(), hints=hints))[0]

    def test_stand_over_the_text(self) -> None:
        assert self.shown({0: "as", 4: "d", 10: "fg"}) == "ase ‹draph›ᴹ fgrser"

    def test_side_by_side_where_they_would_hide_each_other(self) -> None:
        assert self.shown({0: "as", 1: "df"}) == "asdf‹graph›ᴹ parser"

    def test_at_the_end_of_a_line(self) -> None:
        assert self.shown({15: "as"}) == "the ‹graph›ᴹ parseas"

    def test_within_the_width(self) -> None:
        passage = Passage("a graph", 0, (), (0, 0), hints={6: "as"})
        assert lines_of(passage, 7) == ["a graas"]
        assert lines_of(Passage("a中", 0, (), (0, 0), hints={1: "asd"}), 3) == ["asd"]
        assert lines_of(Passage("中a", 0, (), (0, 0), hints={1: "as"}), 3) == [" as"]

    def test_half_of_a_wide_character_becomes_a_blank(self) -> None:
        assert lines_of(Passage("中文", 0, (), (0, 0), hints={0: "a"})) == ["a 文"]
        assert lines_of(Passage("a中b", 0, (), (0, 0), hints={0: "as"})) == ["as b"]

    @given(passages(), st.integers(8, 60))
    def test_move_nothing(self, passage: Passage, width: int) -> None:
        hints = dict.fromkeys(range(0, len(passage.text), 9), "as")
        plain = lines_of(passage, width)
        for before, after in zip(
            plain, lines_of(replace(passage, hints=hints), width), strict=True
        ):
            assert cell_len(before) <= cell_len(after) <= cell_len(before) + 3 * len(hints)


@given(passages(), st.integers(1, 60), st.integers(0, 99))
def test_lines_are_as_wide_as_the_layout_says(passage: Passage, width: int, seed: int) -> None:
    other = replace(other_decisions(passage, seed), hints={})
    layout = PassageLayout(passage.text, passage.marks, width)
    painter = Painter(other, LOOK)
    for line in map(layout.line, range(layout.height)):
        segments = painter.segments(line, width)
        assert sum(cell_len(segment.text) for segment in segments) == line.cells
