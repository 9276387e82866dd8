"""Every command explains itself, and the pages that mention commands are right about them."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from typer.main import get_command

from sciextract.cli.main import make_app
from tests.contracts.parsed import nodes
from tests.shared_data import ROOT
from tools.cli_reference import command_paths

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
_FENCE = re.compile(r"^```(?:sh|bash|console|text)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
_APP: Any = get_command(make_app())  # typer builds all commands anew at each call
_NAMES = "|".join(_APP.commands)
_COMMAND = re.compile(rf"\b(?:sciextract (?:{_NAMES})|python -m research|ssh|pip) (?:[\w-]+ )*$")
_INLINE = re.compile(r"`(sciextract [^`\n]+)`")


def command(words: tuple[str, ...]) -> Any:
    found = _APP
    for word in words:
        found = found.commands[word]
    return found


def shown(words: tuple[str, ...]) -> str:
    return " ".join(("sciextract", *words))


class TestEveryCommand:
    def test_help_says_what_it_does(self) -> None:
        for words in command_paths():
            assert len(command(words).help.split("\n")[0]) > 20, shown(words)

    def test_every_option_is_explained(self) -> None:
        silent = [
            f"{shown(words)}: {param.name}"
            for words in command_paths()
            for param in command(words).params
            if not getattr(param, "help", None)
        ]
        assert silent == []


def mentioned(page: Path) -> Iterator[str]:
    """Command lines in a page: lines of code blocks, and code in running text."""
    text = page.read_text("utf-8")
    for block in _FENCE.findall(text):
        for line in block.replace("\\\n", " ").split("\n"):
            for piece in line.strip().removeprefix("$ ").split(" | "):
                if piece.startswith("sciextract "):
                    yield piece
    yield from _INLINE.findall(_FENCE.sub("", text))


def wrong(line: str) -> str:
    """What a command line says that does not exist; empty when it is right."""
    words = [word for word in shlex.split(line, comments=True)[1:] if word not in ("…", "...")]
    known = _APP
    while words and words[0] in getattr(known, "commands", {}):
        known = known.commands[words.pop(0)]
    options = {name for param in known.params for name in (*param.opts, *param.secondary_opts)}
    options |= {"--help", "-h"}
    used = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    if hasattr(known, "commands") and words and not used:
        return "no such command"
    return ", ".join(sorted(used - options))


def test_mentioned_commands_and_options_exist() -> None:
    lines = {(page.name, line) for page in PAGES for line in mentioned(page)}
    assert len(lines) > 5
    assert [(page, line, wrong(line)) for page, line in sorted(lines) if wrong(line)] == []
    assert wrong("sciextract annotat") and wrong("sciextract annotate --colour")


def unquoted(found: Iterable[ast.AST]) -> Iterator[int]:
    """Lines with a command to paste in which a value stands as it is, not through ``as_command``."""
    for node in found:
        if isinstance(node, ast.JoinedStr):
            for before, value in pairwise(node.values):
                words = str(before.value) if isinstance(before, ast.Constant) else ""
                if isinstance(value, ast.FormattedValue) and _COMMAND.search(words):
                    yield node.lineno


def test_values_in_commands_to_paste_are_quoted() -> None:
    assert list(unquoted(ast.walk(ast.parse('f"then: sciextract init {path}"'))))
    sources = [
        file for part in ("sciextract", "app", "trainer") for file in (ROOT / part).rglob("*.py")
    ]
    found = {str(source): list(unquoted(nodes(source))) for source in sources}
    assert {name: lines for name, lines in found.items() if lines} == {}
