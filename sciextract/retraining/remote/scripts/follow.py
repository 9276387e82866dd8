"""Copies what comes into metrics.jsonl to standard output, until the job ends, nothing comes any more, or nobody listens."""

from __future__ import annotations

import os
import sys
import time

LOOK_SECONDS = 0.5


def main() -> None:
    """From a byte on; whole lines or parts of them, the other side joins them."""
    folder, offset = os.path.join(os.path.expanduser("~"), sys.argv[1]), int(sys.argv[2])
    quiet_seconds, parent, since = float(sys.argv[3]), os.getppid(), time.time()
    while os.getppid() == parent and time.time() - since < quiet_seconds:
        ended = os.path.exists(os.path.join(folder, "exit"))
        before, offset = offset, copy(os.path.join(folder, "run", "metrics.jsonl"), offset)
        if ended:
            return
        since = time.time() if offset > before else since
        time.sleep(LOOK_SECONDS)


def copy(path: str, offset: int) -> int:
    """Write what is new; gives the new offset."""
    if not os.path.exists(path):
        return offset
    with open(path, "rb") as stream:
        stream.seek(offset)
        data = stream.read()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    return offset + len(data)


if __name__ == "__main__":
    main()
