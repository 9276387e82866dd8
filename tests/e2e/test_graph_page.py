"""The page of a graph in a headless browser, used by clicks and keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from sciextract.documents.document import AnnotatedDocument
from sciextract.graph.database import open_graph
from sciextract.graph.page import ViewSettings, draw
from tests.browser import headless_browser, quiet_page
from tests.graph_samples import HOSTILE, abstract, build, field, pairs

Opened = Callable[..., AbstractContextManager[Page]]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with headless_browser() as browser:
        yield browser


def page_file(folder: Path, *documents: AnnotatedDocument, node: str | None = None) -> Path:
    build(folder / "field.graph", *documents)
    output = folder / "field.html"
    with open_graph(folder / "field.graph") as connection:
        draw(connection, folder / "field.graph", node, output, ViewSettings(sentences=2))
    return output


def with_paper(document: AnnotatedDocument, **fields: str) -> AnnotatedDocument:
    text = document.document
    return replace(document, document=replace(text, fields={**text.fields, **fields}))


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    first, *rest = field()
    paper = with_paper(
        first, title="Parsing <b>by</b> margins", doi="10.1000/a<b>?c", journal="J. Trees"
    )
    file = page_file(tmp_path, paper, *rest)
    with quiet_page(browser) as page:
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.goto(file.as_uri())
        yield page
        assert {request.partition(":")[0] for request in requests} <= {"file", "blob"}


def heading(page: Page, words: str) -> None:
    expect(page.locator("#details h2")).to_have_text(words)


def test_from_search_to_neighbour_to_sentence_to_paper(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("svm")
    expect(page.locator("#hits [role=option]").first).to_contain_text("support vector machine")
    page.keyboard.press("Enter")
    heading(page, "support vector machine")
    neighbour = page.locator("#details details", has_text="dependency parsing")
    neighbour.locator("summary").click(position={"x": 4, "y": 8})
    expect(neighbour.locator("blockquote").first).to_contain_text(
        "The SVM improves dependency parsing."
    )
    assert neighbour.locator("mark").all_inner_texts()[:2] == ["SVM", "dependency parsing"]
    neighbour.get_by_text("Parsing <b>by</b> margins").click()
    heading(page, "Parsing <b>by</b> margins")
    address = page.locator("#details a[target=_blank]").first.get_attribute("href")
    assert address == "https://doi.org/10.1000/a%3Cb%3E%3Fc"
    page.locator("#details a", has_text="dependency parsing").first.click()
    heading(page, "dependency parsing")
    page.keyboard.press("Backspace")
    heading(page, "Parsing <b>by</b> margins")


def test_a_click_in_the_picture(page: Page) -> None:
    box = page.locator("#picture").bounding_box()
    assert box is not None

    def click(x: float, y: float) -> None:
        page.wait_for_timeout(500)  # a quick second click would be a double one, which zooms
        page.mouse.click(box["x"] + x, box["y"] + y)

    place = """name => { const drawn = nodes.find(node => node.name === name);
        return renderer.graphToViewport({ x: drawn.x, y: drawn.y }); }"""
    head, tail = (page.evaluate(place, name) for name in ("neural network", "speech recognition"))
    click(head["x"], head["y"])
    heading(page, "neural network")
    assert page.evaluate("lit.nodes.size") == 4
    middle = [(head[axis] + tail[axis]) / 2 for axis in "xy"]
    click(*middle)
    heading(page, "USED-FOR")
    expect(page.locator("#details mark").nth(1)).to_have_text("speech recognition")
    click(5, 5)
    heading(page, "field")


def test_filters(page: Page) -> None:
    def shows(nodes: int, edges: int) -> None:
        expect(page.locator("#status")).to_have_text(f"{nodes} of 6 nodes, {edges} of 5 edges")

    shows(6, 5)
    page.get_by_label("COMPARE").uncheck()
    shows(6, 4)
    page.get_by_label("Task").uncheck()
    shows(4, 1)
    page.get_by_role("button", name="Show everything").click()
    shows(6, 5)
    page.get_by_label("from").fill("2003")
    shows(4, 3)
    page.get_by_label("to", exact=True).fill("2003")
    shows(3, 2)
    page.get_by_role("button", name="Show everything").click()
    page.get_by_label("an edge").fill("2")
    shows(6, 1)
    page.locator("#details a", has_text="treebank").click()
    shows(6, 3)  # neighbours of the chosen node show in spite of the filter


def test_a_node_without_relations_shows_what_is_named_with_it(page: Page) -> None:
    page.get_by_label("a node").fill("2")
    expect(page.locator("#status")).to_contain_text("4 of 6 nodes")
    page.locator("#search").fill("accuracy")
    page.keyboard.press("Enter")
    heading(page, "Accuracy")
    near = page.locator("#details ul li").first.locator("a").inner_text()
    drawn = "name => lit.nodes.has(nodes.find(node => node.name === name)) && graph.hasNode(nodes.find(node => node.name === name).index)"
    assert page.evaluate(drawn, near) and page.evaluate(drawn, "Accuracy")


def test_the_picture_grows_by_years(browser: Browser, tmp_path: Path) -> None:
    sent = [
        abstract(f"{name} {year} {number}", f"{name} and {other} of {year}, {number}.", {name: "Rock", other: "Rock"}, year=year)
        for name, other, years in (("Shale", "silt", (2001,)), ("Marble", "gneiss", (2001, 2002, 2003)))
        for year in years
        for number in range(6)
    ]  # fmt: skip
    build(tmp_path / "g.graph", *sent)
    with open_graph(tmp_path / "g.graph") as connection:
        draw(connection, tmp_path / "g.graph", None, tmp_path / "g.html", ViewSettings())
    size = "name => graph.getNodeAttribute(nodes.find(node => node.name === name).index, 'size')"
    with quiet_page(browser) as page:
        page.goto((tmp_path / "g.html").as_uri())
        # No relation joins them: they are drawn because abstracts name them together.
        expect(page.locator("#status")).to_contain_text("4 of 4 nodes")
        whole = page.evaluate(size, "Marble")
        page.get_by_label("growth up to").fill("2001")
        expect(page.locator("#details li").first).to_contain_text("6 abstracts")
        assert page.evaluate(size, "Marble") < whole
        assert page.evaluate(size, "Marble") == page.evaluate(size, "Shale")


def test_a_name_opens_what_the_command_line_opens(page: Page) -> None:
    """Two spellings hold "network" and come first in the list; the normal form decides all the same."""
    for typed, meant in (("SVMs", "support vector machine"), ("Neural-Networks", "neural network")):
        page.keyboard.press("/")
        page.keyboard.type(typed)
        page.keyboard.press("Enter")
        heading(page, meant)
        page.evaluate("location.hash = ''")
        heading(page, "field")
        page.evaluate(f"location.hash = '{typed}'")
        heading(page, meant)


def test_colours_of_subtopics(browser: Browser, tmp_path: Path) -> None:
    one, other = ("kernels", "parsing", "margins"), ("forests", "ranking", "<b>queries")
    pairs(tmp_path / "g.graph", *[one] * 5, *[other] * 5)
    with open_graph(tmp_path / "g.graph") as connection:
        draw(connection, tmp_path / "g.graph", None, tmp_path / "g.html", ViewSettings())
    with quiet_page(browser) as page:
        page.goto((tmp_path / "g.html").as_uri())
        expect(page.locator("#topics p")).to_have_text(["<b>queries, forests, ranking", "kernels, margins, parsing", "all others"])  # fmt: skip
        expect(page.get_by_label("colour by subtopic")).to_be_checked()
        shown = page.evaluate(
            "Object.fromEntries(nodes.map(node => [node.name, nodeColour(node)]))"
        )
        assert shown["kernels"] == shown["parsing"] != shown["forests"] == shown["ranking"]


def test_keys_and_theme(page: Page) -> None:
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.keyboard.press("t")
    assert page.evaluate("[document.documentElement.dataset.theme, palette.back]") == [
        "dark",
        "#14171a",
    ]
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    heading(page, "support vector machine")
    page.keyboard.press("p")
    before = page.evaluate("renderer.getCamera().getState().x")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("renderer.getCamera().getState().x") > before
    page.keyboard.press("Escape")
    heading(page, "field")


def test_hostile_text_stays_text(browser: Browser, tmp_path: Path) -> None:
    attack = "<img src=x onerror=alert(2)>"
    text = f"We use {HOSTILE} for it, </script><script>alert(1)</script> {attack} things."
    mentions = {HOSTILE: "Method<b>", "alert(1)": "Task"}
    link = (HOSTILE, "<USED>", "alert(1)")
    document = with_paper(
        abstract("</script>", text, mentions, [link], year=2001),
        title=attack,
        doi="10.1/javascript:alert(3)",
    )
    file = page_file(tmp_path, document, node="alert(1)")
    with quiet_page(browser) as page:
        page.goto(file.as_uri())
        heading(page, "alert(1)")
        page.locator("summary", has_text="HYPERLINK").click(position={"x": 4, "y": 8})
        expect(page.locator("blockquote")).to_contain_text(attack)
        page.locator("blockquote a").first.click()
        heading(page, attack)
        assert page.locator("#details a[target=_blank]").count() == 0
        page.keyboard.press("/")
        page.keyboard.type("hyper")
        expect(page.locator("#hits")).to_contain_text("␛" + HOSTILE[1:])
        assert page.locator("img, b, body script").count() == 3
