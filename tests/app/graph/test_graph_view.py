"""The view of a graph, by its keys."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from sciextract.graph.database import GraphMissingError, UnknownNodeError
from sciextract.graph.queries.edges import Sentence
from sciextract_app.graph.presenter import ArgumentRole, GraphNavigation, NodePage, support_of
from sciextract_app.graph.screen import GraphApp, GraphScreen, run_graph
from tests.app.screens_support import shown, until, until_shown
from tests.graph_samples import HOSTILE, abstract, build, field

Compare = Callable[..., bool]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("view") / "field.graph"
    build(path, *field())
    return path


@asynccontextmanager
async def viewed(
    graph: Path, node: str | None = None, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[GraphScreen, Pilot[None]]]:
    app = GraphApp(graph, node)
    async with app.run_test(size=size) as pilot:
        screen = app.screen
        assert isinstance(screen, GraphScreen)
        await until(pilot, lambda: screen.walk.here is not None and screen.walk.labels)
        yield screen, pilot
    if app.failure is not None:
        raise app.failure


async def until_at(pilot: Pilot[None], screen: GraphScreen, name: str) -> None:
    await until(pilot, lambda: screen.walk.here is not None and screen.walk.here.name == name)


@pytest.mark.asyncio
async def test_a_walk_there_and_back(graph: Path) -> None:
    async with viewed(graph) as (screen, pilot):
        await until_at(pilot, screen, "support vector machine")
        assert "SVMs  (plural, acronym that most of the" in shown(pilot)
        assert "--USED-FOR-->" in shown(pilot)
        await pilot.press("tab", "enter")
        await until(
            pilot, lambda: screen.walk.here and screen.walk.here.name != "support vector machine"
        )
        await pilot.press("backspace")
        await until_at(pilot, screen, "support vector machine")
        await pilot.press("backspace")
        await until_shown(pilot, "this is where you began")


@pytest.mark.asyncio
async def test_the_sentences_of_an_edge(graph: Path) -> None:
    async with viewed(graph, "speech recognition") as (_, pilot):
        await pilot.press("s")
        await until_shown(pilot, "d, 2004, score 0.50")
        assert "A neural network for speech recognition." in shown(pilot)
        await pilot.press("escape", "question_mark")
        await until_shown(pilot, "the shortest path from it")


@pytest.mark.asyncio
async def test_a_path_between_two_nodes(graph: Path) -> None:
    async with viewed(graph, "SVM", size=(80, 24)) as (screen, pilot):
        await until_at(pilot, screen, "support vector machine")
        await pilot.press("p")
        await until_shown(pilot, "a path begins at support vector machine")
        await pilot.press("slash", *"speech rec", "enter")
        await until_at(pilot, screen, "speech recognition")
        await pilot.press("p")
        await until_shown(pilot, "SVMs are compared with neural networks.")


@pytest.mark.asyncio
async def test_finding_as_one_types(graph: Path) -> None:
    async with viewed(graph) as (screen, pilot):
        await pilot.press("slash", *"neur")
        await until(
            pilot, lambda: "neural network" in shown(pilot) and "treebanks  M" not in shown(pilot)
        )
        await pilot.press("escape")
        await until_shown(pilot, "treebanks  M")
        assert screen.query_one(Input).value == ""
        await pilot.press("t", "t")
        await until(
            pilot, lambda: "nodes: Method" in shown(pilot) or "nodes: Metric" in shown(pilot)
        )
        await pilot.press("slash", *"nonsense", "enter")
        await until_shown(pilot, "no node is called 'nonsense'")


@pytest.mark.asyncio
async def test_hostile_names_are_text(tmp_path: Path) -> None:
    path = tmp_path / "h.graph"
    text = f"We use {HOSTILE} for [12] things."
    links = [(HOSTILE, "USED\x1b-FOR", "[12] things")]
    build(path, abstract("\x1b]0;k", text, {HOSTILE: "Me[b]thod", "[12] things": "Task"}, links))
    async with viewed(path, HOSTILE) as (_, pilot):
        await pilot.press("s")
        await until_shown(pilot, "&lol; [12] for [12]")
        assert "\x1b" not in shown(pilot)
        await pilot.press("escape", "p", "tab", "tab", "enter", "t", "f")


@pytest.mark.asyncio
async def test_a_terminal_of_one_character_ends_nothing(graph: Path) -> None:
    async with viewed(graph, "speech recognition") as (_, pilot):
        await pilot.resize_terminal(1, 1)
        await pilot.pause()
        await pilot.resize_terminal(120, 40)
        await until_shown(pilot, "speech recognition")


@pytest.mark.asyncio
async def test_a_graph_that_is_gone_is_told(graph: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.graph"
    copy.write_bytes(graph.read_bytes())
    async with viewed(copy) as (_, pilot):
        copy.unlink()
        await pilot.press("t")
        await until_shown(pilot, "no such graph")


def test_what_cannot_be_shown(graph: Path, tmp_path: Path) -> None:
    with pytest.raises(GraphMissingError):
        run_graph(tmp_path / "absent.graph")
    with pytest.raises(UnknownNodeError, match="nonsense"):
        run_graph(graph, "nonsense")


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
def test_looks(snap_compare: Compare, graph: Path, size: tuple[int, int]) -> None:
    async def ready(pilot: Pilot[None]) -> None:
        screen = pilot.app.screen
        assert isinstance(screen, GraphScreen)
        await until(pilot, lambda: screen.walk.here is not None and screen.walk.labels)
        await pilot.press("tab")
        await until_shown(pilot, "support vector machine")

    assert snap_compare(GraphApp(graph), terminal_size=size, run_before=ready)


def test_mentions_that_overlap() -> None:
    sentence = Sentence("a", None, 10, 30, (12, 20), (18, 24), "0123456789\n123456789", None)
    support = support_of(sentence)
    assert support.place == "a, no year"
    assert support.pieces == (
        ("01", ArgumentRole.PLAIN), ("234567", ArgumentRole.HEAD), ("89", ArgumentRole.BOTH), (" 123", ArgumentRole.TAIL), ("456789", ArgumentRole.PLAIN),
    )  # fmt: skip


def test_the_way_back() -> None:
    walk = GraphNavigation(labels=("Method", "Task"))
    pages = [NodePage(number, str(number), (), (), ()) for number in range(3)]
    for page in pages:
        walk.arrive(page)
    assert walk.back() == 1
    walk.arrive(pages[1])
    assert (walk.back(), walk.back()) == (0, None)
    for expected in ("Method", "Task", None):
        walk.next_label()
        assert walk.label == expected
