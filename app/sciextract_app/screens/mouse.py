"""The desk under the pointer: the same actions, clicked and dragged."""

from __future__ import annotations

from textual import on

from sciextract.store.actions.api import EntityRef, LinkRef, RelationRef
from sciextract_app.dialogs.base import MenuDialog
from sciextract_app.presenters.actions import ACTIONS
from sciextract_app.presenters.view_models import Mode
from sciextract_app.screens.desk import DeskScreen
from sciextract_app.widgets.panes import ClustersPane, RelationsPane
from sciextract_app.widgets.passage_view import PassageView

_POINTING = (Mode.RELATE, Mode.RELATE_TYPE, Mode.FRAGMENT)


class MouseDesk(DeskScreen):
    """A desk that answers what panes tell of clicks."""

    @on(PassageView.ItemClicked)
    def _item_clicked(self, event: PassageView.ItemClicked) -> None:
        pointing = self.desk.mouse
        if self.desk.mode in _POINTING:
            self.after(pointing.click(event.char))
        else:
            self.after(pointing.focus(EntityRef(event.item_id)))

    @on(PassageView.TokenClicked)
    def _token_clicked(self, event: PassageView.TokenClicked) -> None:
        self.after(self.desk.mouse.click(event.char))

    @on(PassageView.SpanDragged)
    def _span_dragged(self, event: PassageView.SpanDragged) -> None:
        self.after(self.desk.mouse.drag(event.char_start, event.char_end))

    @on(RelationsPane.RowClicked)
    def _relation_clicked(self, event: RelationsPane.RowClicked) -> None:
        self.after(self.desk.mouse.focus(RelationRef(event.item_id)))

    @on(ClustersPane.LinkClicked)
    def _link_clicked(self, event: ClustersPane.LinkClicked) -> None:
        scene = self.desk.state.view
        links = scene.members.get(event.cluster_id, []) if scene else []
        if event.index < len(links):
            link = LinkRef(event.cluster_id, links[event.index].entity_id)
            self.after(self.desk.mouse.focus(link))

    @on(PassageView.MenuWanted)
    def _menu_wanted(self, event: PassageView.MenuWanted) -> None:
        if event.item_id:
            self.after(self.desk.mouse.focus(EntityRef(event.item_id)))
        self.app.push_screen(MenuDialog(self._choices()), self._chosen)

    def _choices(self) -> list[tuple[str, str, str]]:
        """Id, key and words of what can be done now: the live keys of the footer, and the types."""
        ids = {each.key: each.id for each in reversed(ACTIONS)}
        live = [hint for hint in self.desk.footer() if hint.live and hint.key in ids]
        found = [(ids[hint.key], hint.key, hint.words) for hint in live]
        if isinstance(self.desk.focus, EntityRef):
            labels = self.project.schema.entity_labels[:9]
            found += [(f"type-{n}", str(n), label) for n, label in enumerate(labels, start=1)]
        return found

    def _chosen(self, action: str | None) -> None:
        if action is not None:
            self.do(action)
