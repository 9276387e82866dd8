"""Label colours: readable on every theme of the desk, distinct for every eye, sixteen where there are no more."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from textual.color import Color, rgb_to_lab
from textual.theme import Theme

from sciextract.documents.schema_file import load_schema
from sciextract_app.themes import (
    SAFE_DARK,
    SAFE_LIGHT,
    THEMES,
    Rgb,
    colours,
    contrast,
    label_style,
    label_variables,
    parse,
    readable,
    variable_name,
)

SCHEMAS = ("scierc", "scier", "genia", "biomedical", "bio", "science")
TRUE_COLOUR = [theme for theme in THEMES if not theme.ansi]
# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
BLINDNESS = {
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.1523, 1.0526, -0.2049), (0.1145, 0.7863, 0.0992), (-0.0039, -0.0481, 1.052)),
    "deuteranopia": ((0.3673, 0.8606, -0.228), (0.2801, 0.6725, 0.0474), (-0.0118, 0.0429, 0.9689)),
}


@pytest.mark.parametrize("theme", TRUE_COLOUR, ids=lambda theme: theme.name)
@pytest.mark.parametrize("name", SCHEMAS)
def test_labels_are_readable_on_ground_and_tints(theme: Theme, name: str) -> None:
    variables = label_variables(load_schema(name), theme)
    ground = parse(Color.parse(str(theme.background)).hex6)
    tints = [parse(value) for key, value in variables.items() if key.endswith("-tint")]
    texts = [parse(value) for key, value in variables.items() if not key.endswith("-tint")]
    assert min(contrast(text, each) for text in texts for each in (ground, *tints)) >= 4.5


@pytest.mark.parametrize("theme", [SAFE_DARK, SAFE_LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("eye", BLINDNESS)
def test_safe_colours_stay_distinct(theme: Theme, eye: str) -> None:
    schema = load_schema("scierc")
    variables = label_variables(schema, theme)
    seen = [_seen(parse(variables[variable_name(each)]), eye) for each in schema.entity_labels]
    assert min(_difference(a, b) for a, b in combinations(seen, 2)) >= 25


@pytest.mark.parametrize("name", SCHEMAS)
def test_sixteen_colours_are_names_and_none_is_used_twice_too_early(name: str) -> None:
    schema = load_schema(name)
    for theme in (each for each in THEMES if each.ansi):
        variables = label_variables(schema, theme)
        used = [variables[variable_name(label)] for label in schema.entity_labels]
        assert all(each.startswith("ansi_") for each in used)
        assert len(set(used)) == min(len(used), 12 if theme.dark else 8)


def test_colours_of_a_schema() -> None:
    schema = load_schema("scierc")
    dark, light = colours(schema, True), colours(schema, False)
    assert set(dark) == {*schema.entity_labels, *schema.relation_labels}
    assert dark["Task"].color != light["Task"].color
    assert dark["Task"].bgcolor is not None


def test_unknown_labels_have_a_colour_too() -> None:
    assert label_style("no such label", {}, True).color is not None
    assert label_style("\ud800", {}, False) == label_style("\ud800", {}, False)


def test_a_theme_may_set_a_label_itself() -> None:
    own = {"label-task": "#ff0000", "label-task-tint": "ansi_default"}
    style = label_style("Task", own, True)
    assert style.color is not None and style.color.name == "#ff0000"


def test_readable_ends_at_white_or_black() -> None:
    assert readable((0.5, 0.5, 0.5), [(0.2, 0.2, 0.2)], 21) == (1, 1, 1)
    with pytest.raises(ValueError, match="rrggbb"):
        parse("red")


def _seen(colour: Rgb, eye: str) -> Rgb:
    linear = [part**2.2 for part in colour]
    red, green, blue = (
        min(max(sum(a * b for a, b in zip(row, linear, strict=True)), 0), 1) ** (1 / 2.2)
        for row in BLINDNESS[eye]
    )
    return red, green, blue


def _difference(first: Rgb, second: Rgb) -> float:
    """CIE76 difference; 2.3 is just noticeable."""
    return math.dist(_lab(first), _lab(second))


def _lab(colour: Rgb) -> Rgb:
    red, green, blue = (round(part * 255) for part in colour)
    found = rgb_to_lab(Color(red, green, blue))
    return found.L, found.a, found.b
