"""Python files as trees: several contracts walk through all of them, and parsing is what takes their time."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def nodes(path: Path) -> list[ast.AST]:
    """All nodes of a file."""
    return list(ast.walk(ast.parse(path.read_text("utf-8"))))
