"""What the keys speak of, as it stands on the screen: the legend, the footer and the marks of the focus."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from sciextract.store import LinkRef, RelationRef
from sciextract_app.screens.review import ReviewScreen
from tests.app.presenter.abstracts import TEXT, gold, project_with
from tests.app.screens_support import desk_of, opened, shown

pytestmark = pytest.mark.asyncio


@pytest.fixture
def project(tmp_path: Path) -> Path:
    with project_with(tmp_path, gold(), texts=(TEXT, "Notes.")) as made:
        made.close()
    return tmp_path / "p.sciextract"


def bars(pilot: Pilot[None]) -> tuple[str, str]:
    """Legend and footer."""
    *_, legend, footer = shown(pilot).splitlines()
    return legend, footer


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
            assert "Enter same as ‹graph tagger›  x not the same  1 Task" in bars(pilot)[0]

    @pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
    async def test_the_keys_of_every_abstract_are_always_in_the_footer(
        self, project: Path, size: tuple[int, int]
    ) -> None:
        async with opened(project, size=size) as (app, pilot):
            for kind in (object, RelationRef, LinkRef):
                await tab_to(pilot, desk_of(app), kind)
                footer = bars(pilot)[1]
                assert "D done  u undo  v select  n next abstract" in footer
                assert footer.rstrip().endswith("? keys")

    async def test_modes_of_letters_name_the_labels(self, project: Path) -> None:
        async with opened(project) as (_, pilot):
            await pilot.press("semicolon")
            assert "t Task  m Method" in bars(pilot)[0]
            await pilot.press("escape", "c")
            assert (
                "a ‹graph tagger›, ‹tagger› +2  b ‹window baseline›, ‹baseline›" in bars(pilot)[0]
            )
