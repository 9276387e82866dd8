from __future__ import annotations

import re

import pytest

from sciextract.store import EntityRef, ItemRef, RelationRef
from sciextract_app.review.keys.desk import Desk
from sciextract_app.review.keys.key_dispatch import HANDLERS
from sciextract_app.settings import SHELL_IDS
from sciextract_app.shared.actions import ACTIONS, key_of, use_keys
from sciextract_app.shared.view_models import Mode
from sciextract_app.widgets.help import help_rows


def test_every_action_is_handled() -> None:
    handled = {*HANDLERS}
    assert {action.id for action in ACTIONS if not action.request} == handled


@pytest.mark.parametrize(
    "item", [EntityRef("tagger1"), RelationRef("encoder tagger2"), EntityRef("clauses")]
)
def test_every_key_in_a_text_is_the_persons(desk: Desk, item: ItemRef) -> None:
    changed = {action.id: chr(0x4E00 + place) for place, action in enumerate(ACTIONS)}
    # Enter is a fixed key of questions, c that of the cluster that was used last; others are words.
    default = {key_of(action.id) for action in ACTIONS} - {"Enter", *"acI123456789:;"}
    default |= {key_of(id_) for id_ in SHELL_IDS}
    use_keys(changed | {id_: f"f1{place}" for place, id_ in enumerate(SHELL_IDS)})
    for action in ACTIONS:
        desk.state.leave_mode()
        desk.focus_item(item)
        said = [desk.press(changed[action.id]).message, *(hint.key for hint in desk.footer())]
        said += [hint.key for hint in desk.legend() if desk.mode is Mode.REVIEW]
        said += [desk.press("あ").message, desk.press("escape").message]
        words = re.sub("‹.*?›|letter .*", "", " ".join(said))
        assert not set(re.findall(r"[^\s,:;]+", words)) & default, (action.id, said)
    assert not {key for keys, _, _ in help_rows() for key in keys.split()} & default
