"""How imports and predictions ended, in one line each."""

from __future__ import annotations

from sciextract.errors import SciextractError
from sciextract.workflows.crash import write_report
from sciextract_app.messages import ImportEnded, PredictionEnded
from sciextract_app.presenter.shown import Feedback


def of_import(ended: ImportEnded) -> Feedback:
    """What came of an import."""
    if ended.error is not None or ended.report is None:
        return Feedback(f"nothing imported: {sentence(ended.error)}", problem=True)
    counts = ended.report.counts
    parts = [f"{counts.documents:,} new {_abstracts(counts.documents)}"]
    if counts.known:
        parts.append(f"{counts.known:,} known already")
    if counts.flagged:
        parts.append(f"{counts.flagged:,} flagged: labels against the schema")
    if ended.report.bad:
        parts.append(f"{ended.report.bad:,} left out")
    parts += ended.report.notes
    return Feedback("; ".join(parts))


def of_prediction(ended: PredictionEnded) -> Feedback:
    """What came of a prediction; nothing to say when nothing needed it."""
    if ended.error is not None:
        return Feedback(f"no predictions: {sentence(ended.error)}", problem=True)
    if ended.report is None or not ended.report.documents or ended.stopped:
        return Feedback()
    count = ended.report.documents
    return Feedback(f"{count:,} {_abstracts(count)} predicted")


def of_crash(what: str, error: BaseException) -> Feedback:
    """A worker failed in a way that nobody foresaw; a report is written, the desk goes on."""
    words = f"{what} failed unexpectedly ({type(error).__name__})"
    try:
        return Feedback(f"{words}; please report it with {write_report(error)}", problem=True)
    except OSError:
        return Feedback(words, problem=True)


def sentence(error: SciextractError | None) -> str:
    """An error and its hint in one line."""
    if error is None:
        return "stopped"
    return f"{error.message}; {error.hint}" if error.hint else error.message


def _abstracts(count: int) -> str:
    return "abstract" if count == 1 else "abstracts"
