"""The desk's own themes; every theme of Textual serves as well."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from textual.theme import BUILTIN_THEMES, Theme

PALETTE = "label-palette"
"""Theme variable: ``safe`` replaces the schema's colours by some that everybody can tell apart."""
RATIO = "label-contrast"
"""Theme variable: the contrast that label colours have at least."""

DARK = Theme(
    name="desk-dark",
    primary="#5fa8e8",
    secondary="#3d6a94",
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
    secondary="#4a7aa8",
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
    secondary="#66ccff",
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
