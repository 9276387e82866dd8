"""Photographs the page of a graph (needs Chromium): ``python tools/graph_page_picture.py PNG [GRAPH NODE]``.

Without a graph it is that of the sample abstracts, with the sentences of a node. Those of another graph stay closed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser import headless_browser

NODE = "LexLattice"
_NEARER = """{ const { x, y } = renderer.getNodeDisplayData(chosen.node.index);
  renderer.getCamera().setState({ x, y, ratio: 0.3 }); }"""


def sciextract(*words: str | Path) -> None:
    """Runs the command as users do."""
    subprocess.run([sys.executable, "-m", "sciextract", *map(str, words)], check=True, cwd=ROOT)


def sample_graph(folder: Path) -> Path:
    """The graph of the sample abstracts."""
    predictions, graph = folder / "p.jsonl", folder / "samples.graph"
    sciextract("annotate", ROOT / "sample_data" / "abstracts.jsonl", "--output", predictions)
    sciextract("graph", "build", predictions, "--graph", graph)
    return graph


def main() -> None:
    """Writes the picture."""
    if len(sys.argv) not in (2, 4):
        sys.exit("usage: python tools/graph_page_picture.py PNG [GRAPH NODE]")
    target, given = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder, headless_browser() as browser:
        graph = Path(given[0]).resolve() if given else sample_graph(Path(folder))
        page = Path(folder) / "p.html"
        sciextract("graph", "view", "--output", page, "--graph", graph)
        shown = browser.new_page(viewport={"width": 1300, "height": 720})
        shown.goto(f"{page.as_uri()}#{given[1] if given else NODE}")
        if not given:
            shown.locator("#details summary").nth(1).click(position={"x": 4, "y": 8})
        shown.evaluate(_NEARER)
        shown.wait_for_timeout(2000)
        shown.screenshot(path=target)


if __name__ == "__main__":
    main()
