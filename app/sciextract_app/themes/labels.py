"""A schema's colours as theme variables: readable on the theme's ground, few or colour-blind safe where wanted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from zlib import crc32

from rich.style import Style
from textual.color import Color
from textual.theme import Theme

from sciextract.documents.schema import EntityType, LabelSchema, RelationType
from sciextract_app.themes import palettes
from sciextract_app.themes.contrast import Rgb, blend, contrast, hexadecimal, parse, readable
from sciextract_app.themes.desk_themes import DARK, LIGHT, PALETTE, RATIO

TINT = 0.16
"""Share of a label's colour in the ground of a mention that encloses others."""
_ENOUGH = 4.5


def colours(schema: LabelSchema, dark: bool) -> dict[str, Style]:
    """Foreground of each entity and relation label, and as background the ground of an enclosing mention."""
    variables = label_variables(schema, DARK if dark else LIGHT)
    labels = (*schema.relation_labels, *schema.entity_labels)
    return {label: label_style(label, variables, dark) for label in labels}


def label_variables(schema: LabelSchema, theme: Theme) -> dict[str, str]:
    """Theme variables of all labels, for ``App.get_theme_variable_defaults``; a theme may set them itself.

    ``label-`` and the label in lower case is its colour, with ``-tint`` behind it the ground.
    """
    types: tuple[EntityType | RelationType, ...] = (
        *schema.relations,
        *schema.entities,
    )
    hues = [*_hues(schema.relations, theme), *_hues(schema.entities, theme)]
    if theme.ansi:
        return {
            name: value
            for each, hue in zip(types, hues, strict=True)
            for name, value in _pair(each.label, f"ansi_{hue}", "ansi_default")
        }
    return dict(_readable([each.label for each in types], hues, theme))


def label_style(label: str, variables: Mapping[str, str], dark: bool) -> Style:
    """A label's style in the theme that has these variables; labels without one get a colour of their own."""
    name = variable_name(label)
    if name in variables and f"{name}-tint" in variables:
        return _style(variables[name], variables[f"{name}-tint"])
    palette = palettes.SAFE_ON_DARK if dark else palettes.SAFE_ON_LIGHT
    hue = palette[crc32(label.encode("utf-8", "surrogatepass")) % len(palette)]
    found = dict(_readable([label], [hue], DARK if dark else LIGHT))
    return _style(found[name], found[f"{name}-tint"])


def variable_name(label: str) -> str:
    """The theme variable of a label.

    >>> variable_name("USED-FOR"), variable_name("Ω-type")
    ('label-used-for', 'label-u3a9-type')
    """
    return "label-" + re.sub("[^A-Za-z0-9_-]", lambda each: f"u{ord(each[0]):x}", label).lower()


def _pair(label: str, colour: str, tint: str) -> Iterator[tuple[str, str]]:
    yield variable_name(label), colour
    yield f"{variable_name(label)}-tint", tint


def _hues(types: Sequence[EntityType | RelationType], theme: Theme) -> list[str]:
    """A colour for each type, before it is made readable; a name where the terminal has only sixteen."""
    own = [each.colour for each in types]
    if theme.ansi:
        return _nearest(own, palettes.SIXTEEN_ON_DARK if theme.dark else palettes.SIXTEEN_ON_LIGHT)
    if theme.variables.get(PALETTE) != "safe":
        return own
    palette = palettes.SAFE_ON_DARK if theme.dark else palettes.SAFE_ON_LIGHT
    return [palette[place % len(palette)] for place in range(len(own))]


def _nearest(wanted: Sequence[str], names: Sequence[str]) -> list[str]:
    """The nearest of some colours for each one, none twice before all are used."""
    found: list[str] = []
    left = list(names)
    for colour in wanted:
        left = left or list(names)
        best = min(left, key=lambda name: _distance(colour, palettes.SIXTEEN_RGB[name]))
        left.remove(best)
        found.append(best)
    return found


def _distance(first: str, second: str) -> float:
    return sum((a - b) ** 2 for a, b in zip(parse(first), parse(second), strict=True))


def _readable(
    labels: Sequence[str], hues: Sequence[str], theme: Theme
) -> Iterator[tuple[str, str]]:
    ground = _ground(theme)
    ratio = float(theme.variables.get(RATIO, _ENOUGH))
    tints = [blend(ground, parse(hue), TINT) for hue in hues]
    worst = sorted(tints, key=lambda tint: contrast(tint, ground))[-1:]
    for label, hue, tint in zip(labels, hues, tints, strict=True):
        shade = readable(parse(hue), [ground, *worst], ratio)
        yield from _pair(label, hexadecimal(shade), hexadecimal(tint))


def _ground(theme: Theme) -> Rgb:
    generated = theme.to_color_system().generate()
    return parse(Color.parse(generated["background"]).hex6)


def _style(colour: str, tint: str) -> Style:
    return Style(color=Color.parse(colour).rich_color, bgcolor=Color.parse(tint).rich_color)
