"""Matches patterns in a process of its own, since neither ``re`` nor spaCy's matcher can be interrupted.

The process is ``python -m sciextract.workflows.pattern_matching``; it reads and writes lines of JSON.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

# What matching one text may take.
SECONDS = 10.0
# First character, character after the last one, label.
Match = tuple[int, int, str]


class TooSlowError(Exception):
    """A text took longer than the limit.

    Attributes:
        line: The line whose pattern takes longer on its own; ``None`` when only all together do.
    """

    def __init__(self, line: int | None) -> None:
        super().__init__(line)
        self.line = line


class PatternMatcher:
    """Matches patterns under a time limit.

    Args:
        patterns: Line number to pattern.
        seconds: The limit for one text.
    """

    def __init__(self, patterns: Mapping[int, dict[str, Any]], seconds: float = SECONDS) -> None:
        self._patterns, self._seconds = patterns, seconds
        self._process: subprocess.Popen[str] | None = None

    def matches(self, text: str) -> list[Match]:
        """The matches in a text.

        Raises:
            TooSlowError: They were not found in time.
            ValueError: A pattern has an attribute that needs a trained pipeline.
        """
        if self._process is None:
            self._process = self._start(list(self._patterns.values()))
        answer = _ask(self._process, text)
        if answer is None:
            self._process = None
            # Each pattern by itself, to name the one that is slow; all together may be, and none alone.
            for line, pattern in self._patterns.items():
                with self._start([pattern]) as process:
                    if _ask(process, text) is None:
                        raise TooSlowError(line)
            raise TooSlowError(None)
        if "problem" in answer:
            raise ValueError(answer["problem"])
        return [(start, end, label) for start, end, label in answer["found"]]

    def _start(self, patterns: list[dict[str, Any]]) -> subprocess.Popen[str]:
        # -P: no module of the present folder is ours; modules come from where this process has them.
        path = os.pathsep.join(folder for folder in sys.path if folder)
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "sciextract.workflows.pattern_matching"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # faulthandler writes a traceback there when it ends the process.
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        if _ask(process, [patterns, self._seconds]) is None:
            raise RuntimeError("the process that matches patterns did not start")
        return process


def _ask(process: subprocess.Popen[str], question: object) -> Any:
    """What the process answers; ``None`` when it has ended."""
    assert process.stdin and process.stdout
    try:
        print(json.dumps(question), file=process.stdin, flush=True)
        return json.loads(process.stdout.readline() or "null")
    except BrokenPipeError:
        return None
    finally:
        process.poll()


def main() -> None:
    """Answer texts until standard input is closed; ends itself when one takes too long."""
    from sciextract.interop.spacy_layers import blank_with_ruler

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it decides
    pipeline, ruler = blank_with_ruler()
    patterns, seconds = json.loads(sys.stdin.readline())
    ruler.add_patterns(patterns)
    print(json.dumps(True), flush=True)
    for line in sys.stdin:
        # This clock runs without the interpreter and ends the process even when the parent is gone.
        faulthandler.dump_traceback_later(seconds, exit=True)
        try:
            spans = ruler(pipeline.make_doc(json.loads(line))).ents
            found = [(span.start_char, span.end_char, span.label_) for span in spans]
            answer: dict[str, object] = {"found": found}
        except ValueError as error:
            answer = {"problem": str(error)}
        faulthandler.cancel_dump_traceback_later()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
