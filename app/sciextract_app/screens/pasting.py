"""The desk into which abstracts can be pasted."""

from __future__ import annotations

from pathlib import Path

from textual import events, work
from textual.worker import get_current_worker

from sciextract.store import Project
from sciextract_app.presenters.view_models import Feedback
from sciextract_app.screens.working import Beside, WorkingDesk


class PastingDesk(WorkingDesk):
    """A desk that asks what to do with a pasted text, and never takes it for keys.

    Args:
        project: The open project.
        keys: Keys of the person's own choice, by action.
        beside: What runs beside the desk.
        pasted: Abstracts to bring in at once, empty for none.
    """

    def __init__(
        self, project: Project, keys: dict[str, str], beside: Beside, pasted: str = ""
    ) -> None:
        super().__init__(project, keys, beside)
        self._pasted = pasted

    def on_mount(self) -> None:
        """Bring in what was pasted at the start screen, once the desk is on the screen."""
        if self._pasted:
            self.call_after_refresh(self.bring_in_pasted, self._pasted)

    def on_paste(self, event: events.Paste) -> None:
        """A text was pasted anywhere on the desk."""
        event.stop()
        self.ask_paste(event.text)

    def action_paste(self) -> None:
        """Ask for a text to import."""
        self.ask_paste("")

    def ask_paste(self, text: str) -> None:
        """Show a text, what it is recognised as, and ask whether to import it."""
        from sciextract_app.dialogs.paste import PasteDialog

        if not self.writable:
            self.tell(Feedback("nothing imported: the project can only be read here", problem=True))
        else:
            self.app.push_screen(PasteDialog(text, self.project.path.name), self.bring_in_pasted)

    def bring_in_pasted(self, text: str | None) -> None:
        """Import a pasted text in the background; what can be predicted is predicted after that."""
        if text is not None:
            self.inform(Feedback("importing what was pasted"))
            self._import_pasted(self.project.path, text)

    @work(thread=True, group="import", exit_on_error=False)
    def _import_pasted(self, path: Path, text: str) -> None:
        from sciextract_app.workers.importing import PasteJob

        worker = get_current_worker()
        PasteJob(
            *(path, self._beside.author, ()),
            stopped=lambda: worker.is_cancelled,
            post=self.post_message,
            text=text,
        ).run()
