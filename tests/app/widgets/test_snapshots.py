"""Pictures of the desk with a rich invented passage, at the two usual sizes and in every kind of theme."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.app.widgets.passages import RICH, TEXT
from tests.app.widgets.tiny_app import TinyDesk

Compare = Callable[..., bool]
HINTS = {
    TEXT.index(words): hint for words, hint in (("Core", "as"), ("parsers", "d"), ("We", "fg"))
}


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
class TestDesk:
    def test_usual(self, snap_compare: Compare, size: tuple[int, int]) -> None:
        assert snap_compare(TinyDesk(), terminal_size=size)

    def test_hints_and_selection(self, snap_compare: Compare, size: tuple[int, int]) -> None:
        passage = replace(RICH, hints=HINTS, selection=(40, 52), candidate=None)
        assert snap_compare(TinyDesk(passage), terminal_size=size)


@pytest.mark.parametrize(
    "theme", ["desk-light", "desk-high-contrast", "desk-colour-blind-dark", "desk-16-colours-dark"]
)
def test_themes(snap_compare: Compare, theme: str) -> None:
    assert snap_compare(TinyDesk(theme=theme), terminal_size=(100, 24))


def test_without_colours(snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(TinyDesk(), terminal_size=(100, 24))
