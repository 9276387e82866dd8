"""Progress of a training for machines, as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Report = Callable[[dict[str, Any]], None]


def json_report(event: dict[str, Any]) -> None:
    """Prints every event as one JSON line on stdout."""
    print(json.dumps(event), flush=True)
