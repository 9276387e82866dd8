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
    contrast,
    label_style,
    label_variables,
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
    ground = Color.parse(str(theme.background))
    tints = [Color.parse(value) for key, value in variables.items() if key.endswith("-tint")]
    texts = [Color.parse(value) for key, value in variables.items() if not key.endswith("-tint")]
    assert min(contrast(text, tint) for text in texts for tint in (ground, *tints)) >= 4.5


@pytest.mark.parametrize("theme", [SAFE_DARK, SAFE_LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("eye", BLINDNESS)
def test_safe_colours_stay_distinct(theme: Theme, eye: str) -> None:
    schema = load_schema("scierc")
    variables = label_variables(schema, theme)
    seen = [
        _seen(Color.parse(variables[variable_name(label)]), eye) for label in schema.entity_labels
    ]
    assert min(_difference(a, b) for a, b in combinations(seen, 2)) >= 25


@pytest.mark.parametrize("name", SCHEMAS)
def test_sixteen_colours_are_names_and_none_is_used_twice_too_early(name: str) -> None:
    schema = load_schema(name)
    for theme in (known for known in THEMES if known.ansi):
        variables = label_variables(schema, theme)
        used = [variables[variable_name(label)] for label in schema.entity_labels]
        assert all(colour.startswith("ansi_") for colour in used)
        assert len(set(used)) == min(len(used), 12 if theme.dark else 8)


def test_unknown_labels_have_a_colour_too() -> None:
    assert label_style("no such label", {}, True).color is not None
    assert label_style("\ud800", {}, False) == label_style("\ud800", {}, False)


def test_a_theme_may_set_a_label_itself() -> None:
    own = {"label-task": "#ff0000", "label-task-tint": "ansi_default"}
    style = label_style("Task", own, True)
    assert style.color is not None and style.color.name == "#ff0000"


def test_readable_ends_at_white_or_black() -> None:
    assert readable(Color(128, 128, 128), [Color(51, 51, 51)], 21) == Color(255, 255, 255)


def _seen(colour: Color, eye: str) -> Color:
    linear = [part**2.2 for part in colour.normalized]
    red, green, blue = (
        round(
            255 * min(max(sum(a * b for a, b in zip(row, linear, strict=True)), 0), 1) ** (1 / 2.2)
        )
        for row in BLINDNESS[eye]
    )
    return Color(red, green, blue)


def _difference(first: Color, second: Color) -> float:
    """CIE76 difference; 2.3 is just noticeable."""
    one, other = rgb_to_lab(first), rgb_to_lab(second)
    return math.dist((one.L, one.a, one.b), (other.L, other.a, other.b))
