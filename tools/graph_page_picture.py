"""Photographs the page of a graph of the sample abstracts: ``python tools/graph_page_picture.py PNG`` (needs Chromium)."""

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


def make_page(folder: Path) -> Path:
    """The page, made by the commands that users call."""
    predictions, graph, page = (folder / each for each in ("p.jsonl", "samples.graph", "p.html"))
    samples = ROOT / "sample_data" / "abstracts.jsonl"
    for words in (
        ("annotate", samples, "--output", predictions),
        ("graph", "build", predictions, "--graph", graph),
        ("graph", "view", "--output", page, "--graph", graph),
    ):
        command = [sys.executable, "-m", "sciextract", *map(str, words)]
        subprocess.run(command, check=True, cwd=ROOT)
    return page


def main() -> None:
    """Writes the picture."""
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/graph_page_picture.py PNG")
    with tempfile.TemporaryDirectory() as folder, headless_browser() as browser:
        shown = browser.new_page(viewport={"width": 1300, "height": 720})
        shown.goto(f"{make_page(Path(folder)).as_uri()}#{NODE}")
        shown.locator("#details summary").nth(1).click(position={"x": 4, "y": 8})
        shown.evaluate(_NEARER)
        shown.wait_for_timeout(2000)
        shown.screenshot(path=sys.argv[1])


if __name__ == "__main__":
    main()
