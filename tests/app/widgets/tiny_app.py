"""A desk of invented values: every widget where the desk has it, without a project."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message

from sciextract.documents.annotations import State
from sciextract.documents.schema_file import load_schema
from sciextract.store.review import DocumentSummary
from sciextract_app.review.view.document_list import DocumentList
from sciextract_app.review.view.lower_panes import ClustersPane, InspectorPane, RelationsPane
from sciextract_app.shared.view_models import (
    ClusterLine,
    Feedback,
    Header,
    Hint,
    Inspector,
    Mode,
    Passage,
    RelationLine,
)
from sciextract_app.themes import THEMES, label_variables
from sciextract_app.widgets.bars import FooterBar, HeaderBar, MessageBar
from sciextract_app.widgets.passage_view import PassageView
from tests.app.widgets.passages import RICH

FEATURES, SYSTEM = "features extracted from parse trees", "a coreference resolution system"
RELATIONS = (
    RelationLine("r1", FEATURES, SYSTEM, "USED-FOR", False, State.UNDECIDED, 0.914, True),
    RelationLine("r2", "news corpus", "[12]", "EVALUATE-FOR", False, State.ACCEPTED, 0.77, False),
    RelationLine("r3", "中文", "emoji 👩‍🔬", "CONJUNCTION", True, State.ADDED, None, False),
)
CLUSTERS = (
    ClusterLine(
        *("c1", "a", (SYSTEM, "The system", "it")),
        *((State.ACCEPTED, State.UNDECIDED, State.EDITED), 1),
    ),
    ClusterLine("c2", "b", ("features", "[bold]"), (State.UNDECIDED, State.UNDECIDED), None),
)
INSPECTOR = Inspector(
    "coreference resolution · Task",
    (
        ("score", "0.83"),
        ("next", "Method 0.11  Material 0.03"),
        ("state", "undecided"),
        ("means", "A problem to be solved, whoever solves it; [12] and \x1b[31m stay text."),
    ),
)
HINTS = (
    Hint("Enter", "accept"),
    Hint("x", "reject"),
    Hint("1-6", "type"),
    Hint("s S e E", "edges"),
    Hint("r", "relate"),
    Hint("c", "cluster", live=False),
    Hint("u", "undo"),
    Hint("D", "done"),
    Hint("?", "keys"),
)
HEADER = Header("parsing.sciextract", 37, 412, 0.84, "sci-minilm 1.0", (12, 375))


class Rows:
    """A source of so many invented rows that counts what it is asked for.

    Args:
        size: How many.

    Attributes:
        asked: Offset and limit of every page.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.asked: list[tuple[int, int]] = []

    def count(self) -> int:
        return self.size

    def page(self, offset: int, limit: int) -> list[DocumentSummary]:
        self.asked.append((offset, limit))
        return [self.row(index) for index in range(offset, min(offset + limit, self.size))]

    def place(self, number: int) -> int | None:
        return number - 1 if 1 <= number <= self.size else None

    def row(self, index: int) -> DocumentSummary:
        layers = (("done",) * 3, ("done", "in progress", "untouched"), ("untouched",) * 3)[
            index % 3
        ]
        title = f"[b]Abstract {index + 1}: recognition of names in 中文 newspapers of the past"
        return DocumentSummary(
            *(index + 1, title, 2000 + index % 25, layers),
            *(index % 7, 20, 0.31, index % 5 == 3),
        )


class TinyDesk(App[None]):
    """All widgets, and the messages that they post."""

    CSS = """
    DocumentList { width: 34; }
    PassageView { height: 3fr; }
    #lower { height: 2fr; }
    RelationsPane { height: 5; }
    ClustersPane, InspectorPane { width: 1fr; }
    """

    def __init__(self, passage: Passage = RICH, rows: int = 1000, theme: str = "desk-dark") -> None:
        super().__init__()
        self.passage = passage
        self.rows = Rows(rows)
        self.heard: list[Message] = []
        for known in THEMES:
            self.register_theme(known)
        self.theme = theme

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return label_variables(load_schema("scierc"), self.current_theme)

    def compose(self) -> ComposeResult:
        yield HeaderBar()
        with Horizontal():
            yield DocumentList(self.rows)
            with Vertical():
                yield PassageView()
                with Vertical(id="lower"):
                    yield RelationsPane()
                    with Horizontal():
                        yield ClustersPane()
                        yield InspectorPane()
        yield MessageBar()
        yield FooterBar()

    def on_mount(self) -> None:
        self.query_one(HeaderBar).show(HEADER)
        self.query_one(DocumentList).reload(2)
        self.query_one(PassageView).show(self.passage)
        self.query_one(RelationsPane).show(RELATIONS)
        self.query_one(ClustersPane).show(CLUSTERS)
        self.query_one(InspectorPane).show(INSPECTOR)
        self.query_one(MessageBar).tell(Feedback("2 identical strings: a accepts [them] too"))
        self.query_one(FooterBar).show((HINTS, Mode.REVIEW))

    def hear(self, message: Message) -> None:
        self.heard.append(message)

    on_passage_view_clicked = hear
    on_passage_view_span_dragged = hear
    on_passage_view_menu_wanted = hear
    on_relations_pane_row_clicked = hear
    on_clusters_pane_link_clicked = hear
    on_document_list_opened = hear
