"""Reading ahead of who consumes, so that neither waits for the other."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from queue import Empty, Queue
from threading import Event, Thread
from typing import Generic, TypeVar

_Item = TypeVar("_Item")
_SECONDS_TO_NOTICE = 0.2


def read_ahead(items: Iterable[_Item], most: int) -> Generator[_Item, None, None]:
    """The same items in the same order, made by a thread that is up to ``most`` items ahead.

    What making them raises is raised here, after the items before it. A consumer that stops ends the thread.
    """
    reader = _Reader(items, most)
    try:
        yield from reader.items()
    finally:
        reader.end()


class _Reader(Generic[_Item]):
    def __init__(self, items: Iterable[_Item], most: int) -> None:
        self._items = items
        self._ready: Queue[_Item | _End] = Queue(most)
        self._unwanted = Event()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def items(self) -> Iterator[_Item]:
        while not isinstance(item := self._ready.get(), _End):
            yield item
        if item.error is not None:
            raise item.error

    def end(self) -> None:
        self._unwanted.set()
        while self._thread.is_alive():
            try:
                self._ready.get(timeout=_SECONDS_TO_NOTICE)
            except Empty:
                continue
        self._thread.join()

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            for item in self._items:
                self._ready.put(item)
                if self._unwanted.is_set():
                    break
        except BaseException as caught:  # noqa: BLE001 - told to the consumer
            error = caught
        finally:
            close = getattr(self._items, "close", None)
            if close is not None:
                close()
        self._ready.put(_End(error))


class _End:
    def __init__(self, error: BaseException | None) -> None:
        self.error = error
