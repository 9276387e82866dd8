"""Reads abstracts whose tokens and sentences are marked by hand (format: head of ``tricky.txt``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

TRICKY = Path(__file__).resolve().parents[2] / "fixtures" / "text" / "tricky.txt"


@dataclass(frozen=True)
class Marked:
    name: str
    text: str
    tokens: tuple[tuple[int, int], ...]
    sentences: tuple[tuple[int, int], ...]
    """Character ranges, from the first to the last token of a sentence."""


def read_marked(path: Path = TRICKY) -> list[Marked]:
    content = re.sub(r"^# ?.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    blocks = [block.strip().splitlines() for block in content.split("=== ")[1:]]
    return [_marked(block[0], block[1:]) for block in blocks]


def _marked(name: str, lines: list[str]) -> Marked:
    text, gap = "", ""
    tokens: list[tuple[int, int]] = []
    sentences: list[tuple[int, int]] = []
    for line in lines:
        first = len(tokens)
        body = re.sub(r" ⏎ ", "\n", line.removesuffix("|").removesuffix(" ⏎"))
        text += gap
        for piece in re.split(r"([ \n|])", body):
            if piece in (" ", "\n"):
                text += piece
            elif piece not in ("", "|"):
                tokens.append((len(text), len(text) + len(piece)))
                text += piece
        sentences.append((tokens[first][0], tokens[-1][1]))
        gap = "\n" if line.endswith("⏎") else "" if line.endswith("|") else " "
    return Marked(name, text, tuple(tokens), tuple(sentences))
