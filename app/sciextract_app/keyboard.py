"""What the characters of a terminal mean: keys, pastes, and reports that are neither."""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from itertools import groupby

from textual import events
from textual._xterm_parser import XTermParser
from textual.message import Message

BEGIN, END = "\x1b[200~", "\x1b[201~"
ESCAPE, ESCAPE_SECONDS = "\x1b", 0.1
# Esc and then a key, typed so fast that a line brings them together, is not Alt and a key: the desk has no
# such keys, and Textual makes others of some of them. What begins a sequence is left to it.
_ESCAPE_AND_KEY = re.compile(r"\x1b(?=[^\[O\]PX^_\\\x1b])")
_REPORT = re.compile(
    r"\x1b(?:"
    r"\[<[-+.\w]*;[-+.\w]*;[-+.\w]*?[Mm]"  # the mouse; VS Code's terminal sends NaN for places
    r"|\[M[^\x1b]{3}"  # the mouse of terminals before 1996
    r"|\[\[[A-E]"  # F1 to F5 of the Linux console
    r"|\[\d+\$(?!y)"  # Shift and a function key of rxvt
    r"|\[(?!<)[0-?]*[ -/]*[@-~]"  # every other control sequence: ECMA-48, section 5.4
    r"|O[0-?]*[@-~]"
    r"|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # strings: colours, names and versions of terminals
    r")"
)
_BEGUN = re.compile(
    r"\x1b(?:\[(?:<[-+.;\w]*|M[^\x1b]{0,2}|[0-?]*[ -/]*)|O[0-?]*|[\]PX^_][^\x07\x1b]*\x1b?)?\Z"
)
"""The beginning of a report whose end has not arrived yet."""
_LONGEST_REPORT = 32  # Textual takes the characters of longer ones for keys

LEAST_BURST, BURST_SECONDS = 6, 0.1
"""So many printable characters that arrive at once are no keys, nor is what follows them so soon. A line that stands still
for half a second brings five keys of somebody who types ten a second; a key that is held down counts once."""
_HELD = 2  # equal characters in a row; with more the key is held down


class Burst(events.Paste):
    """Characters that came all at once without the marks of a paste; a field takes them as one, and nothing else does.

    Args:
        text: The characters.
        total: How many came with those before them.
    """

    def __init__(self, text: str, total: int) -> None:
        super().__init__(text)
        self.words = (
            f"{total:,} characters came at once, as of a paste: none was taken for a key. "
            "The command \u2018paste abstracts\u2019 imports text"
        )


Burst.handler_name = events.Paste.handler_name


class KeyboardParser(XTermParser):
    """Takes pastes, bursts and unknown reports out of the stream before anything else looks at it."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasted: list[str] | None = None
        self._held = ""
        self._held_since = self._burst_until = 0.0
        self._burst = 0

    def tick(self) -> Iterable[Message]:
        """What was meant by input that nothing has followed: Esc, or Alt and a key; a part of a report means nothing."""
        late = time.monotonic() - self._held_since >= ESCAPE_SECONDS
        if self._held and late and self._pasted is None:
            held, self._held = self._held, ""
            if held == ESCAPE:
                yield events.Key("escape", ESCAPE)
            elif len(held) == len("\x1b["):
                yield from super().feed(held)
        yield from super().tick()

    def feed(self, data: str) -> Iterable[Message]:
        """What some input means; an empty one is its end."""
        if not data:
            yield from super().feed(data)
            return
        data, self._held = self._held + data, ""
        while data:
            if self._pasted is None:
                typed, begin, data = data.partition(BEGIN)
                self._pasted = [] if begin else None
                yield from self._feed_typed(typed, whole=bool(begin))
            else:
                data = yield from self._paste(data, self._pasted)

    def _feed_typed(self, typed: str, whole: bool) -> Iterator[Message]:
        """Keys, reports and bursts; what has only begun is held unless it is whole."""
        texts, reports = _REPORT.split(typed), [*_REPORT.findall(typed), ""]
        if not whole and (begun := _BEGUN.search(texts[-1])):
            texts[-1], self._held = texts[-1][: begun.start()], begun.group()
            self._held_since = time.monotonic()
        is_burst = self._is_burst("".join(texts))
        for text, report in zip(texts, reports, strict=True):
            for number, part in enumerate(() if is_burst else _ESCAPE_AND_KEY.split(text)):
                if number:
                    yield events.Key("escape", ESCAPE)
                if part:
                    yield from super().feed(part)
            for event in self._feed_report(report):
                if not (is_burst and isinstance(event, events.Key)):
                    yield event
        if is_burst:
            yield Burst("".join(texts), self._burst)

    def _is_burst(self, text: str) -> bool:
        """Whether characters came too fast for fingers, or right behind such."""
        now, printed = time.monotonic(), filter(str.isprintable, text)
        lengths = [len(list(run)) for _, run in groupby(printed)]
        fingers = sum(1 if length > _HELD else length for length in lengths)
        follows = bool(text) and now < self._burst_until
        if not follows and fingers < LEAST_BURST:
            return False
        self._burst = (self._burst if follows else 0) + sum(lengths)
        self._burst_until = now + BURST_SECONDS
        return True

    def _feed_report(self, report: str) -> list[Message]:
        """What a report means: nothing where Textual does not know it, or fails at its numbers."""
        found: list[Message] = []
        if not report or report[1] not in "[O" or len(report) > _LONGEST_REPORT:
            return found
        with suppress(ValueError, OverflowError):
            found += super().feed(report)
        if self._awaiting.timeout is not None or not found:
            # It still waits for the end of the report, or has ended at it.
            self._gen = self.parse(self._tokens.append)
            self._awaiting, self._timeout_time = next(self._gen), None
        keys = [event.character or "" for event in found if isinstance(event, events.Key)]
        return [] if any("\ud800" <= key <= "\udfff" for key in keys) else found

    def _paste(self, data: str, pasted: list[str]) -> Generator[Message, None, str]:
        """Text up to the end of the paste; gives what comes behind it."""
        text, end, rest = data.partition(END)
        if not end:
            text, self._held = _without_part_of(END, text)
            pasted.append(text)
            return ""
        self._pasted = None
        yield events.Paste("".join([*pasted, text]).replace("\0", ""))
        return rest


def _without_part_of(sign: str, text: str) -> tuple[str, str]:
    """A text, and at its end the beginning of a sign that may continue with the next input."""
    for length in range(len(sign) - 1, 0, -1):
        if text.endswith(sign[:length]):
            return text[:-length], text[-length:]
    return text, ""
