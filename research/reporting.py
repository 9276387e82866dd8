"""How commands that make models report: one JSON line an event, with figures that only their reader looks into."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sciextract.retraining.events import Listener

Report = Callable[[dict[str, Any]], object]
"""Gets the lines: their kind as ``event``, and figures."""


def json_report(line: dict[str, Any]) -> None:
    """Print one JSON line on stdout."""
    print(json.dumps(line), flush=True)


def as_mappings(report: Report) -> Listener:
    """A listener that passes the events of a training on as such lines."""
    return lambda event: report(event.to_json())
