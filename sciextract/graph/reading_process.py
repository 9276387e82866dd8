"""Processes that turn lines of JSONL into contributions.

One pipe a process, and one bundle at a time in it: when this process is killed, the others find their pipe closed
and end. Those of ``multiprocessing.Pool`` hold both ends of their queues and would wait for ever.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

Bundle = tuple[str, list[tuple[int, str]]]
"""A file, and some of its lines with their numbers."""
_RARELY = 50_000
Work = Callable[[Bundle], list[Any]]


def in_processes(work: Work, bundles: Iterable[Bundle], processes: int) -> Iterator[list[Any]]:
    """The results of ``work`` for each bundle, in order, in constant memory.

    Args:
        work: A picklable callable.
        bundles: Numbered lines.
        processes: How many work beside this one.
    """
    with ExitStack() as stack:
        idle = deque([stack.enter_context(_process(work)) for _ in range(processes)])
        busy: deque[Connection] = deque()
        for bundle in bundles:
            if idle:
                connection = idle.popleft()
                connection.send(bundle)
            else:
                connection = busy.popleft()
                result = connection.recv()
                connection.send(bundle)
                busy.append(connection)
                yield result
                continue
            busy.append(connection)
        while busy:
            yield busy.popleft().recv()


@contextmanager
def _process(work: Work) -> Iterator[Connection]:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(work, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours
    finally:
        ours.close()
        process.join()


def _serve(work: Work, connection: Connection) -> None:
    gc.freeze()
    gc.set_threshold(_RARELY)  # records come and go without cycles: there is little to look for
    try:
        while True:
            connection.send(work(connection.recv()))
    except (EOFError, BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        return
