"""The page of a graph in a headless Chromium: size, time to the first picture, frames while it moves and zooms.

    python -m benchmarks.graph_page
    python -m benchmarks.graph_page --graph field.graph --edges 10000

Without ``--graph`` the graph is one of 3,000 synthetic abstracts. All edges are shown while frames are measured, which is more than
the page shows at first. WebGL is drawn in software here, by the processor. Time between frames also holds what else the machine
does: beside it stand that of an empty page, and the processor time of the page's own thread for each frame.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page

from benchmarks.rows import Row, machine, markdown, percentile, told, write_report
from sciextract.graph.database import open_graph
from sciextract.graph.page import best_edges, page, page_content
from tests.browser import headless_browser

_RECORD = """() => { window.frames_ = []; let last = performance.now();
  const next = now => { frames_.push(now - last); last = now; requestAnimationFrame(next); };
  requestAnimationFrame(next); }"""
_FIRST = """() => { const done = () => document.getElementById("status")?.textContent ? window.first = performance.now()
  : requestAnimationFrame(done); done(); }"""
_STEPS = 30


def measure(options: argparse.Namespace, folder: Path) -> Iterator[Row]:
    """Rows as they are measured."""
    graph = options.graph or _synthetic(folder / "synthetic.graph", options.abstracts)
    file = folder / "page.html"
    began = time.perf_counter()
    with open_graph(graph) as connection:
        content = page_content(connection, best_edges(connection, options.edges), title="field")
        file.write_text(page(content), encoding="utf-8")
    yield Row("nodes, edges on the page", f"{len(content['nodes']):,}, {len(content['edges']):,}")
    yield Row("making the page", f"{time.perf_counter() - began:.1f} s")
    yield Row("size", f"{file.stat().st_size / 1e6:.1f} MB")
    with headless_browser() as browser:
        yield _frames("empty page, for comparison", *_while(_empty(browser), _wait))
        shown, first, cpu = _open(browser, file)
        yield Row("first picture", f"{first:.1f} s, {cpu:.2f} s of processor time", "2 s", cpu < 2)
        client = shown.context.new_cdp_session(shown)
        shown.get_by_role("button", name="Show everything").click()
        _wait_for(shown, f"graph.size === {len(content['edges'])}")
        yield _frames("while all nodes are arranged", *_while(shown, _wait, client))
        _wait_for(shown, "layout === null")
        yield _frames("moving, all edges shown", *_while(shown, _move, client), goal=True)
        yield _frames("zooming, all edges shown", *_while(shown, _zoom, client), goal=True)


def _synthetic(path: Path, abstracts: int) -> Path:
    from benchmarks.graph_scale import build_synthetic

    build_synthetic(path, abstracts)
    return path


def _empty(browser: Browser) -> Page:
    shown = browser.new_page()
    shown.goto("about:blank")
    return shown


def _open(browser: Browser, file: Path) -> tuple[Page, float, float]:
    """The page, and the seconds that its first picture took: of the clock, and of its thread."""
    shown = browser.new_page(viewport={"width": 1400, "height": 900})
    client = shown.context.new_cdp_session(shown)
    shown.add_init_script(f"({_FIRST})()")
    before = _cpu(client)
    shown.goto(file.as_uri(), timeout=120_000)
    _wait_for(shown, "window.first")
    return shown, shown.evaluate("window.first") / 1000, _cpu(client) - before


def _wait_for(shown: Page, condition: str) -> None:
    """Wait, without the browser's own way, which evaluates strings: the page's policy forbids that."""
    while not shown.evaluate(condition):
        time.sleep(0.2)


def _cpu(client: CDPSession) -> float:
    """Seconds of processor time that the thread of the page has taken."""
    client.send("Performance.enable", {"timeDomain": "threadTicks"})
    metrics: list[dict[str, Any]] = client.send("Performance.getMetrics")["metrics"]
    return next(float(metric["value"]) for metric in metrics if metric["name"] == "TaskDuration")


def _while(
    shown: Page, act: Callable[[Page], None], client: CDPSession | None = None
) -> tuple[list[float], float]:
    """Milliseconds between frames while something is done, and the thread's seconds."""
    before = _cpu(client) if client else 0.0
    shown.evaluate(_RECORD)
    act(shown)
    frames: list[float] = shown.evaluate("frames_.slice(1)")
    return frames, (_cpu(client) - before if client else 0.0)


def _wait(shown: Page) -> None:
    shown.wait_for_timeout(3000)


def _move(shown: Page) -> None:
    shown.mouse.move(650, 500)
    shown.mouse.down()
    for step in range(_STEPS):
        shown.mouse.move(650 + 3 * step, 500 - 2 * step)
    shown.mouse.up()


def _zoom(shown: Page) -> None:
    chance = random.Random(1)
    for step in range(_STEPS):
        shown.mouse.move(500 + chance.randint(0, 300), 450)
        shown.mouse.wheel(0, -120 if step % 20 < 10 else 120)


def _frames(what: str, frames: list[float], cpu: float, goal: bool = False) -> Row:
    typical, slow = (percentile(frames, share) for share in (50, 95))
    value = f"p50 {typical:.0f} ms, p95 {slow:.0f} ms between {len(frames)} frames"
    if not cpu:
        return Row(what, value)
    share = 1000 * cpu / len(frames)
    value += f"; {share:.1f} ms of processor time each"
    return Row(what, value, "16 ms each" if goal else "", share < 16 if goal else None)


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", type=Path, help="a graph of yours (default: a synthetic one)")
    parser.add_argument("--abstracts", type=int, default=3_000, help="of the synthetic graph")
    parser.add_argument("--edges", type=int, default=10_000)
    parser.add_argument("--json", help="write all numbers there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = told(measure(options, Path(folder)))
    print(markdown(f"The graph's page. {machine()}", rows))
    write_report(options.json, options, rows, {})


if __name__ == "__main__":
    main()
