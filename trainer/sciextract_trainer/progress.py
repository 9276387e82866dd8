"""Live progress of a training: for people on stderr, for machines as JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Report = Callable[[dict[str, Any]], None]


def json_report(event: dict[str, Any]) -> None:
    """Prints every event as one JSON line on stdout."""
    print(json.dumps(event), flush=True)


@contextmanager
def live_report(epochs: int) -> Iterator[Report]:
    """A progress line per epoch with losses and rate, and a line per dev evaluation, on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("epoch {task.fields[epoch]}/" + str(epochs)),
        BarColumn(),
        TextColumn("{task.fields[losses]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("", total=None, epoch=0, losses="")

        def report(event: dict[str, Any]) -> None:
            if event["event"] == "step":
                progress.update(task, **_step_fields(event, epochs))
            else:
                console.print(_line(event), highlight=False, markup=False)

        yield report


def _step_fields(event: dict[str, Any], epochs: int) -> dict[str, Any]:
    loss = event["loss"]
    done = (event["epoch"] - 1) * event["of"] + event["documents"]
    return {
        "completed": done,
        "total": epochs * event["of"],
        "epoch": event["epoch"],
        "losses": f"loss entity {loss['entity']:.1f} relation {loss['relation']:.1f} "
        f"coreference {loss['coreference']:.1f}, {event['documents_per_second']:.1f} documents/s",
    }


def _line(event: dict[str, Any]) -> str:
    if event["event"] != "dev":
        return " ".join(f"{key} {value}" for key, value in event.items())
    return (
        f"epoch {event['epoch']}: dev entity {event['entity']:.1f} relation {event['relation']:.1f} "
        f"(strict {event['strict']:.1f}) coreference {event['coreference']:.1f}"
    )
