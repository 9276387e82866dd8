"""The desk with saved queues, and with what it said before."""

from __future__ import annotations

from sciextract_app.dialogs.pages import MessagesDialog
from sciextract_app.dialogs.prompts import QueueNameDialog, QueuesDialog, Wish
from sciextract_app.presenters.saved_queues import suggested_name
from sciextract_app.presenters.view_models import Feedback
from sciextract_app.screens.counting import CountingDesk


class QueueingDesk(CountingDesk):
    """A desk whose list can be kept, and gone on with later."""

    def on_mount(self) -> None:
        """List the queue that the person stopped in."""
        self._list_queue()

    def action_save_queue(self) -> None:
        """Keep the list as it is, under a name."""
        if not self.listing.count():
            self.tell(Feedback("The list is empty: there is nothing to save", problem=True))
            return
        suggested = suggested_name(self.listing, self.searched)
        dialog = QueueNameDialog(suggested, self.listing.count())
        self.app.push_screen(dialog, self._save_queue)

    def action_queues(self) -> None:
        """Offer the saved queues."""
        self.app.push_screen(QueuesDialog(self.desk.queues.lines()), self._choose_queue)

    def action_leave_queue(self) -> None:
        """Go on with all abstracts."""
        self._choose_queue(("leave", ""))

    def action_messages(self) -> None:
        """Show what was said before."""
        self.app.push_screen(MessagesDialog(self.messages.history))

    def _save_queue(self, name: str | None) -> None:
        if name is not None:
            feedback = self.desk.queues.save(name, self.listing, self.searched)
            self._follow_queue(feedback)

    def _choose_queue(self, wish: Wish | None) -> None:
        if wish is None:
            return
        what, name = wish
        before, queues = self.desk.queues.active, self.desk.queues
        if what == "start":
            self._follow_queue(queues.start(name))
            return
        feedback = queues.leave() if what == "leave" else queues.forget(name)
        if before and not queues.active:
            self.searched = ""
            self.listing.show_all()
        self._follow_queue(feedback)

    def _follow_queue(self, feedback: Feedback) -> None:
        self._list_queue()
        self.after(feedback)
        self.draw_list()

    def _list_queue(self) -> None:
        if self.desk.queues.active:
            self.listing.show(self.desk.queues.numbers)
