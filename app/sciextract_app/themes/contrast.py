"""Readable colours: contrast as WCAG 2 measures it, and the nearest lightness that has enough of it."""

from __future__ import annotations

import colorsys
from collections.abc import Iterable

Rgb = tuple[float, float, float]
"""Red, green and blue, 0 to 1."""
_STEPS = 100
_MIDDLE = 0.18


def parse(colour: str) -> Rgb:
    """The colour of ``#rrggbb``.

    Raises:
        ValueError: It is written in another way.
    """
    digits = colour.removeprefix("#")
    if len(digits) != len("rrggbb"):
        raise ValueError(f"colour {colour!r} is not of the form #rrggbb")
    red, green, blue = (int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4))
    return red, green, blue


def hexadecimal(colour: Rgb) -> str:
    """A colour as ``#rrggbb``."""
    return "#" + "".join(f"{round(min(max(part, 0), 1) * 255):02x}" for part in colour)


def luminance(colour: Rgb) -> float:
    """Relative luminance, 0 to 1 (WCAG 2.2)."""
    red, green, blue = (_linear(part) for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: Rgb, second: Rgb) -> float:
    """Contrast ratio, 1 to 21 (WCAG 2.2); 4.5 is enough for text."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def blend(background: Rgb, colour: Rgb, share: float) -> Rgb:
    """A background with a share of a colour in it."""
    red, green, blue = (
        under + (over - under) * share for under, over in zip(background, colour, strict=True)
    )
    return red, green, blue


def readable(colour: Rgb, backgrounds: Iterable[Rgb], ratio: float) -> Rgb:
    """The colour, lighter or darker as far as it needs for a contrast ratio on all backgrounds.

    White or black where no shade of it has that much.
    """
    behind = list(backgrounds)
    goal = 1.0 if luminance(behind[0]) < _MIDDLE else 0.0
    hue, lightness, saturation = colorsys.rgb_to_hls(*colour)
    for step in range(_STEPS + 1):
        shade = colorsys.hls_to_rgb(hue, lightness + (goal - lightness) * step / _STEPS, saturation)
        if all(contrast(shade, each) >= ratio for each in behind):
            return shade
    return goal, goal, goal


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
