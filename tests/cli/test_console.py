from __future__ import annotations

import pytest

from sciextract.cli.console import ProgressLine, progress_text


def test_progress_text() -> None:
    assert progress_text(5, None, 2.5) == "5 abstracts, 2.5 a second"
    assert progress_text(5, 10, 0.0) == "5 of 10 abstracts, 0.0 a second"
    assert progress_text(1200, 10000, 40).endswith("3 min 40 s left")
    assert progress_text(12, 10, 1.0) == "12 abstracts, 1.0 a second"


def test_progress_is_one_line_and_goes_away(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, hidden = ProgressLine(True), ProgressLine(False)
    for progress in (shown, hidden):
        progress.update(1, 4)
        progress.update(2, 4)
        progress.clear()
    drawn = capsys.readouterr()
    assert drawn.out == ""
    assert drawn.err.startswith("\r\x1b[2K1 of 4 abstracts") and drawn.err.endswith("\r\x1b[2K")
    assert "\n" not in drawn.err and "2 of 4" not in drawn.err
