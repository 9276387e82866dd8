"""Colours for types and lines, told apart by most colour-blind eyes.

M. Okabe and K. Ito: Color Universal Design, 2008.
"""

from __future__ import annotations

from collections.abc import Iterable

_COLOURS = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#0072b2", "#f0e442", "#999999")


def colours_of(labels: Iterable[str]) -> dict[str, str]:
    """A colour for each label, the same for the same set of labels."""
    return {
        label: _COLOURS[place % len(_COLOURS)] for place, label in enumerate(sorted(set(labels)))
    }
