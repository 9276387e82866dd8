"""What is written to the terminal, which may go away at any moment."""

from __future__ import annotations

from typing import IO, Any


class LastingOutput:
    """The file of a terminal that takes what is written also when the terminal is gone: a line dropped, a window closed.

    Textual writes in a thread of its own, which an error would end. The short queue before it would then fill up, and the
    app would wait for ever at its next word, the one that ends it among them.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._gone = False

    def write(self, text: str) -> int:
        """Write, or forget; gives the number of characters."""
        self._do(self._file.write, text)
        return len(text)

    def flush(self) -> None:
        """Bring what was written to the terminal, while there is one."""
        self._do(self._file.flush)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def _do(self, action: Any, *words: str) -> None:
        if not self._gone:
            try:
                action(*words)
            except OSError:
                self._gone = True
