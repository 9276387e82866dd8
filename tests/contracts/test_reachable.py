"""Every module of the wheel is reached from a command or from the public library."""

from __future__ import annotations

import ast
from pathlib import Path

from sciextract.cli.main import make_app
from tests.contracts.parsed import nodes
from tests.shared_data import ROOT

PACKAGES = {
    "sciextract": ROOT,
    "sciextract_app": ROOT / "app",
    "sciextract_trainer": ROOT / "trainer",
}
ENTRIES = (
    "sciextract",
    "sciextract.__main__",
    "sciextract.cli.main",
    "sciextract.interop.spacy_pipe",
)
# Loaded by their names: formats; a script is sent to other machines as text.
BY_NAME = (
    "sciextract.formats.",
    "sciextract.interop.spacy_docs",
    "sciextract.retraining.remote.other_machine",
)


def modules() -> dict[str, Path]:
    found = {}
    for package, folder in PACKAGES.items():
        for path in (folder / package).rglob("*.py"):
            name = ".".join(path.relative_to(folder).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


def command_modules() -> set[str]:
    """The modules that the command line loads for its commands."""
    app = make_app()
    groups = [group.typer_instance for group in app.registered_groups]
    commands = [
        command for group in (app, *groups) if group for command in group.registered_commands
    ]
    return {command.callback.__module__ for command in commands if command.callback}


def imported(path: Path) -> set[str]:
    """The names that a file imports anywhere, functions included, and modules named in strings."""
    names: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)
    return names


def test_no_module_of_the_wheel_is_unreachable() -> None:
    known = modules()
    waiting = [name for name in known if name in ENTRIES or name.startswith(BY_NAME)]
    waiting += command_modules()
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in known and name not in seen:
            seen.add(name)
            waiting += [*imported(known[name]), name.rpartition(".")[0]]
    assert sorted(known.keys() - seen) == []
