"""Dialogs and other screens over the review screen, and what becomes of their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sciextract.documents.annotations import Layer
from sciextract.errors import FormatError, UsageError
from sciextract.inference.model_folder import AUTO
from sciextract.store import label_changes, queries, review
from sciextract.store.coverage import find_layers
from sciextract.store.sqlite_errors import replaced
from sciextract_app.adjudication.screen import MERGED
from sciextract_app.review.keys import bulk
from sciextract_app.review.model.saved_queues import suggested_name
from sciextract_app.review.view.labels import LabelEditor
from sciextract_app.review.view.prompts import (
    HELP,
    NoteDialog,
    PlacesDialog,
    QueuesDialog,
    Wish,
    bad_records_dialog,
    messages_dialog,
    parse_query,
)
from sciextract_app.settings import KEYMAP_FILE, user_folder
from sciextract_app.shared.actions import ACTIONS, key_of, undo_hint
from sciextract_app.shared.view_models import ASK_VALUE, NEW_TYPE, Feedback
from sciextract_app.widgets.dialogs import (
    ChoiceDialog,
    KeyedDialog,
    LineDialog,
    PathDialog,
    QuestionDialog,
    ask,
)
from sciextract_app.widgets.help import KeysDialog, help_rows

if TYPE_CHECKING:
    from textual.screen import Screen

    from sciextract.store.quality_checks import Check, Finding
    from sciextract.workflows.disagreements import OtherSource
    from sciextract_app.review.view.screen import ReviewScreen

_SOURCES = (
    ("t", "terms: a CSV or TSV file with a term and its label in each row"),
    ("p", "patterns: token and phrase patterns of spaCy or Prodigy"),
    ("m", "labels of a bundled model, mapped to yours, such as Method=Technique"),
    ("s", "mentions of the bundled models without labels: 1 to 9 gives the label"),
    ("f", "annotations of another tool or model, from a file of any format"),
)
"""Keys of the sources of suggestions."""

_LABELS = 12
"""Labels that the dialog of suggestions names."""

MOST_PLACES = 200
"""Abstracts that are listed before a decision for the whole project."""


class ReviewDialogs:
    """Opens dialogs and other screens; those that are seldom needed are imported then.

    Args:
        screen: The review screen, which shows what becomes of results.
    """

    def __init__(self, screen: ReviewScreen) -> None:
        self._screen = screen
        self.labels = LabelEditor(screen)

    def open(self, request: str) -> None:
        """Open what the presenter requests."""
        app, again = self._screen.app, partial(self._screen.do, "type-1")
        openers: dict[str, Callable[[], object]] = {
            "adjudicate": self.adjudicate,
            ASK_VALUE: self.ask_value,
            "checks": self.checks,
            "compare": self.compare,
            "files": self.files,
            "finish": self.finish,
            NEW_TYPE["entity"]: partial(self.labels.add, "entity", again),
            NEW_TYPE["relation"]: partial(self.labels.add, "relation", again),
            "guideline": self.guideline,
            "help": self.keys,
            "note": self.note,
            "palette": app.action_command_palette,
            bulk.PLACES: self.places,
            "queues": self.queues,
            "quit": partial(app.call_later, app.action_quit),
            "questions": self.questions,
            "relations": self.relations,
            "retraining": self.retraining,
            "save-queue": self.save_queue,
            "search": self.search,
            "statistics": self.statistics,
            "suggest": self.suggest,
        }
        if request in openers:
            openers[request]()
        else:
            self._refuse(f"{request} is not available here")

    def keys(self) -> None:
        """Show all keys."""
        note = f"Custom keys: {user_folder('config') / KEYMAP_FILE}"
        self._screen.app.push_screen(KeysDialog(help_rows(), note))

    def finish(self) -> None:
        """Ask which layers finishing an abstract finishes."""
        screen, key = self._screen, key_of("done")
        schema = screen.project.schema
        layers = [layer for layer in Layer if layer in schema.layers]
        in_use = find_layers(screen.project.connection, replace(schema, finish=()))
        names = [", ".join(layers[:end]) for end in range(1, len(layers) + 1)]
        words = f"what is in use, now {', '.join(in_use)}"
        choices = [("", words), *zip(names, names, strict=True)]
        now = ", ".join(schema.finish) or "what is in use"

        def choose(name: str) -> None:
            chosen = [layer for layer in layers if layer in name]
            change = partial(label_changes.choose_layers, layers=chosen)
            screen.show_result(screen.desk.change_labels(change, f"{key} finishes {name or words}"))

        ask(screen.app, ChoiceDialog(f"{key} finishes {now}", "Esc back", choices), choose)

    def guideline(self) -> None:
        """Show the types, that of the focused item first."""
        types, focused = self._screen.project.schema.types, self._screen.desk.focused_type
        self.labels.open(types.index(focused) if focused in types else 0)

    def messages(self) -> None:
        """Show the messages until now."""
        self._screen.app.push_screen(messages_dialog(self._screen.messages.history))

    def save_copy(self) -> None:
        """Ask whether to continue in a file next to the one that has taken the project's place."""
        screen = self._screen
        error = replaced(screen.project.path)
        explained = (
            f"{error.message}. Nothing can be saved into it from here.\n\n"
            "What is open, with all decisions until then, can be saved as a project next to it."
        )
        title = "The project file was replaced"

        dialog = QuestionDialog(title, explained, "saves it next to that file")
        ask(screen.app, dialog, lambda _: screen.post_message(screen.SaveBeside()))

    def menu(self) -> None:
        """Offer what can be done now: the live keys of the footer, and the types; for a word these first."""
        screen, desk = self._screen, self._screen.desk
        ids = {key_of(action.id): action.id for action in reversed(ACTIONS)}
        live = [hint for hint in desk.footer() if hint.live and hint.key in ids]
        choices = [(ids[hint.key], f"{hint.key:>9}  {hint.words}") for hint in live]
        types = [
            (str(place), f"{hint.key:>9}  {hint.words}")
            for place, hint in enumerate(desk.legend(), start=1)
            if hint.label and hint.live
        ]
        choices = types + choices if desk.focus is None else choices + types

        def choose(value: str) -> None:
            if value.isdecimal():
                screen.set_type(int(value))
            else:
                screen.do(value)

        ask(screen.app, ChoiceDialog("What now?", "Esc back", choices), choose)

    def note(self) -> None:
        """Edit the note of the abstract."""
        screen = self._screen
        number = screen.desk.number
        progress = screen.project.document_state(number).progress if number else None
        if progress is None:
            return
        dialog = NoteDialog(progress.note)
        ask(screen.app, dialog, lambda text: screen.show_result(screen.desk.set_note(text)))

    def ask_value(self) -> None:
        """Type the value of the attribute that was chosen."""
        desk = self._screen.desk
        dialog = NoteDialog(*desk.asked_value)
        ask(self._screen.app, dialog, lambda text: self._screen.show_result(desk.say(text)))

    def places(self) -> None:
        """List the places of a decision for the whole project, and ask whether to continue."""
        screen, decision = self._screen, self._screen.desk.bulk.pending
        if decision is None or decision.count is None:
            return
        count = decision.count
        numbers = count.numbers[:MOST_PLACES]
        found = review.contexts(screen.project.connection, numbers, count.decided.text)
        left = len(count.numbers) - len(numbers)
        dialog = PlacesDialog(decision.question, count.decided.text, found, left)
        # The presenter waits for one of these keys, so the dialog only passes it on.
        screen.app.push_screen(dialog, lambda yes: screen.press("enter" if yes else "escape"))

    def search(self) -> None:
        """Search abstracts."""
        screen = self._screen
        schema = screen.project.schema
        labels = (*schema.entity_labels, *schema.relation_labels)
        read = partial(parse_query, labels=labels)
        dialog = LineDialog("Search", screen.search_text, HELP, read, replaces=True)
        ask(screen.app, dialog, lambda text: screen.search(text, read(text)))

    # Imports

    def files(self) -> None:
        """Ask for a file or folder, and import it."""
        start = self._screen.imports.import_files
        self._ask_file("Import abstracts", lambda path: start([str(path)]))

    def paste(self, text: str = "") -> None:
        """Show a pasted text and its format, and ask whether to import it."""
        from sciextract_app.paste import PasteDialog

        imports = self._screen.imports
        if not imports.is_refused():
            dialog = PasteDialog(text, self._screen.project.path.name)
            ask(self._screen.app, dialog, imports.import_text)

    def bad_records(self, shown: Sequence[FormatError], count: int) -> None:
        """Show records that an import left out, and how many there are in all."""
        self._screen.app.push_screen(bad_records_dialog(shown, count))

    # Suggestions

    def suggest(self) -> None:
        """Ask where suggestions come from, then for the file or the labels."""
        schema = self._screen.project.schema
        shown = ", ".join(schema.entity_labels[:_LABELS])
        more = ", …" if len(schema.entity_labels) > _LABELS else ""
        explained = (
            f"Labels of this project: {shown}{more}. Suggestions are undecided and record their source; "
            f"{undo_hint('all those of one call')}. Abstracts whose entities are done get none."
        )
        dialog = KeyedDialog("Suggest before you correct", explained, _SOURCES)
        ask(self._screen.app, dialog, self._suggest_from)

    def _suggest_from(self, source: str) -> None:
        from sciextract.workflows.suggest import Sources

        start = self._screen.imports.suggest
        match source:
            case "t":
                self._ask_file("Terms: a CSV or TSV file", lambda path: start(Sources((path,))))
            case "p":
                title = "Patterns: JSON Lines of spaCy's EntityRuler"
                self._ask_file(title, lambda path: start(Sources(patterns=(path,))))
            case "m":
                self._ask_labels(lambda text: start(Sources(labels=text, model=AUTO)))
            case "s":
                start(Sources(spans=True, model=AUTO))
            case "f":
                self._ask_file("Annotations in any format", start)

    def _ask_file(self, title: str, then: Callable[[Path], None]) -> None:
        ask(self._screen.app, PathDialog(title, Path.cwd()), then)

    def _ask_labels(self, then: Callable[[str], None]) -> None:
        from sciextract.workflows.convert import parse_renames
        from sciextract.workflows.suggest import fitting_labels

        def check(text: str) -> None:
            if not parse_renames(text, "--map"):
                raise UsageError("type at least one pair")

        project, schema = self._screen.project, self._screen.project.schema
        model, labels = fitting_labels(project)
        own = ", ".join((*schema.entity_labels, *schema.relation_labels))
        explained = (
            f"OLD=NEW,OLD=NEW\n\nlabels of model {model}: {', '.join(labels)}\n\nyours: {own}"
        )
        dialog = LineDialog("Labels of the model mapped to yours", "", explained, check)
        ask(self._screen.app, dialog, then)

    # Saved queues

    def save_queue(self) -> None:
        """Keep the list as it is, under a name."""
        listing = self._screen.listing
        if not listing.count():
            self._refuse("The list is empty: there is nothing to save")
            return

        def save(name: str) -> None:
            text = self._screen.search_text
            self._follow_queue(self._screen.desk.queues.save(name, listing, text))

        name = suggested_name(listing, self._screen.search_text)
        explained = (
            f"{listing.count():,} abstracts in the order of the list; the queue stays as it is now"
        )

        def check(name: str) -> None:
            if not name:
                raise UsageError("type a name")

        dialog = LineDialog("Save the list as a queue", name, explained, check)
        ask(self._screen.app, dialog, save)

    def queues(self) -> None:
        """Offer the saved queues."""
        queues = self._screen.desk.queues
        dialog = QueuesDialog(queues.lines(), queues.active)
        ask(self._screen.app, dialog, self._choose_queue)

    def leave_queue(self) -> None:
        """Go on with all abstracts."""
        self._choose_queue(("leave", ""))

    def list_queue(self) -> None:
        """List the queue that is worked on, if there is one."""
        if self._screen.desk.queues.active:
            self._screen.listing.show(self._screen.desk.queues.numbers)

    def _choose_queue(self, wish: Wish) -> None:
        what, name = wish
        queues = self._screen.desk.queues
        if what == "start":
            self.start_queue(name)
            return
        before = queues.active
        feedback = queues.leave() if what == "leave" else queues.forget(name)
        if before and not queues.active:
            self._screen.search_text = ""
            self._screen.listing.show_all()
        self._follow_queue(feedback)

    def start_queue(self, name: str) -> None:
        """Work on a saved queue."""
        self._follow_queue(self._screen.desk.queues.start(name))

    def _follow_queue(self, feedback: Feedback) -> None:
        self.list_queue()
        self._screen.show_result(feedback)
        self._screen.draw_list()

    # Other screens

    def statistics(self) -> None:
        """Show plots of the project."""
        from sciextract_app.statistics.screen import DashboardScreen

        self._screen.app.push_screen(DashboardScreen(self._screen.project.path, self._screen.share))

    def retraining(self) -> None:
        """Show the training that runs, the result of the last one, or what would be trained on."""
        from sciextract_app.training.screen import RetrainingScreen

        service = self._screen.retraining
        service.watch.find()
        self._screen.app.push_screen(RetrainingScreen(service))

    def checks(self) -> None:
        """Look for inconsistencies, and go to the places of the chosen kind."""
        from sciextract_app.review.view.prompts import ChecksDialog

        screen = self._screen

        def work_through(found: tuple[Check, Sequence[Finding]]) -> None:
            self._follow_queue(screen.desk.work_through(*found))

        ask(screen.app, ChecksDialog(screen.project.path), work_through)

    def relations(self) -> None:
        """Show all relations of the abstract."""
        from sciextract_app.review.view.relations import RelationsScreen

        self._push(RelationsScreen(self._screen.desk))

    def questions(self) -> None:
        """Ask about undecided items of all abstracts, one by one."""
        from sciextract_app.review.view.questions import QuestionsScreen

        if self._screen.desk.number:
            self._push(QuestionsScreen(self._screen.desk))

    def _push(self, over: Screen[Feedback]) -> None:
        show = self._screen.show_result
        self._screen.app.push_screen(over, lambda feedback: show(feedback or Feedback()))

    def compare(self) -> None:
        """Compare the predictions of the newest model for the abstract with what holds now."""
        from sciextract.workflows.disagreements import Decisions, other_sources
        from sciextract_app.adjudication.backlog import read_abstract

        project, number = self._screen.project, self._screen.desk.number
        newest = queries.newest_prediction(project.connection, number)
        decisions = Decisions(project)
        sides = [
            side
            for side in other_sources(project, decisions)
            if newest is not None and newest[1] in side.source_ids
        ]
        abstract = read_abstract(project, number, sides, decisions) if sides else None
        if abstract is None:
            self._refuse(f"No predictions for this abstract: {key_of('app.predict')} predicts")
        elif not abstract.waiting:
            self._refuse("The newest model and the annotations of this abstract agree")
        else:
            self._adjudicate_with(sides)

    def adjudicate(self) -> None:
        """Adjudicate: with merged projects at once, else after the choice of another source."""
        from sciextract.workflows.disagreements import Decisions, other_sources
        from sciextract_app.adjudication.screen import chosen, side_dialog

        screen = self._screen
        sides = other_sources(screen.project, Decisions(screen.project))
        if any(side.merged for side in sides):
            self._adjudicate_with(chosen(sides, MERGED))
        elif sides:
            adjudicate = lambda name: self._adjudicate_with(chosen(sides, name))
            ask(screen.app, side_dialog(sides), adjudicate)
        else:
            self._refuse(
                "Nobody else has annotations here: sciextract merge brings in a colleague's project"
            )

    def _adjudicate_with(self, sides: Sequence[OtherSource]) -> None:
        from sciextract_app.adjudication.presenter import Adjudication
        from sciextract_app.adjudication.screen import AdjudicationScreen

        screen = self._screen
        adjudication = Adjudication(screen.project, sides, screen.desk.number)
        screen.app.push_screen(AdjudicationScreen(adjudication, screen.return_from))

    def _refuse(self, message: str) -> None:
        self._screen.show_reply(Feedback(message, problem=True))
