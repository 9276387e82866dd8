"""What a service of the review screen may use of the screen that owns it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from textual.message import Message

from sciextract.store import Project
from sciextract_app.presenters.desk import Desk
from sciextract_app.presenters.session import Messages
from sciextract_app.presenters.view_models import Feedback

IsCancelled = Callable[[], bool]
"""Whether a thread shall end; safe to call from it."""


class ReviewHost(Protocol):
    """The screen, as its services see it.

    Attributes:
        project: The open project.
        desk: The presenter.
        messages: The reply to the last key, and the latest notice.
    """

    project: Project
    desk: Desk
    messages: Messages

    @property
    def writable(self) -> bool:
        """Whether the project can be changed."""
        ...

    def start_thread(
        self, group: str, work: Callable[[IsCancelled], object], *, exclusive: bool = False
    ) -> None:
        """Run something in a thread.

        Args:
            group: Its group of workers.
            work: Called in the thread.
            exclusive: Whether it cancels the others of its group.
        """
        ...

    def cancel_threads(self, group: str) -> None:
        """Cancel all workers of a group."""
        ...

    def post_message(self, message: Message) -> bool:
        """Send a message to the screen; safe to call from threads."""
        ...

    def show_reply(self, feedback: Feedback) -> None:
        """Show the result of a key, or clear the last one."""
        ...

    def show_notice(self, feedback: Feedback, *, passing: bool = False) -> None:
        """Show news of a worker next to the result of the last key; not kept if only passing."""
        ...

    def open_dialog(self, request: str) -> None:
        """Open the dialog that the presenter requests."""
        ...

    def draw(self, rows: bool = True) -> None:
        """Draw all panels; the list only if its rows may have changed."""
        ...

    def draw_header(self) -> None:
        """Draw progress and model."""
        ...

    def poll_changes(self) -> None:
        """Show what other connections have written."""
        ...
