"""Colours that replace those of a schema where hues are few or not seen alike by everybody."""

from __future__ import annotations

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
SIXTEEN_RGB = {
    "black": "#000000",
    "red": "#aa0000",
    "green": "#00aa00",
    "yellow": "#aa7700",
    "blue": "#3050d0",
    "magenta": "#aa00aa",
    "cyan": "#00aaaa",
    "white": "#aaaaaa",
    "bright_black": "#666666",
    "bright_red": "#ff5555",
    "bright_green": "#55ff55",
    "bright_yellow": "#ffd040",
    "bright_blue": "#5c7cff",
    "bright_magenta": "#ff55ff",
    "bright_cyan": "#55ffff",
}
"""Roughly what terminals show for their sixteen colours: only to find the nearest one."""
