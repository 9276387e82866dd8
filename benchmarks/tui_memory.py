"""Memory of the desk with the model loaded, after a person has gone through many abstracts."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import store_corpus
from benchmarks.tui_terminal import DESK, started

ABSTRACTS = 50
_KEYS = ("enter", "x", "enter", "u", "y", "escape", "n")


def measure(folder: Path) -> dict[str, float]:
    """Resident memory in MiB, now and at its highest, after decisions in fifty abstracts that it predicted."""
    place = folder / "memory"
    place.mkdir()
    file = place / "texts.jsonl"
    records = [store_corpus.generated_record(number) for number in range(ABSTRACTS)]
    file.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    with started((*DESK, file.name), place) as terminal:
        terminal.wait_for(lambda: _is_over(terminal.text), 300)
        if f"{ABSTRACTS} abstracts predicted" not in terminal.text:
            raise SystemExit(f"the model did not predict everything:\n{terminal.text}")
        for _ in range(ABSTRACTS):
            for key in _KEYS:
                terminal.press(key)
            terminal.settle()
        return terminal.memory()


def _is_over(screen: str) -> bool:
    return "abstracts predicted" in screen or "failed" in screen
