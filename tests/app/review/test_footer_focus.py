"""What the keys speak of, as it stands on the screen: the legend, the footer and the marks of the focus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.color import Color
from textual.pilot import Pilot
from textual.theme import Theme

from sciextract.store import EntityRef, LinkRef, RelationRef
from sciextract_app.review.view.screen import ReviewScreen
from sciextract_app.themes import THEMES, contrast
from sciextract_app.widgets.passage_view import PassageView
from tests.app.review.abstracts import SCIERC, TEXT, gold, project_with
from tests.app.screens_support import desk_of, opened, shown

pytestmark = pytest.mark.asyncio


@pytest.fixture
def project(tmp_path: Path) -> Path:
    with project_with(tmp_path, gold(), texts=(TEXT, "Notes.")) as made:
        made.close()
    return tmp_path / "p.sciextract"


def bars(pilot: Pilot[None]) -> tuple[str, str]:
    """Legend and footer, whose two lines are joined."""
    *_, legend, first, second = shown(pilot).splitlines()
    return legend, f"{first.strip()}  {second.strip()}"


async def tab_to(pilot: Pilot[None], screen: ReviewScreen, kind: type) -> None:
    """Press Tab until an item of a kind has the focus."""
    for _ in range(40):
        if isinstance(screen.desk.focus, kind):
            return
        await pilot.press("tab")
    raise AssertionError(f"no {kind.__name__} has the focus")


class TestLegend:
    async def test_digits_stand_beside_the_labels_of_the_focus(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            assert "1 Task  2 Method  3 Metric  4 Material" in bars(pilot)[0]
            await tab_to(pilot, desk_of(app), RelationRef)
            assert "1 USED-FOR" in bars(pilot)[0]
            await tab_to(pilot, desk_of(app), LinkRef)
            assert "1 Task  2 Method" in bars(pilot)[0]
            assert bars(pilot)[1].startswith("link:  Enter same as ‹graph tagger›  x not the same")

    @pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
    async def test_six_keys_of_the_focus_stand_before_the_others(
        self, project: Path, size: tuple[int, int]
    ) -> None:
        async with opened(project, size=size) as (app, pilot):
            for kind, keys in (
                (object, "s e grow  S E shrink  M relations first  r relate"),
                (RelationRef, "i invert  r relate  c cluster  M relations first"),
                (LinkRef, "C uncluster  m merge  X split"),
            ):
                await tab_to(pilot, desk_of(app), kind)
                first, second = shown(pilot).splitlines()[-2:]
                assert first.strip().endswith(keys)
                assert kind is not RelationRef or "uncluster" not in second, "it would be refused"
                assert second.strip().startswith("D done  u undo")
                assert second.strip().endswith("? keys")
            await pilot.press("enter", "H")
            assert "relations first" not in bars(pilot)[1], "only where nothing is decided yet"

    async def test_labels_of_relations_are_told_apart_in_80_columns(self, project: Path) -> None:
        async with opened(project, size=(80, 24)) as (app, pilot):
            await pilot.press("r")
            await pilot.press(*desk_of(app).desk.passage().hints[TEXT.index("noun")])
            assert "which type?" in shown(pilot)
            for label in SCIERC.relation_labels:
                assert label in shown(pilot)

    async def test_modes_of_letters_name_the_labels(self, project: Path) -> None:
        async with opened(project) as (_, pilot):
            await pilot.press("semicolon")
            assert "t Task  m Method" in bars(pilot)[0]
            await pilot.press("escape", "c")
            assert (
                "a ‹graph tagger›, ‹tagger› +2  b ‹window baseline›, ‹baseline›" in bars(pilot)[0]
            )


def looks(pilot: Pilot[None]) -> str:
    """The passage as one line."""
    view = pilot.app.screen.query_one(PassageView)
    return " ".join(view.render_line(y).text.strip() for y in range(view.size.height))


class TestFocus:
    async def test_mention_relation_and_link_look_different_without_colour(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("NO_COLOR", "1")
        async with opened(project) as (app, pilot):
            assert "⟦graph tagger⟧ᴹ" in looks(pilot)
            await tab_to(pilot, desk_of(app), RelationRef)
            assert "⟦graph tagger►ᴹ" in looks(pilot)  # USED-FOR
            assert "►noun chunking⟧ᵀ" in looks(pilot)
            await tab_to(pilot, desk_of(app), LinkRef)
            assert "{graph tagger}ᴹ" in looks(pilot)
            assert "{tagger}ᴳ" in looks(pilot)

    async def test_the_direction_of_a_relation_is_seen_when_it_turns(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await tab_to(pilot, desk_of(app), RelationRef)
            await pilot.press("i")
            assert "►graph tagger⟧ᴹ" in looks(pilot)
            assert "⟦noun chunking►ᵀ" in looks(pilot)

    async def test_types_go_on_from_decided_and_undecided_items(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            desk = desk_of(app).desk
            await pilot.press("1")
            assert desk.focus == EntityRef("task")
            await pilot.press("k", "2")  # back to the decided one
            assert desk.state.open_view.by_id["tagger1"].label == "Method"
            assert desk.focus == EntityRef("task")

    async def test_accepting_and_rejecting_a_relation_says_so(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await tab_to(pilot, desk_of(app), RelationRef)
            await pilot.press("enter")
            said = "‹graph tagger› USED-FOR ─▶ ‹noun chunking› accepted, with ‹graph tagger›"
            assert f"{said} and ‹noun chunking›" in shown(pilot)
            await tab_to(pilot, desk_of(app), RelationRef)
            await pilot.press("x")
            assert "‹tagger› rejected; u undoes it" in shown(pilot)


class TestContrast:
    @pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
    async def test_everything_on_the_desk_is_readable(self, project: Path, theme: Theme) -> None:
        async with opened(project) as (app, pilot):
            app.theme = theme.name
            for keys in ((), ("tab",) * 12, ("escape", "f"), ("escape", "v", "l"), ("escape", "n")):
                await pilot.press(*keys)
                await pilot.pause()
                faint = {colour for colour in unreadable(pilot) if colour}
                assert not faint, f"{keys}: {faint}"

    async def test_the_greys_of_no_color_are_readable_too(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("NO_COLOR", "1")
        async with opened(project) as (app, pilot):
            app.theme = "desk-dark"
            await pilot.press("tab")
            await pilot.pause()
            assert not list(unreadable(pilot))


def unreadable(pilot: Pilot[None]) -> Iterator[str]:
    """What stands on the screen with a contrast below 4.5, or dim in the terminal's own colours."""
    for strip in pilot.app.screen._compositor.render_strips():
        for text, style, _ in strip:
            if style is None or not text.strip(" ▁▂▃▄▅▆▇█▔─│┌┐└┘"):
                continue
            fore, back = (
                colour.triplet if colour else None for colour in (style.color, style.bgcolor)
            )
            if style.dim:
                yield f"{text!r} is dim"
            elif (
                fore
                and back
                and (ratio := contrast(Color.parse(fore.hex), Color.parse(back.hex))) < 4.5
            ):
                yield f"{text!r} {ratio:.2f}"
