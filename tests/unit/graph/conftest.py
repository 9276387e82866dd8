from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.graph.database import open_graph
from tests.graph_samples import build, field


@pytest.fixture(scope="session")
def field_graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The graph of four abstracts."""
    path = tmp_path_factory.mktemp("field") / "field.graph"
    build(path, *field())
    return path


@pytest.fixture
def connection(field_graph: Path) -> Iterator[sqlite3.Connection]:
    with open_graph(field_graph) as connection:
        yield connection
