"""The invented abstracts of the presenter's tests, corrected in a real terminal by the same keys, at 80x24."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.store import open_project
from sciextract.store.finished import finished_abstracts
from sciextract_app.review.keys.desk import Desk
from tests.app.review.abstracts import project_with, truth_of
from tests.app.review.annotator import Annotator
from tests.app.review.test_net_keys import ABSTRACTS
from tests.e2e.desks import starting

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("terminal")]


@pytest.mark.parametrize("name", ABSTRACTS)
def test_keys_of_a_correction_in_a_real_terminal(tmp_path: Path, name: str) -> None:
    abstract = ABSTRACTS[name]
    for folder in ("planned", "typed"):
        (tmp_path / folder).mkdir()
    with project_with(tmp_path / "planned", abstract.predicted(), (abstract.text,)) as planned:
        annotator = Annotator(Desk(planned), abstract.right())
        annotator.work()
    project_with(tmp_path / "typed", abstract.predicted(), (abstract.text,)).close()
    path = tmp_path / "typed" / "p.sciextract"
    with starting(path.parent) as start:
        terminal = start("p.sciextract", "--no-predict")
        terminal.wait_for("Enter accept")
        terminal.press(*annotator.keys)
        terminal.wait_for(", 1 done")
        terminal.press("ctrl+q")
        assert terminal.wait_for_end() == 0
    with open_project(path, read=True) as typed:
        assert truth_of(typed.document(1).annotations) == truth_of(abstract.right().annotations)
        (pressed,) = finished_abstracts(typed)
    assert pressed.keys + (pressed.travel or 0) == len(annotator.keys)
