"""How a grid looks while it is trained: the cell in work with its remaining time, and a line per finished one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sciextract.cli.console import duration
from sciextract.text.visible import visible
from sciextract.workflows.events import Report


@contextmanager
def grid_report() -> Iterator[Report]:
    """Draws progress on stderr where that is a terminal, and prints what happened to every cell."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.fields[cell]}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[state]}", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("", total=None, visible=False, cell="", state="", epochs=1)

        def report(event: dict[str, Any]) -> None:
            if event["event"] == "cell":
                progress.reset(
                    task, total=None, cell=_place(event), state="", epochs=event["epochs"]
                )
                progress.update(task, visible=True)
            elif event["event"] == "step":
                progress.update(task, **_state(event, progress.tasks[0].fields["epochs"]))
            if line := line_of(event):
                console.print(visible(line), highlight=False, markup=False, soft_wrap=True)

        yield report


def line_of(event: dict[str, Any]) -> str:
    """An event in words; empty for what is drawn or told elsewhere.

    >>> line_of({"event": "elsewhere", "cell": "MiniLM/NER, seed 1", "number": 2, "of": 6})
    '2 of 6 MiniLM/NER, seed 1: another process works on it'
    """
    kind = event["event"]
    if kind == "cell":
        return f"{_place(event)}: up to {event['epochs']} epochs"
    if kind == "elsewhere":
        return f"{_place(event)}: another process works on it"
    if kind == "failed":
        return f"{_place(event)}: {event['message']}"
    if kind == "resumed":
        return f"  going on after epoch {event['epoch']}"
    if kind == "scored":
        scores = ", ".join(f"{name} {value:.1f}" for name, value in event["scores"].items())
        return f"{_place(event)}: {scores}; {duration(event['seconds'])}"
    return f"  memory is short: {event['documents']} documents at once" if kind == "memory" else ""


def _place(event: dict[str, Any]) -> str:
    return f"{event['number']} of {event['of']} {event['cell']}"


def _state(event: dict[str, Any], epochs: int) -> dict[str, Any]:
    done = (event["epoch"] - 1) * event["of"] + event["documents"]
    rate = event["documents_per_second"]
    state = f"epoch {event['epoch']}/{epochs}, {rate:.1f} documents/s"
    return {"completed": done, "total": epochs * event["of"], "state": state}
