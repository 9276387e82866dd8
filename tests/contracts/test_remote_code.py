"""Code that comes with an encoder or a model never runs: one function loads what transformers reads."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import pytest

from tests.contracts.parsed import nodes
from tests.shared_data import ROOT

HOME = ROOT / "trainer/sciextract_trainer/encoders/loading.py"
PARTS = ("sciextract", "app", "trainer", "tools", "benchmarks", "research")
LOADERS = {"from_pretrained", "get_class_from_dynamic_module", "pipeline"}
"""Names of transformers that may run code from a folder or the hub, and ask on the terminal whether they may."""


def broken(found: Iterable[ast.AST], home: bool = False) -> Iterator[str]:
    """The places in a module where code from elsewhere could be let in, as ``line: what``."""
    for node in found:
        if isinstance(node, ast.Attribute) and node.attr == "from_pretrained" and not home:
            yield f"{node.lineno}: from_pretrained; use encoders.loading.load_pretrained"
        if isinstance(node, ast.Constant) and node.value == "from_pretrained":
            yield f"{node.lineno}: from_pretrained by its name"
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("transformers"):
            for name in LOADERS & {imported.name for imported in node.names}:
                yield f"{node.lineno}: {name} of transformers"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            wanted = node.func.attr in ("from_pretrained", "from_config")
            if wanted and "trust_remote_code" not in {keyword.arg for keyword in node.keywords}:
                yield f"{node.lineno}: {node.func.attr} without trust_remote_code=False"
        if isinstance(node, ast.keyword) and node.arg == "trust_remote_code":
            value = node.value.value if isinstance(node.value, ast.Constant) else None
            if value is not False:
                yield f"{node.value.lineno}: trust_remote_code is not False"


@pytest.mark.parametrize("part", PARTS)
def test_no_code_from_elsewhere_is_let_in(part: str) -> None:
    files = sorted((ROOT / part).rglob("*.py"))
    found = [
        f"{path.relative_to(ROOT)}:{place}"
        for path in files
        for place in broken(nodes(path), path == HOME)
    ]
    assert files and found == []


@pytest.mark.parametrize(
    "code",
    [
        "AutoModel.from_pretrained(source, trust_remote_code=False)",
        "load = AutoModel.from_pretrained",
        'getattr(AutoModel, "from_pretrained")(source)',
        "from transformers import pipeline",
        "AutoModel.from_config(settings)",
        "load_pretrained(AutoModel, source, trust_remote_code=wish)",
    ],
)
def test_what_would_let_it_in_is_found(code: str) -> None:
    assert list(broken(ast.walk(ast.parse(code))))


def test_the_one_place_that_loads_refuses_code() -> None:
    code = HOME.read_text(encoding="utf-8")
    assert code.count(".from_pretrained(") == 1
    let_in = code.replace("trust_remote_code=False", "trust_remote_code=True")
    assert list(broken(ast.walk(ast.parse(let_in)), True))
