from __future__ import annotations

from sciextract_app.widgets.help import help_grid


def test_help_lists_groups_once() -> None:
    rows = [
        ("Enter", "accept", "anywhere"),
        ("x", "[reject]", "anywhere"),
        ("i", "invert", "relations"),
    ]
    grid = help_grid(rows)
    keys = [str(cell) for cell in grid.columns[0].cells]
    words = [str(cell) for cell in grid.columns[1].cells]
    assert keys == ["", "Enter", "x", "", "", "i"]
    assert words == ["Anywhere", "accept", "[reject]", "", "Relations", "invert"]
