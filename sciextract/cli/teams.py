"""``sciextract merge``, ``agree`` and ``adjudicate``: annotators without a server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sciextract.cli.console import AuthorOption, JsonOption, ProjectOption, counted, report

if TYPE_CHECKING:
    from sciextract.workflows.adjudicate import Dispute
    from sciextract.workflows.agreement import Agreed


def merge(
    other: Annotated[str, typer.Argument(metavar="OTHER.db", help="The project to bring in.")],
    project: ProjectOption = None,
    add_labels: Annotated[
        bool, typer.Option("--add-labels", help="Add labels that this project's schema lacks.")
    ] = False,
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring another annotator's project into this one, text by text.

    What was decided here stays. Where both sides worked on a text, the differences wait for adjudicate.
    Saved queues come along, and the choice of a model where this project has none.
    Merging the same file again changes nothing.

    Examples:

        sciextract merge maria.sciextract --project parsing.sciextract

        sciextract adjudicate --project parsing.sciextract
    """
    from pathlib import Path

    from sciextract.store import open_project
    from sciextract.workflows.agreement import merge_projects
    from sciextract.workflows.project_choice import find_project

    with open_project(find_project(project), author) as opened:
        done = merge_projects(opened, Path(other), add_labels=add_labels)
    counts = done.counts
    words = (
        f"{counted(counts.documents, 'new abstract')}; {counts.taken:,} taken over; "
        f"{counts.compared:,} worked on by both, {counted(done.disagreements, 'difference')} to decide"
    )
    if done.queues:
        words += f"; queues: {', '.join(done.queues)}"
    words += f"; {done.model}" if done.model else ""
    report(done.to_json(), words, as_json=as_json, aside=False, quiet=False)


def agree(
    first: Annotated[str, typer.Argument(metavar="A.db", help="One annotator's project.")],
    second: Annotated[str, typer.Argument(metavar="B.db", help="The other one's project.")],
    done: Annotated[
        bool, typer.Option("--done", help="Only abstracts whose entities both marked as done.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure how far two annotators agree on the abstracts that both worked on.

    Span F1 (exact and overlap), Cohen's kappa on tokens, relation F1 on own and on shared spans, and the
    coreference measures, with 95 % intervals over abstracts.

    Examples:

        sciextract agree anna.sciextract ben.sciextract

        sciextract agree anna.sciextract ben.sciextract --done --json
    """
    from sciextract.store import open_project
    from sciextract.workflows.agreement import agree as compare

    with open_project(first, read=True) as one, open_project(second, read=True) as two:
        found = compare(one, two, done_only=done)
    if as_json:
        typer.echo(json.dumps(found.to_json()))
        return
    from sciextract.text.characters import visible

    for line in table(found):
        typer.echo(visible(line))


def adjudicate(
    project: ProjectOption = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="S", help="Hold the project against this source (default: all merged projects)."
        ),
    ] = None,
    take: Annotated[
        Literal["mine", "theirs"] | None,
        typer.Option(help="Decide the difference of --key, or all that are listed."),
    ] = None,
    key: Annotated[
        list[str] | None, typer.Option(metavar="K", help="Only this difference; may be repeated.")
    ] = None,
    author: AuthorOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List where sources differ, and decide it.

    Examples:

        sciextract adjudicate --project parsing.sciextract

        sciextract adjudicate --key 1f0c2a9b77d4 --take theirs
    """
    from sciextract.errors import ExitCode
    from sciextract.store import open_project
    from sciextract.workflows.adjudicate import Verdicts, decide_all, disputes
    from sciextract.workflows.project_choice import find_project

    with open_project(find_project(project), author, read=take is None) as opened:
        found = [each for each in disputes(opened, source) if not key or each.key in key]
        _check_keys(key or [], found)
        done = Verdicts()
        if take is not None:
            done = decide_all(opened, found, take, only_these=bool(key))
        else:
            for each in found:
                _show(each, opened.document_state(each.number).text, as_json)
    words = f"{counted(len(found), 'difference')} to decide"
    if take is not None:
        words = f"{counted(done.decided, 'difference')} decided: {take}"
        words += "".join(f"; {key} is not decided: {why}" for key, why in done.refused.items())
    summary = {"differences": len(found), "decided": done.decided, "refused": done.refused}
    report(summary, words, as_json=as_json, aside=take is None, quiet=False)
    if done.refused:
        raise typer.Exit(ExitCode.PARTIAL if done.decided else ExitCode.FAILED)


def _check_keys(wanted: list[str], found: list[Dispute]) -> None:
    from sciextract.errors import UsageError

    unknown = sorted(set(wanted) - {each.key for each in found})
    if unknown:
        raise UsageError(
            f"no difference waits under the key {', '.join(unknown)}",
            "sciextract adjudicate lists them",
        )


def _show(dispute: Dispute, text: str, as_json: bool) -> None:
    from sciextract.text.characters import visible

    if as_json:
        typer.echo(json.dumps(dispute.to_json()))
        return
    plain = dispute.to_json()
    sides = [f"{side}: {_side(plain[side], text)}" for side in ("mine", "theirs")]
    where = f"{plain['doc_key']}  {plain['layer']}"
    typer.echo(visible(f"{dispute.key}  {where}  {'  |  '.join(sides)}"))


def _side(side: dict[str, object] | None, text: str) -> str:
    if side is None:
        return "nothing"
    spans: list[list[list[int]]] = side["fragments"]  # type: ignore[assignment]
    names = [" ".join(text[start:end] for start, end in each) for each in spans]
    return (
        f" {side['label'] or 'same as'} ".join(names)
        if len(names) > 1
        else f"{names[0]} [{side['label']}]"
    )


_NAME_WIDTH = 52


def table(found: Agreed) -> Iterator[str]:
    """One line a figure: its name, its value, its 95 % interval."""
    plain = found.to_json()
    yield (
        f"{counted(plain['documents'], 'abstract')} compared; "
        f"{found.only_first} only in the first, {found.only_second} only in the second project"
    )
    for section in ("spans", "tokens", "relations", "coreference"):
        yield from _lines(section, plain[section])


def _lines(path: str, value: Any) -> Iterator[str]:
    if not isinstance(value, dict):
        return
    for figure in ("f1", "kappa"):
        if figure in value:
            digits = 1 if figure == "f1" else 2
            shown = _figure(value[figure], digits)
            line = f"{path + ' ' + figure:<{_NAME_WIDTH}} {shown}  {_interval(value, digits)}"
            yield line.rstrip()
    for name, inner in value.items():
        if isinstance(inner, dict) and name != "interval":
            yield from _lines(f"{path} {name}", inner)


def _figure(value: float | None, digits: int) -> str:
    return "   –" if value is None else f"{value:5.{digits}f}"


def _interval(value: dict[str, Any], digits: int) -> str:
    found = value.get("interval")
    if not found:
        return ""
    low, high = found.values() if isinstance(found, dict) else found
    return f"[{low:.{digits}f}, {high:.{digits}f}]"
