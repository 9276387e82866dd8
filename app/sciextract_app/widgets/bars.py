"""Bars: header, legend, footer, messages and tabs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text
from textual import events
from textual.message import Message
from textual.widgets import Static

from sciextract.text.characters import visible
from sciextract_app.shared.actions import key_of
from sciextract_app.shared.view_models import Feedback, Header, Hint, Mode
from sciextract_app.widgets.cells import ELLIPSIS, fit
from sciextract_app.widgets.lines import LineBar, ink

_GAP = "   "
_LEAST_PROJECT = 12
_LONGEST_QUEUE = 50
_FOCUS_FROM = 100
"""Columns from which on the footer names what has the focus."""


class HeaderBar(LineBar[Header]):
    """Draws progress, acceptance, model and a running prediction, as far as there is room."""

    DEFAULT_CSS = """
    HeaderBar { background: $panel; color: $foreground; }
    """

    _shown = Header("", 0, 0)

    def line(self, width: int) -> Text:
        """The line."""
        return header_text(self._shown, width)


def header_text(header: Header, width: int) -> Text:
    """The header in so many cells: where room is short the model goes first, then acceptance.

    Progress stays, and a queue longer than a running prediction; the project's name is cut before they are.
    """
    fields = {}
    if header.queue:
        fields["queue"] = f"▸ {fit(header.queue, _LONGEST_QUEUE)}"
    if header.sought:
        fields["sought"] = f"looking for {fit(header.sought, 32)} alone"
    fields["progress"] = f"{header.done:,} of {header.documents:,} done"
    if header.place is not None and not header.queue:
        number, total = header.place
        done = f"{header.done:,} done" if total == header.documents else fields["progress"]
        fields["progress"] = f"abstract {number:,} of {total:,}, {done}"
    if header.missing:
        fields["missing"] = header.missing
    if header.acceptance is not None:
        fields["acceptance"] = f"{header.acceptance * 100:.0f} % were right"
    if header.model:
        fields["model"] = fit(header.model, 48)
    if header.learning:
        fields["learning"] = header.learning
    if header.predicting is not None:
        predicted, total = header.predicting
        of = f" {predicted:,} of {total:,}" if total else ""
        fields["prediction"] = f"⟳ predicting{of}"
    if header.training is not None:
        epoch, epochs = header.training
        fields["training"] = f"⟳ training {epoch}/{epochs}" if epochs else "⟳ training"
    # The least needed goes first; whoever works on a queue must see that it is one until last.
    for name in (
        *("model", "acceptance", "learning"),
        *("prediction", "training", "missing", "queue"),
    ):
        if _width(fields.values()) + _LEAST_PROJECT > width:
            fields.pop(name, None)
    project = fit(header.project, max(0, width - _width(fields.values()) - 1))
    line = Text(" ").append(project, "bold")
    for field in fields.values():
        line.append(_GAP).append(field)
    return line


def _width(fields: Iterable[str]) -> int:
    return sum(len(_GAP) + cell_len(field) for field in fields)


class TextBar(LineBar[str]):
    """Draws one line of words, cut to the width."""

    DEFAULT_CSS = """
    TextBar { background: $background; color: $text-muted; }
    """

    _shown = ""

    def line(self, width: int) -> Text:
        """The line."""
        return Text(" " + fit(self._shown, width - 2))


_FOOTER_BAR_GAP = "  "


class FooterBar(LineBar[tuple[tuple[Hint, ...], str]]):
    """Draws keys and what they do, in this mode or behind other words; those that would be refused are dim."""

    DEFAULT_CSS = """
    FooterBar { background: $panel; color: $foreground; }
    """

    _shown: tuple[tuple[Hint, ...], str] = ((), Mode.REVIEW)

    def lines(self, width: int, height: int) -> Sequence[Text]:
        """As many lines as it is high."""
        return footer_lines(*self._shown, width, height)


# Asked for once a line of the bar, and with most keys again for the same hints.
@lru_cache(maxsize=64)
def footer_lines(
    hints: tuple[Hint, ...], mode: str, width: int, height: int = 1
) -> tuple[Text, ...]:
    """The keys in so many lines and cells; where there are two, seldom ones stand on the second.

    Those without room become an ellipsis, from the last of the seldom ones, then from the last of the others; the very
    last one, which leads to all keys or out of a mode, stays.
    """
    sign = Text(" ")
    if not isinstance(mode, Mode):
        # Narrower, the words would take the place of a key that corrects.
        if width >= _FOCUS_FROM:
            sign.append(f"{mode}:  ", "bold")
    elif mode is not Mode.REVIEW:
        sign.append(f" {str(mode).upper()} ", "reverse bold").append(" ")
    rows = [[hint for hint in hints if hint.seldom is seldom] for seldom in (False, True)]
    if height < 2 or not all(rows):
        return tuple(_keys_within(hints, sign, width, height))
    more = _keys_within(rows[1], Text(" "), width, height - 1)
    return (*_keys_within(rows[0], sign, width, 1), *more)


def _keys_within(hints: Sequence[Hint], sign: Text, width: int, height: int) -> Sequence[Text]:
    """Keys in so many lines and cells, seldom ones and those that are refused now dim."""
    kept, place = list(hints), -1
    while True:
        parts = []
        for hint in kept:
            look = "" if hint.live and not hint.seldom else "dim"
            key = Text(visible(hint.key), look or "bold")
            parts.append(key.append(f" {visible(hint.words)}", look or "not bold"))
        if place >= 0:
            parts.insert(place, Text(ELLIPSIS, "dim"))
        lines = list(flowing(sign, parts, width))
        if len(kept) <= 1 or (
            len(lines) <= height and all(line.cell_len <= width for line in lines)
        ):
            return lines[:height]
        place = next((at for at in range(len(kept) - 2, -1, -1) if kept[at].seldom), len(kept) - 2)
        del kept[place]


def flowing(sign: Text, parts: Sequence[Text], width: int) -> Iterator[Text]:
    """Lines of parts side by side; the first begins with a sign."""
    line, is_empty = sign.copy(), True
    for part in parts:
        if not is_empty and line.cell_len + len(_FOOTER_BAR_GAP) + part.cell_len > width:
            yield line
            line, is_empty = Text(" "), True
        line.append_text(part if is_empty else Text(_FOOTER_BAR_GAP).append_text(part))
        is_empty = False
    yield line


def _measure(parts: Sequence[Text], gap: str = _FOOTER_BAR_GAP) -> int:
    return sum(part.cell_len for part in parts) + len(gap) * (len(parts) - 1)


class LegendBar(LineBar[tuple[Hint, ...]]):
    """Draws the keys of labels in the labels' colours; the label of the focus is reversed."""

    DEFAULT_CSS = """
    LegendBar { background: $background; color: $foreground; }
    """

    @dataclass
    class Chosen(Message):
        """What a key of the legend means was clicked.

        Attributes:
            place: Its place, from one: of types that in the schema.
            hint: The key.
        """

        place: int
        hint: Hint

    _shown: tuple[Hint, ...] = ()

    def on_click(self, event: events.Click) -> None:
        """Tell what was clicked."""
        place = event.style.meta.get(_PLACE, 0)
        if 0 < place <= len(self._shown):
            self.post_message(self.Chosen(place, self._shown[place - 1]))

    def lines(self, width: int, height: int) -> Sequence[Text]:
        """As many lines as it is high."""
        labels = [hint.label for hint in self._shown if hint.label]
        colours = {label: ink(self.label_look(label)) for label in labels}
        return legend_lines(self._shown, colours, width, height)


def legend_lines(
    hints: Sequence[Hint], colours: Mapping[str, Style], width: int, height: int = 1
) -> Sequence[Text]:
    """The labels in so many lines and cells, whole where they find room.

    In one line second keys go, long labels are cut until all find room, then the last ones go. Labels that the schema
    does not allow here stand in parentheses.
    """

    def parts_of(longest: int) -> list[Text]:
        return [_legend_part(hint, colours, longest, at) for at, hint in enumerate(hints, 1)]

    whole = parts_of(width)
    lines = list(flowing(Text(" "), whole, width))
    if len(lines) <= height and all(line.cell_len <= width for line in lines):
        return lines
    longest = max((cell_len(hint.words) for hint in hints if hint.label), default=0)
    gap, parts = _FOOTER_BAR_GAP, parts_of(longest)
    if _measure(parts) + 1 > width:
        gap, hints = " ", [replace(hint, key=hint.key.partition(" ")[0]) for hint in hints]
        parts = parts_of(longest)
    while longest > _LEAST_LABEL and _measure(parts, gap) + 1 > width:
        longest -= 1
        parts = parts_of(longest)
    if _measure(parts, gap) + 1 > width:
        while parts and _measure([*parts, Text(ELLIPSIS)], gap) + 1 > width:
            parts.pop()
        parts.append(Text(ELLIPSIS))
    return [Text(" ").append_text(Text(gap).join(parts))]


_LEAST_LABEL, _PLACE = 5, "place"


def _legend_part(hint: Hint, colours: Mapping[str, Style], longest: int, place: int) -> Text:
    key = visible(hint.key)
    words = visible(hint.words)
    if hint.label and cell_len(words) > longest:
        # Without an ellipsis, which would take the place of a letter.
        words = set_cell_size(words, longest).rstrip()
    part = Text(f"{key} {words}" if hint.live else f"({key} {words})")
    part.stylize(colours.get(hint.label, Style()))
    if hint.live:
        part.stylize("bold", 0, len(key))
    if hint.current:
        part.stylize("reverse")
    part.stylize(Style(meta={_PLACE: place}))
    return part


_BETWEEN = "   │"
_LEAST_NEWS = 16
"""Cells below which news are left out next to an answer: nobody could make sense of them."""


class MessageBar(LineBar[tuple[Feedback, Feedback]]):
    """Draws the answer to a key and, to its right, news; one that is a problem begins with an exclamation mark."""

    DEFAULT_CSS = """
    MessageBar { background: $background; color: $foreground; }
    MessageBar.-problem { color: $warning; text-style: bold; }
    """

    _shown = (Feedback(), Feedback())

    def tell(self, answer: Feedback, news: Feedback | None = None) -> None:
        """Draw an answer and news, or an empty line."""
        first = answer if answer.message or not news else news
        self.set_class(first.problem and bool(first.message), "-problem")
        self.show((answer, news or Feedback()))

    def line(self, width: int) -> Text:
        """The line."""
        return bar_text(*self._shown, width)


def bar_text(answer: Feedback, news: Feedback, width: int) -> Text:
    """Both in so many cells: the answer whole, news in what it leaves; alone they have the line."""
    line = message_text(answer, width)
    if not line:
        return message_text(news, width)
    room = width - line.cell_len - len(_BETWEEN)
    if not news.message or room < _LEAST_NEWS:
        return line
    notice = message_text(news, room)
    gap = " " * (room - notice.cell_len)
    style = "not dim" if news.problem else "dim"
    return line.append(gap).append(_BETWEEN, "dim").append(notice.plain, style)


def message_text(feedback: Feedback, width: int) -> Text:
    """A message in so many cells."""
    if not feedback.message:
        return Text()
    sign = " ! " if feedback.problem else " "
    return Text(sign + fit(feedback.message, width - len(sign)))


_TAB_LINE_LEAST_TITLE = 10


class TabLine(LineBar[int]):
    """Draws a title and the names of pages; the one that is shown stands in brackets.

    Args:
        title: What the pages are about.
        names: Of the pages.
    """

    DEFAULT_CSS = """
    TabLine { background: $panel; color: $foreground; }
    """

    def __init__(self, title: str, names: Sequence[str], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.title = title
        self._words = tuple(names)
        self._shown = 0

    def line(self, width: int) -> Text:
        """The line."""
        return tab_text(self.title, self._words, self._shown, width)


def tab_text(title: str, words: Sequence[str], shown: int, width: int) -> Text:
    """Pages in so many cells; the title is cut first, and left out where it would be too short."""
    # A blank before each name only where all of them have room for one.
    pad = " " if sum(map(len, words)) + 2 * len(words) < width else ""
    tabs = Text()
    for place, name in enumerate(words):
        if place == shown:
            tabs.append(f"[{name}]", "bold reverse")
        else:
            tabs.append(f"{pad}{name} ")
    room = width - cell_len(tabs.plain) - 3
    line = Text(" ")
    if room >= _TAB_LINE_LEAST_TITLE:
        line.append(fit(title, room), "bold").append("  ")
    return line.append_text(tabs)


LEAST_COLUMNS, LEAST_ROWS, WIDE_FROM, BESIDE_FROM = 60, 15, 100, 170
COLUMNS = [(0, "-tiny"), (LEAST_COLUMNS, "-narrow"), (WIDE_FROM, "-wide"), (BESIDE_FROM, "-beside")]
ROWS = [(0, "-low"), (LEAST_ROWS, "-high")]
"""Classes of a screen by its size, for ``App.HORIZONTAL_BREAKPOINTS`` and ``App.VERTICAL_BREAKPOINTS``."""


class TooSmall(Static):
    """Says how large the terminal must be; shown only as long as it is smaller."""

    DEFAULT_CSS = """
    TooSmall { display: none; layer: above; width: 100%; height: 100%; content-align: center middle;
               text-align: center; background: $background; }
    """

    def render(self) -> str:
        """The size that there is, and the one that is needed."""
        columns, rows = self.screen.size
        return (
            f"The terminal has {columns}x{rows} characters.\n"
            f"The desk needs {LEAST_COLUMNS}x{LEAST_ROWS}: enlarge it.\n"
            f"Nothing is lost. {key_of('app.quit')} leaves."
        )


def is_too_small(columns: int, rows: int) -> bool:
    """Whether a terminal has too few characters for the desk."""
    return columns < LEAST_COLUMNS or rows < LEAST_ROWS
