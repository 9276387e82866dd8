from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.graph.database import open_graph
from tests.graph_samples import abstract, build, field


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


@pytest.fixture(scope="session")
def random_graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three hundred abstracts that relate random things of random years."""
    chance = random.Random(11)
    documents = []
    for number in range(300):
        one, other = sorted(chance.sample(range(60), 2))
        text = f"In text {number} node{one}x helps node{other}x."
        mentions = {f"node{one}x": "Method", f"node{other}x": chance.choice(["Task", "Method"])}
        link = (f"node{one}x", "USED-FOR", f"node{other}x", chance.random())
        documents.append(
            abstract(str(number), text, mentions, [link], year=chance.randint(2000, 2009))
        )
    path = tmp_path_factory.mktemp("random") / "random.graph"
    build(path, *documents)
    return path
