"""The line above everything: the project, how far it is, the model."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from sciextract_app.presenter.shown import Header
from sciextract_app.widgets.glyphs import fit
from sciextract_app.widgets.lines import LineBar

_GAP = "   "
_LEAST_PROJECT = 12
_LONGEST_QUEUE = 50


class HeaderBar(LineBar):
    """Draws progress, acceptance, model and a running prediction, as far as there is room."""

    DEFAULT_CSS = """
    HeaderBar { background: $panel; color: $foreground; }
    """

    def __init__(
        self, *, name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._header = Header("", 0, 0)

    def show(self, header: Header) -> None:
        """Draw this state."""
        if header != self._header:
            self._header = header
            self.refresh()

    def line(self, width: int) -> Text:
        """The line."""
        return header_text(self._header, width)


def header_text(header: Header, width: int) -> Text:
    """The header in so many cells: where room is short the model goes first, then acceptance.

    Progress stays, and a queue longer than a running prediction; the project's name is cut before they are.
    """
    fields = _fields(header)
    for name in ("model", "acceptance", "prediction", "training", "queue"):
        if _width(fields) + _LEAST_PROJECT > width:
            fields.pop(name, None)
    project = fit(header.project, max(0, width - _width(fields) - 1))
    line = Text(" ").append(project, "bold")
    for field in fields.values():
        line.append(_GAP).append(field)
    return line


def _fields(header: Header) -> dict[str, str]:
    fields = {"progress": f"{header.done:,} of {header.documents:,} done"}
    if header.queue:
        fields["queue"] = f"▸ {fit(header.queue, _LONGEST_QUEUE)}"
    if header.acceptance is not None:
        fields["acceptance"] = f"accepted {header.acceptance * 100:.0f} %"
    if header.model:
        fields["model"] = fit(header.model, 32)
    if header.predicting is not None:
        done, total = header.predicting
        fields["prediction"] = f"⟳ predicting {done:,}/{total:,}" if total else "⟳ predicting"
    if header.training is not None:
        epoch, epochs = header.training
        fields["training"] = f"⟳ training {epoch}/{epochs}" if epochs else "⟳ training"
    return fields


def _width(fields: dict[str, str]) -> int:
    return sum(len(_GAP) + cell_len(field) for field in fields.values())
