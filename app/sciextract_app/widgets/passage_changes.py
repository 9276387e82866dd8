"""What differs between two states of a passage: whether anything moves, and which lines look different."""

from __future__ import annotations

from sciextract_app.presenter.shown import Passage
from sciextract_app.widgets.passage_layout import PassageLayout, same_place

FEW = 200
"""Changed mentions up to which their lines are looked for; otherwise all are painted again."""


def same_layout(before: Passage, after: Passage) -> bool:
    """Whether everything stands where it stood."""
    if before.text != after.text or len(before.marks) != len(after.marks):
        return False
    return all(map(same_place, before.marks, after.marks))


def changed_lines(layout: PassageLayout, before: Passage, after: Passage) -> set[int]:
    """Lines that have to be painted again, for two passages of one layout."""
    if before.hints != after.hints or before.title_end != after.title_end:
        return set(range(layout.height))
    pairs = enumerate(zip(before.marks, after.marks, strict=True))
    changed = [index for index, (old, new) in pairs if old is not new and old != new]
    if len(changed) > FEW:
        return set(range(layout.height))
    found: set[int] = set()
    for index in changed:
        found.update(layout.lines_of_mark(index, after.marks[index]))
    for old_span, new_span in _spans(before, after):
        if old_span != new_span:
            for span in filter(None, (old_span, new_span)):
                found.update(layout.lines_of(*span))
    return found


def focus_of(passage: Passage) -> tuple[str | None, tuple[int, int]]:
    """What the person looks at: the focused mention and the cursor."""
    ids = (mark.item_id for mark in passage.marks if mark.focused)
    return next(ids, None), passage.cursor


def _spans(
    before: Passage, after: Passage
) -> tuple[tuple[tuple[int, int] | None, tuple[int, int] | None], ...]:
    return (
        (before.cursor, after.cursor),
        (before.selection, after.selection),
        (before.candidate, after.candidate),
    )
