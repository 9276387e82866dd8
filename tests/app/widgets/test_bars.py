"""Bars fit their width, say what matters, and read nothing as markup."""

from __future__ import annotations

import pytest

from sciextract_app.shared.view_models import Feedback, Header, Hint, Mode
from sciextract_app.widgets.bars import footer_lines, header_text, message_text
from tests.app.widgets.tiny_app import HEADER, HINTS


class TestFooter:
    def test_all_where_there_is_room(self) -> None:
        (line,) = footer_lines(HINTS, Mode.REVIEW, 120)
        assert line.plain.startswith(" Enter accept  x reject  1-6 type")
        assert line.plain.endswith("D done  ? keys")

    @pytest.mark.parametrize("width", range(30, 110, 7))
    def test_never_wider_than_the_line(self, width: int) -> None:
        (line,) = footer_lines(HINTS, Mode.REVIEW, width)
        assert line.cell_len <= width
        assert line.plain.startswith(" Enter accept")
        assert line.plain.endswith("? keys")

    def test_a_second_line_takes_what_the_first_has_no_room_for(self) -> None:
        first, second = footer_lines(HINTS, Mode.REVIEW, 60, 2)
        (whole,) = footer_lines(HINTS, Mode.REVIEW, 200)
        assert f"{first.plain} {second.plain}" == whole.plain
        assert max(first.cell_len, second.cell_len) <= 60

    def test_the_mode_comes_first(self) -> None:
        (line,) = footer_lines(HINTS, Mode.RELATE_TYPE, 120)
        assert line.plain.startswith("  RELATE: TYPE  Enter")

    def test_dead_keys_are_dim(self) -> None:
        hints = (Hint("c", "cluster", live=False), Hint("x", "reject"))
        (line,) = footer_lines(hints, Mode.REVIEW, 80)
        assert [str(span.style) for span in line.spans if span.style] == [
            "dim",
            "dim",
            "bold",
            "not bold",
        ]

    def test_seldom_keys_are_dim_on_the_second_line_and_go_first(self) -> None:
        more = [Hint(key, words, seldom=True) for key, words in (("y", "span"), ("?", "keys"))]
        hints = (Hint("x", "reject"), more[0], Hint("e", "grow"), more[1])
        first, second = footer_lines(hints, Mode.REVIEW, 80, 2)
        assert (first.plain, second.plain) == (" x reject  e grow", " y span  ? keys")
        assert {str(span.style) for span in second.spans if span.style} == {"dim"}
        (line,) = footer_lines(hints, Mode.REVIEW, 30)
        assert line.plain == " x reject  …  e grow  ? keys"

    def test_no_keys(self) -> None:
        assert [line.plain for line in footer_lines((), Mode.REVIEW, 80)] == [" "]


class TestHeader:
    def test_everything(self) -> None:
        words = "84 % were right   sci-minilm 1.0   ⟳ predicting 12 of 375"
        assert header_text(HEADER, 120).plain == f" parsing.sciextract   37 of 412 done   {words}"

    @pytest.mark.parametrize("width", range(36, 120, 5))
    def test_progress_stays(self, width: int) -> None:
        line = header_text(HEADER, width)
        assert line.cell_len <= width
        assert "37 of 412 done" in line.plain

    def test_nothing_known(self) -> None:
        assert header_text(Header("p", 0, 0, predicting=(0, 0)), 80).plain == (
            " p   0 of 0 done   ⟳ predicting"
        )


class TestMessage:
    def test_problem_has_a_sign(self) -> None:
        assert message_text(Feedback("no [item]", problem=True), 40).plain == " ! no [item]"

    def test_cut(self) -> None:
        assert message_text(Feedback("undone: accept"), 9).plain == " undone:…"
        assert message_text(Feedback(), 9).plain == ""
