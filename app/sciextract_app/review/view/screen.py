"""The review screen: abstracts next to the passage, over relations, clusters and the inspector.

The presenter (:class:`~sciextract_app.review.keys.desk.Desk`) decides what each key means. This screen owns the panels, which
draw what it gives; what works in the background; and the dialogs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Static

from sciextract.errors import ModelMismatchError, SciextractError
from sciextract.store import EntityRef, ItemRef, LinkRef, Project, RelationRef
from sciextract.store.review import Sort
from sciextract.store.search import Query
from sciextract.text.english import counted
from sciextract_app import opening
from sciextract_app.adjudication.backlog import open_differences
from sciextract_app.adjudication.presenter import Adjudication
from sciextract_app.keyboard import Burst
from sciextract_app.review.keys import bulk
from sciextract_app.review.keys.desk import Desk
from sciextract_app.review.model.document_order import EVERYTHING, Listing
from sciextract_app.review.model.footer import list_footer
from sciextract_app.review.model.queue import Order
from sciextract_app.review.model.targets import focused_text
from sciextract_app.review.view.background import BulkWork, ImportWork
from sciextract_app.review.view.dialogs import ReviewDialogs
from sciextract_app.review.view.document_list import DocumentList
from sciextract_app.review.view.lower_panes import ClustersPane, LowerPanes, RelationsPane
from sciextract_app.settings import SHELL, key_name
from sciextract_app.shared.actions import BY_ID, Action, action_of, key_label, key_of, keys_of
from sciextract_app.shared.jobs import Failed, Work, start_job
from sciextract_app.shared.session import Messages
from sciextract_app.shared.view_models import Feedback, Mode, named, problem
from sciextract_app.suggesting.learning import LearningWork, StartEngine
from sciextract_app.suggesting.predicting import PredictionWork
from sciextract_app.training.work import RetrainingWork
from sciextract_app.widgets.bars import (
    WIDE_FROM,
    FooterBar,
    HeaderBar,
    LegendBar,
    MessageBar,
    TextBar,
    TooSmall,
    is_too_small,
)
from sciextract_app.widgets.dialogs import ErrorDialog, plain
from sciextract_app.widgets.lines import LinesPane
from sciextract_app.widgets.passage_view import PassageView

if TYPE_CHECKING:
    from sciextract.workflows.annotate import Predictor

MOST_LISTED = 200
"""Relations up to which all those of the abstract are listed, not only those of the focus."""
POLL_SECONDS, TRAINING_SECONDS = 0.5, 1.0
"""Between two looks at the file, and at a training."""
PREPARE_SECONDS = 0.3
"""After an abstract was opened the next one is laid out, when nobody waits for the first."""
_ANYWHERE = frozenset({"search", "help", "palette", "quit"})
"""Requests that concern no abstract, so that they are open to the list, too."""
_LEAVING_LIST = frozenset({"next-abstract", "previous-abstract"})
_POINTING = (Mode.RELATE, Mode.RELATE_TYPE, Mode.FRAGMENT)


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    """How a project is reviewed.

    Attributes:
        author: Who works: see :func:`sciextract.store.opening.person`.
        load: Gives the model, called in a thread; ``None`` where none shall predict.
        model: The model that the person named, ``None`` for the one in use.
        files: What to import first.
        pasted: Abstracts to import first that are in no file.
        notice: What to show first, empty for nothing.
        learn: Starts what learns from finished abstracts; ``None`` where nothing shall learn.
    """

    author: str | None = None
    load: Callable[[], Predictor] | None = None
    model: str | None = None
    files: tuple[str, ...] = ()
    pasted: str = ""
    notice: str = ""
    learn: StartEngine | None = None


class ReviewScreen(Screen[None], inherit_bindings=False):
    """Shows what the presenter gives, and hands it every key.

    Args:
        project: The open project.
        options: How it is reviewed.

    Attributes:
        desk: The presenter.
        listing: The rows of the list.
        search_text: What was searched last.
        messages: The reply to the last key, the latest notice, and those before.
        dialogs: Opens dialogs and other screens.
        imports: ImportWork in the background, and suggests before anything is corrected.
        predictions: Predicts in the background.
        learning: Learns from finished abstracts in the background.
        bulk: Decides in the whole project in the background.
        retraining: The trainings of the project.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(SHELL)
    AUTO_FOCUS = ""  # nothing: keys are the presenter's

    @dataclass
    class Requested(Message):
        """The presenter wants something that only the app can do.

        Attributes:
            what: Such as ``help`` or ``search``.
        """

        what: str

    class SaveBeside(Message):
        """Another file has taken the project's place; what is open shall go on in a file next to it."""

    def __init__(self, project: Project, options: ReviewOptions | None = None) -> None:
        super().__init__()
        self.project = project
        self.desk = Desk(project)
        self.listing = Listing(project)
        self.search_text = ""
        self.messages = Messages()
        self.dialogs = ReviewDialogs(self)
        self._options = options = options or ReviewOptions()
        self._record = opening.remembered(project.path)
        author, model = options.author, options.model
        self.predictions = PredictionWork(self, author, options.load, self._follow_predictions)
        self.imports = ImportWork(self, author, self._record, self.predictions.start)
        order, promise = self.predictions.order, self.desk.promise
        self.learning = LearningWork(self, author, model, order, options.learn, promise)
        self.bulk = BulkWork(self)
        self.retraining = RetrainingWork(
            self, author, model, self._record, self.predictions.use_model
        )
        self._drawn_schema = project.schema
        # Until the first key predictions may move the focus, for nobody looks at anything yet.
        self._just_opened = True
        self._waiting_rows: bool | None = None
        self._preparing: Timer | None = None

    # Layout and drawing

    def compose(self) -> ComposeResult:
        """All panels; the stylesheet arranges them."""
        yield HeaderBar(id="header")
        with Horizontal(id="body"):
            yield DocumentList(self.listing, id="list")
            with Vertical(id="right"):
                yield Static(
                    plain(f"No abstracts yet. {key_of('app.import')} imports files."), id="empty"
                )
                yield TextBar(id="bibliography")
                yield PassageView(id="passage")
                yield LowerPanes(id="lower")
        yield MessageBar(id="message")
        yield LegendBar(id="legend")
        yield FooterBar(id="footer")
        yield TooSmall()

    def on_mount(self) -> None:
        """Show the abstract where the person stopped; begin to work once it is on the screen."""
        if self._options.pasted:
            self.call_after_refresh(self.imports.import_text, self._options.pasted)
        self.call_after_refresh(self._begin)
        self.dialogs.list_queue()
        self.draw()
        self.set_interval(POLL_SECONDS, self.poll_changes)

    def draw(self, rows: bool = True) -> None:
        """Draw all panels; the list only if its rows may have changed."""
        self._draw_text()
        self._waiting_rows = rows
        self._draw_rest()

    def _draw_text(self) -> None:
        """Draw what the person looks at."""
        desk, view = self.desk, self.desk.state.view
        if view is not None and view.schema != self._drawn_schema:
            self._drawn_schema = view.schema
            self.app.refresh_css(animate=False)  # labels have colours of their own
        self._aim()
        self.set_class(not desk.number, "-empty")
        if desk.number:
            self.query_one(PassageView).show(desk.passage(self.listing.query.words))

    def _draw_rest(self) -> None:
        """Draw what is around the text, unless that is done."""
        desk, rows = self.desk, self._waiting_rows
        if rows is None:
            return
        self._waiting_rows = None
        self.draw_header()
        self.draw_keys()
        if desk.number:
            self.query_one(TextBar).show(desk.bibliography())
            lower = self.query_one(LowerPanes)
            everything = desk.most_relations(everything=True) <= MOST_LISTED
            everything, clusters = everything and self.size.width >= WIDE_FROM, desk.clusters()
            relations = desk.relations(everything=everything)
            most = desk.most_relations(everything=everything)
            lower.show(relations, clusters, desk.inspector(), most, desk.number)
        if rows:
            self.draw_list()

    def draw_keys(self) -> None:
        """Draw the keys of what has the focus: the list, or the passage with its panes."""
        in_list, desk = self.query_one(DocumentList).has_focus, self.desk
        footer, mode = (list_footer(), Mode.LIST) if in_list else (desk.footer(), desk.mode_words)
        self.query_one(LegendBar).show(() if in_list else desk.legend())
        self.query_one(FooterBar).show((footer, mode))

    def draw_header(self) -> None:
        """Draw progress and model."""
        header = replace(self.desk.header(), predicting=self.predictions.progress)
        model, training = self.predictions.model or header.model, self.retraining.watch.progress
        learning = self.learning.words
        of = f": {', '.join(self.learning.left)}" if self.learning.left else ""
        nothing = "" if learning else "no model suggests yet"
        suggests = f"suggested by {model}{of}" if model else nothing
        self.query_one(HeaderBar).show(
            replace(header, model=suggests, training=training, learning=learning)
        )

    def draw_list(self) -> None:
        """Draw the rows of the list."""
        self.query_one(DocumentList).reload(self.desk.number)

    # Keys, and their results

    def on_key(self, event: events.Key) -> None:
        """Hand a key to the presenter, whatever its mode; while the list has the focus nothing is decided."""
        name = key_name(event)
        if event.key.startswith(("ctrl+", "page")) and not action_of(event.key):
            return  # a binding's
        if self.query_one(DocumentList).has_focus:
            self._press_in_list(event, name)
        elif not is_too_small(*self.size):
            event.stop()
            self.press(name)

    def _press_in_list(self, event: events.Key, name: str) -> None:
        """Keys of the list are its own; others that do not decide anything work as ever."""
        if event.key in self.query_one(DocumentList).keys:
            return
        event.stop()
        action = action_of(name)
        if event.key == "escape":
            self.leave_list()
        elif action is not None and (action.id in _LEAVING_LIST or action.request in _ANYWHERE):
            if action.id in _LEAVING_LIST:
                self.leave_list()
            self.press(name)
        else:
            words = f"{key_label(name)} does nothing in the list; Esc goes back to the text"
            self.show_reply(Feedback(words, problem=True))

    def press(self, key: str, action: Action | None = None) -> None:
        """Do what a key does, or an action, and show the result."""
        self._just_opened = False
        leaves_nothing = self.desk.mode is Mode.REVIEW and not self.desk.bulk.pending
        if key == "escape" and leaves_nothing and self.search_text:
            self.clear_search()
            return
        # Suggestions for what is opened are not written from here on.
        with self.predictions.order.lock:
            feedback = self.desk.press(key, action)
            self._aim()
        self.show_result(feedback)

    def _aim(self) -> None:
        self.predictions.order.aim(self.desk.number, self.desk.state.documents.numbers)

    def do(self, action: str) -> None:
        """Do an action of the registry, as its key does, also where it has none."""
        self.press(next(iter(keys_of(action)), ""), BY_ID[action])

    def show_result(self, feedback: Feedback) -> None:
        """Draw the state after an action, and show its message."""
        self._just_opened = self._just_opened or feedback.moved
        self._draw_text()
        self.show_reply(feedback)
        # In the next frame, as people look at the text; after several quick keys only once.
        self._waiting_rows = bool(self._waiting_rows) or feedback.changed or feedback.moved
        self.query_one(PassageView).call_after_refresh(self._draw_rest)
        if feedback.moved:
            if self._preparing:  # quick keys leave one abstract to prepare
                self._preparing.stop()
            self._preparing = self.set_timer(PREPARE_SECONDS, self._prepare_next)
        if feedback.problem and self.project.is_replaced():
            self.dialogs.save_copy()
        if feedback.request:
            self.post_message(self.Requested(feedback.request))
        self.retraining.offer_after(feedback)
        if feedback.changed:
            self.learning.poll()

    def _prepare_next(self) -> None:
        if coming := self.desk.coming_passage():
            self.query_one(PassageView).prepare(coming)

    def show_reply(self, feedback: Feedback) -> None:
        """Show the result of a key, or clear the last one."""
        self.messages.reply(feedback)
        self._draw_messages()

    def show_notice(self, feedback: Feedback, *, passing: bool = False) -> None:
        """Show what no key asked for, next to the result of the last key.

        Args:
            feedback: The message.
            passing: Whether it is only progress, which is not kept.
        """
        self.messages.inform(feedback, passing=passing)
        self._draw_messages()

    def _draw_messages(self) -> None:
        self.query_one(MessageBar).tell(self.messages.answer, self.messages.news)

    @on(Requested)
    def _answer_request(self, event: Requested) -> None:
        if event.what in (bulk.COUNT, bulk.DO, bulk.STOP):
            self.bulk.request(event.what)
        else:
            self.dialogs.open(event.what)

    # The mouse

    @on(PassageView.Clicked)
    def _click_text(self, event: PassageView.Clicked) -> None:
        if event.item_id and self.desk.mode not in _POINTING:
            self._focus_item(EntityRef(event.item_id))
        else:
            self.show_result(self.desk.click(event.char))

    @on(PassageView.SpanDragged)
    def _select_dragged(self, event: PassageView.SpanDragged) -> None:
        self.show_result(self.desk.drag(event.char_start, event.char_end))

    @on(PassageView.MenuWanted)
    def _open_menu(self, event: PassageView.MenuWanted) -> None:
        if event.item_id:
            self._focus_item(EntityRef(event.item_id))
        elif self.desk.mode is Mode.REVIEW:
            self.show_result(self.desk.click(event.char))
        self.dialogs.menu()

    @on(LinesPane.MenuWanted)
    def _line_menu_wanted(self) -> None:
        self.call_later(self.dialogs.menu)  # once the clicked line has the focus

    @on(LegendBar.Chosen)
    def _legend_chosen(self, event: LegendBar.Chosen) -> None:
        if event.hint.label and self.desk.mode is not Mode.TYPE:
            self.set_type(event.place)
        else:
            self.press(event.hint.key)

    def set_type(self, place: int) -> None:
        """Give the type at a place of the schema, also one that no digit has."""
        self.press("", replace(BY_ID["type-1"], argument=str(place)))

    @on(RelationsPane.RowClicked)
    def _focus_clicked_relation(self, event: RelationsPane.RowClicked) -> None:
        self._focus_item(RelationRef(event.item_id))

    @on(ClustersPane.LinkClicked)
    def _focus_clicked_link(self, event: ClustersPane.LinkClicked) -> None:
        view = self.desk.state.view
        links = view.members.get(event.cluster_id, []) if view else []
        if event.index < len(links):
            self._focus_item(LinkRef(event.cluster_id, links[event.index].entity_id))

    def _focus_item(self, item: ItemRef) -> None:
        self.show_result(self.desk.focus_item(item))

    # Changes of the file by others

    def poll_changes(self) -> None:
        """Show what another process or a worker wrote; the focus stays where it is."""
        if self.desk.is_stale():
            self._read_changes()

    def _read_changes(self) -> None:
        documents = self.desk.totals.documents
        feedback = self.desk.refresh()
        if feedback.moved or self.desk.totals.documents != documents:
            self.listing.load()
            self._follow_listing()
        if self._just_opened and self.desk.focus is None and self.desk.waiting:
            # There was nothing to look at before, so this does not take the person away from anything.
            self.desk.press("", BY_ID["next-undecided"])
        self.draw()
        self.show_notice(feedback)

    # The list, its order and searches

    def on_descendant_focus(self) -> None:
        """The footer speaks of what has the focus."""
        self.draw_keys()

    on_descendant_blur = on_descendant_focus

    @on(DocumentList.Opened)
    def _open_listed(self, event: DocumentList.Opened) -> None:
        with self.predictions.order.lock:
            feedback = self.desk.open(event.number)
            self._aim()
        self.leave_list()
        self.show_result(feedback)

    def action_list(self) -> None:
        """Go to the list, or back."""
        if self.query_one(DocumentList).has_focus:
            self.leave_list()
        else:
            self.enter_list()

    def enter_list(self) -> None:
        """Focus the list; where there is no room for it, it slides over the passage."""
        self.add_class("-drawer")
        self.query_one(DocumentList).focus()

    def leave_list(self) -> None:
        """Back to the passage."""
        self.remove_class("-drawer")
        self.set_focus(None)

    def search(self, text: str, query: Query) -> None:
        """Let the list show what fits a query; the next abstracts come from it."""
        self.search_text = text
        self.list_by(query=query)
        found = f"{counted(self.listing.count(), 'abstract')} found; n and p stay among them"
        self.show_reply(Feedback(found if text.strip() else "all abstracts"))
        self.enter_list()

    def clear_search(self) -> None:
        """List all abstracts again; the open one stays."""
        self.search_text = ""
        self.list_by(query=EVERYTHING)
        self.dialogs.list_queue()
        self.show_result(Feedback("The search is over: all abstracts"))

    def list_by(self, sort: Sort | None = None, query: Query | None = None) -> None:
        """Give the list another order or query; the next abstracts come in its order, unless a queue is followed."""
        self.listing.load(sort, query)
        self._follow_listing()
        self.draw()

    def _follow_listing(self) -> None:
        searched = "" if self.listing.query == EVERYTHING else self.search_text.strip()
        numbers = None if self.listing.is_plain else self.listing.numbers
        self.desk.follow(numbers, searched)

    def review_by(self, order: Order) -> None:
        """Give the undecided items of abstracts another order."""
        self.show_result(self.desk.set_order(order))

    def return_from(self, adjudication: Adjudication) -> None:
        """Show the abstract in which the person left adjudication, at the difference if the project has it."""
        if adjudication.number and adjudication.number != self.desk.number:
            self.desk.open(adjudication.number)
        else:
            self.desk.refresh()
        if adjudication.item is not None:
            self.desk.focus_item(adjudication.item)
        self.show_result(Feedback(changed=True))

    def action_page(self, pages: int) -> None:
        """Scroll the text; cursor and focus stay."""
        passage = self.query_one(PassageView)
        passage.scroll_relative(y=pages * max(1, passage.size.height - 1), animate=False)

    def action_strip(self) -> None:
        """Show the next of the lower panes."""
        self.query_one(LowerPanes).show_next()

    # Keys that work next to the presenter's

    def action_dialog(self, request: str) -> None:
        """Open a dialog or another screen."""
        self.dialogs.open(request)

    def action_copy(self) -> None:
        """Copy what has the focus to the clipboard of the terminal, over ssh, too (OSC 52)."""
        text = focused_text(self.desk.state) if self.desk.number else ""
        self.app.copy_to_clipboard(text)
        self.show_reply(Feedback(f"{named(text)} is copied, if the terminal allows that"))

    def action_predict(self) -> None:
        """Let the model predict what needs it."""
        self.predictions.start()

    def on_paste(self, event: events.Paste) -> None:
        """A text was pasted: never take it for keys."""
        event.stop()
        if isinstance(event, Burst):
            self.show_reply(problem(event.words))
        else:
            self.dialogs.paste(event.text)

    # Work in the background

    @property
    def writable(self) -> bool:
        """Whether the project can be changed."""
        return self.project.mode == "write"

    @property
    def finished(self) -> int:
        """Abstracts that are done."""
        return self.desk.totals.done

    @property
    def share(self) -> float:
        """How often what is accepted as sure shall be right."""
        return self.desk.state.share

    def run_job(self, name: str, work: Work, failed: Failed, exclusive: bool = False) -> None:
        """Run a function in a thread, which is cancelled with the screen."""
        start_job(self, name, work, failed, exclusive=exclusive)

    def cancel_jobs(self, name: str) -> None:
        """End all jobs of a name."""
        self.workers.cancel_group(self, name)

    def show_error(self, title: str, error: SciextractError) -> None:
        """Say why something failed that the person wanted."""
        self.app.push_screen(ErrorDialog(title, error))

    def _begin(self) -> None:
        self.predictions.newcomer = not opening.recent_projects()
        opening.remember(self._record)
        notices = [self._options.notice]
        if left := open_differences(self.project):
            notices.append(
                f"{counted(left, 'difference')} to resolve with other sources: {key_of('adjudicate')}"
            )
        if not self.writable:
            notices.append(f"{self.project.path.name} is read-only here: copy it to change it")
        if any(notices):
            self.show_notice(Feedback("; ".join(filter(None, notices)), problem=not self.writable))
        self.set_timer(PREPARE_SECONDS, self._prepare_next)
        self.retraining.begin()
        self.set_interval(TRAINING_SECONDS, self.retraining.poll)
        if files := self.imports.pending(self._options.files):
            self.imports.import_files(files)
        else:
            self.predictions.start()

    def _follow_predictions(self, error: SciextractError | None) -> None:
        """Learn; where no model knows the labels, offer other sources, unless the person is at work already."""
        self.learning.poll()
        if not isinstance(error, ModelMismatchError):
            return
        begun = self.desk.totals.done or self.project.documents_with_undecided()
        if (
            not begun
            and self.project.schema.entities
            and self._just_opened
            and self.app.screen is self
        ):
            self.dialogs.suggest()

    def accept_from(self, share: float, threshold: float) -> None:
        """Change what ``A`` accepts."""
        self.show_result(self.desk.accept_from(share, threshold))
        self.learning.promise_anew()

    def stop(self) -> None:
        """Cancel all workers; each leaves a sound project, a moment later."""
        self.workers.cancel_node(self)
        self.learning.close()

    def close(self) -> None:
        """The last thing before the project is closed, when no event loop runs any more."""
        self.learning.close()
        self.desk.remember()
