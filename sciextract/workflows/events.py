"""Events of long work such as a training, for whoever looks on: a person, a program or nobody."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Report = Callable[[dict[str, Any]], None]
"""Gets every event as it happens: its kind as ``event``, and what belongs to it."""


def json_report(event: dict[str, Any]) -> None:
    """Prints an event as one JSON line on stdout."""
    print(json.dumps(event), flush=True)
