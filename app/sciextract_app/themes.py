"""A schema's colours as theme variables: readable on the theme's ground, few or colour-blind safe where wanted."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from zlib import crc32

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import BUILTIN_THEMES, Theme

from sciextract.documents.schema import EntityType, LabelSchema, RelationType

_STEPS = 100
# Middle grey reflects 18 % of the light: darker grounds take lighter text.
_MIDDLE = 0.18
ENOUGH = 4.5
"""Contrast ratio of text (WCAG 2.2, AA)."""


def luminance(colour: Color) -> float:
    """Relative luminance, 0 to 1 (WCAG 2.2)."""
    # sRGB is nearly linear near black, and has a power of 2.4 elsewhere.
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
        for part in colour.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: Color, second: Color) -> float:
    """Contrast ratio, 1 to 21 (WCAG 2.2); 4.5 is enough for text."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def readable(colour: Color, behind: Sequence[Color], ratio: float) -> Color:
    """The colour, lighter or darker as far as it needs for a contrast ratio on all backgrounds.

    White or black where no shade of it has that much.
    """
    goal = 1.0 if luminance(behind[0]) < _MIDDLE else 0.0
    hue, saturation, lightness = colour.hsl
    for step in range(_STEPS + 1):
        shade = Color.from_hsl(hue, saturation, lightness + (goal - lightness) * step / _STEPS)
        if all(contrast(shade, background) >= ratio for background in behind):
            return shade
    return Color.from_hsl(hue, saturation, goal)


SAFE_ON_DARK = (
    *("#7cadde", "#ffff0f", "#e0ffc2", "#af9a2c", "#69a591", "#a8ffff"),
    *("#ffe875", "#8f8fff", "#a5a569"),
)
"""Distinct with any colour vision on dark grounds: among readable colours those with the largest CIE76
differences, each from all before it, as seen with full sight, protanopia and deuteranopia (Machado, Oliveira
and Fernandes 2009, doi:10.1109/TVCG.2009.113)."""
SAFE_ON_LIGHT = (
    *("#2c58af", "#5c5c00", "#0f0f1a", "#0000f5", "#006275", "#005c3d"),
    *("#00005c", "#0000a8", "#291b00"),
)
"""The same on light grounds."""
SIXTEEN_ON_DARK = (
    *("bright_blue", "bright_green", "bright_yellow", "bright_magenta", "bright_cyan"),
    *("bright_red", "white", "yellow", "green", "cyan", "magenta", "red"),
)
SIXTEEN_ON_LIGHT = ("blue", "green", "yellow", "magenta", "cyan", "red", "bright_black", "black")


PALETTE = "label-palette"
"""Theme variable: ``safe`` replaces the schema's colours by some that everybody can tell apart."""
RATIO = "label-contrast"
"""Theme variable: the contrast that label colours have at least."""

DARK = Theme(
    name="desk-dark",
    primary="#5fa8e8",
    accent="#f0b45a",
    warning="#f0b45a",
    error="#e0667a",
    success="#67c285",
    foreground="#dcdfe4",
    background="#14171c",
    surface="#1b1f26",
    panel="#262c36",
    dark=True,
)
LIGHT = Theme(
    name="desk-light",
    primary="#1f5f9e",
    accent="#9a5b00",
    warning="#9a5b00",
    error="#b3223e",
    success="#1d7a3c",
    foreground="#1c1f24",
    background="#fbfaf7",
    surface="#f1efea",
    panel="#e2dfd8",
    dark=False,
)
HIGH_CONTRAST = Theme(
    name="desk-high-contrast",
    primary="#66ccff",
    accent="#ffff00",
    warning="#ffff00",
    error="#ff8080",
    success="#80ff80",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#202020",
    dark=True,
    text_alpha=1.0,
    variables={RATIO: "8"},
)
SAFE_DARK = replace(DARK, name="desk-colour-blind-dark", variables={PALETTE: "safe"})
SAFE_LIGHT = replace(LIGHT, name="desk-colour-blind-light", variables={PALETTE: "safe"})
SIXTEEN_DARK = replace(BUILTIN_THEMES["ansi-dark"], name="desk-16-colours-dark")
SIXTEEN_LIGHT = replace(BUILTIN_THEMES["ansi-light"], name="desk-16-colours-light")

THEMES = (DARK, LIGHT, HIGH_CONTRAST, SAFE_DARK, SAFE_LIGHT, SIXTEEN_DARK, SIXTEEN_LIGHT)
"""To register with ``App.register_theme``; the first one is the usual one."""


def usual_theme(chosen: str | None, known: Collection[str], colours: str | None) -> str:
    """The theme that was chosen last, else one for as many colours as the terminal has."""
    if chosen in known:
        return str(chosen)
    return DARK.name if colours in ("256", "truecolor") else SIXTEEN_DARK.name


TINT = 0.16
"""Share of a label's colour in the ground of a mention that encloses others."""


def label_variables(schema: LabelSchema, theme: Theme) -> dict[str, str]:
    """Theme variables of all labels, for ``App.get_theme_variable_defaults``; a theme may set them itself.

    ``label-`` and the label in lower case is its colour, with ``-tint`` behind it the ground.
    """
    types: tuple[EntityType | RelationType, ...] = (*schema.relations, *schema.entities)
    hues = [*_hues(schema.relations, theme), *_hues(schema.entities, theme)]
    labels = [type_.label for type_ in types]
    return _use_terminal_colours(labels, hues) if theme.ansi else _readable(labels, hues, theme)


def label_style(label: str, variables: Mapping[str, str], dark: bool) -> Style:
    """A label's style in the theme that has these variables; labels without one get a colour of their own."""
    name = variable_name(label)
    if name in variables and f"{name}-tint" in variables:
        return _style(variables[name], variables[f"{name}-tint"])
    palette = SAFE_ON_DARK if dark else SAFE_ON_LIGHT
    # Not hash(), which is another number in every process.
    hue = palette[crc32(label.encode("utf-8", "surrogatepass")) % len(palette)]
    found = _readable([label], [hue], DARK if dark else LIGHT)
    return _style(found[name], found[f"{name}-tint"])


# Asked for with every line that has labels.
@lru_cache(maxsize=1024)
def variable_name(label: str) -> str:
    """The theme variable of a label.

    >>> variable_name("USED-FOR"), variable_name("Ω-type")
    ('label-used-for', 'label-u3a9-type')
    """
    return "label-" + re.sub("[^A-Za-z0-9_-]", lambda match: f"u{ord(match[0]):x}", label).lower()


def _hues(types: Sequence[EntityType | RelationType], theme: Theme) -> list[str]:
    """A colour for each type, before it is made readable; a name where the terminal has only sixteen."""
    palette: Sequence[str]
    if theme.ansi:
        palette = SIXTEEN_ON_DARK if theme.dark else SIXTEEN_ON_LIGHT
    elif theme.variables.get(PALETTE) == "safe":
        palette = SAFE_ON_DARK if theme.dark else SAFE_ON_LIGHT
    else:
        return [type_.colour for type_ in types]
    return [palette[place % len(palette)] for place in range(len(types))]


def _use_terminal_colours(labels: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for label, name in zip(map(variable_name, labels), names, strict=True):
        found |= {label: f"ansi_{name}", f"{label}-tint": "ansi_default"}
    return found


def _readable(labels: Sequence[str], hues: Sequence[str], theme: Theme) -> dict[str, str]:
    generated, found = theme.to_color_system().generate(), dict[str, str]()
    # The ground of the text, and that of the token under the cursor.
    ground, cursor = (Color.parse(generated[name]) for name in ("background", "panel"))
    ratio = float(theme.variables.get(RATIO, ENOUGH))
    tints = [ground.blend(Color.parse(hue), TINT) for hue in hues]
    # What is readable on the tint farthest from the ground is readable on the others.
    worst = sorted(tints, key=lambda tint: contrast(tint, ground))[-1:]
    for label, hue, tint in zip(map(variable_name, labels), hues, tints, strict=True):
        shade = readable(Color.parse(hue), [ground, cursor, *worst], ratio)
        found |= {label: shade.hex6, f"{label}-tint": tint.hex6}
    return found


class Readable(LineFilter):
    """Draws dim text in a colour between text and ground that is still readable; terminals would make it fainter.

    Args:
        everything: Whether all text is made readable: greys made of colours, without colours, may not be.
    """

    def __init__(self, everything: bool = False) -> None:
        super().__init__()
        self._everything = everything

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same segments, none of them dim."""
        found = []
        for segment in segments:
            text, style, _ = segment
            if style is not None and (style.dim or self._everything):
                found.append(Segment(text, _made_readable(style, background)))
            else:
                found.append(segment)
        return found


_MUTED = 0.6


@lru_cache(maxsize=1024)
def _made_readable(style: Style, background: Color) -> Style:
    plain = style + Style(dim=False)
    behind = style.bgcolor or background.rich_color
    if behind.triplet is None or style.color is None or style.color.triplet is None:
        return plain  # the terminal's own colours
    ground, text = map(Color.from_rich_color, (behind, style.color))
    wanted = ground.blend(text, _MUTED) if style.dim else text
    return plain + Style(color=readable(wanted, [ground], ENOUGH).rich_color)


def _style(colour: str, tint: str) -> Style:
    return Style(color=Color.parse(colour).rich_color, bgcolor=Color.parse(tint).rich_color)
