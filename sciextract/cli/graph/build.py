"""``sciextract graph build``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from sciextract.cli.console import (
    JsonOption,
    ProgressLine,
    QuietOption,
    argument,
    command_with,
    flag,
    is_terminal,
    option,
    report,
    say,
)
from sciextract.cli.graph.group import GraphOption
from sciextract.errors import ExitCode, FormatError
from sciextract.text.english import counted

if TYPE_CHECKING:
    from sciextract.graph.building import BuildReport


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """One field for each word of the command line; its help text says what it means."""

    inputs: list[str] = argument(
        "PREDICTIONS...",
        "JSONL from annotate (.gz too), folders of it, project files, or -.",
        show_default=False,
    )
    graph: GraphOption
    generic: list[str] | None = option(
        "LABEL", "Entity type of generic mentions (default: Generic); repeatable.", "--generic"
    )
    symmetric: list[str] | None = option(
        "LABEL",
        "A relation type without direction (default: those of the bundled schemas; '' for none); repeatable.",
        "--symmetric",
    )
    least_score: float | None = option(
        "P", "Leave out relations below this score (default: of bio, those right less than 7 times in 10).",
        min=0, max=1
    )  # fmt: skip
    measurement: list[str] | None = option(
        "LABEL",
        "Entity type of metrics, for results (default: Metric); repeatable.",
        "--measurement",
    )
    no_synonyms: bool = flag(
        "Do not merge the bundled synonyms, such as glyburide and glibenclamide.", "--no-synonyms"
    )
    only_decided: bool = flag(
        "From projects, only items that a person has decided.", "--only-decided"
    )
    keep_duplicates: bool = flag(
        "Count every text, also several of one paper.", "--keep-duplicates"
    )
    workers: int | None = option(
        "N", "Number of processes that read large files (default: one per core).", min=0, max=1024
    )
    as_json: JsonOption = False
    quiet: QuietOption = False


@command_with(BuildOptions)
def build(options: BuildOptions) -> None:
    """Add predictions to a graph; a missing graph file is created.

    No abstract is counted twice; a changed one replaces its earlier version. Repeat the command to resume an
    interrupted build.

    Example:

        sciextract graph build parts/ newest.jsonl.gz --graph field.graph
    """
    from sciextract.graph.building import BuildListener, build_graph
    from sciextract.graph.database import open_graph
    from sciextract.graph.derive import DeriveSettings
    from sciextract.graph.extraction import GENERIC, CountSettings
    from sciextract.graph.queries.nodes import types_of
    from sciextract.graph.reading import Reading
    from sciextract.graph.relation_types import known_symmetric
    from sciextract.graph.values import METRIC
    from sciextract.inference.batching import usable_cores

    counting = CountSettings(
        GENERIC if options.generic is None else frozenset(options.generic),
        options.least_score,
        frozenset(options.measurement or (METRIC,)),
    )
    processes = usable_cores() if options.workers is None else options.workers
    reading = Reading(options.inputs, counting, not options.only_decided, processes)
    directions = known_symmetric() if options.symmetric is None else frozenset(options.symmetric)
    settings = DeriveSettings(directions, not options.no_synonyms)
    screen = BuildScreen(not options.quiet and is_terminal(sys.stderr))
    try:
        listener = BuildListener(
            screen.bad_record, screen.progress, screen.keep, screen.begin_to_derive
        )
        found = build_graph(options.graph, reading, settings, listener, options.keep_duplicates)
    except KeyboardInterrupt:
        screen.end()
        say(
            "",
            f"interrupted; {screen.on_disk:,} abstracts are kept",
            "repeat the command to resume",
        )
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    finally:
        screen.end()
    if former := found.former:
        say(
            "Warning" if found.lacks_abstracts else "Note",
            f"the graph had version {former.version} and was begun anew: it had {counted(former.documents, 'abstract')} and has "
            f"{found.totals.documents:,}; {counted(former.repairs, 'repair')} taken over; the former one is {former.kept}",
            "build the other inputs into it, too" if found.lacks_abstracts else "",
        )
    if found.totals.documents and not found.totals.nodes:
        say(
            "Warning", "no entity was found in any of the abstracts",
            "a graph is built from entities with labels: sciextract annotate predicts them, sciextract tui PROJECT decides",
        )  # fmt: skip
    elif found.totals.nodes and not found.totals.edges:
        say(
            "Warning", "the graph has nodes but no edges: no relation joins two of them",
            "graph top, papers and view show the nodes and which abstracts name them; edges need relations with labels",
        )  # fmt: skip
    # Types that the graph does not have: of typing errors, most often.
    with open_graph(options.graph) as connection:
        relations, entities = types_of(connection, "relation"), types_of(connection, "entity")
    asked = (
        ("symmetric", "relation", options.symmetric, relations),
        ("measurement", "entity", options.measurement, entities),
    )
    for name, kind, labels, types in asked:
        for label in sorted(set(filter(None, labels or ())) - types.keys()):
            problem = f"--{name} {label}: the graph has no {kind} of this type"
            say("Warning", problem, f"it has {', '.join(types) or 'none'}")
    report(
        found.to_json(), _in_words(found, options.least_score), options.as_json, quiet=options.quiet
    )
    raise typer.Exit(found.exit_code)


def _in_words(found: BuildReport, least_score: float | None) -> str:
    from sciextract.graph.relation_types import never_drawn

    changes, totals = found.changes, found.totals
    words = [
        f"{counted(changes.added, 'abstract')} added, {changes.replaced:,} replaced, {changes.known:,} known"
        + (f", {changes.again:,} of papers that were there already" if changes.again else "")
        + (f", {counted(changes.bad, 'bad record')} left out" if changes.bad else ""),
        f"the graph: {counted(totals.documents, 'abstract')}",
        f"{counted(totals.nodes, 'node')}, {counted(totals.edges, 'edge')}",
    ]
    if totals.unnamed:
        words.append(
            f"left out: {counted(totals.unnamed, 'mention')} that name nothing, such as it or two"
        )
    if totals.nameless or totals.loops:
        words.append(
            f"left out: {counted(totals.nameless, 'relation')} with an argument that has no name, "
            f"{totals.loops:,} within one thing"
        )
    if totals.unlikely:
        why, never = "below --least-score", " and ".join(never_drawn())
        if least_score is None:
            why = f"right less often than 7 times in 10, all {never} among them (--least-score 0 draws them)"
        words.append(f"{counted(totals.unlikely, 'relation')} {why}")
    if totals.without_year:
        words.append(f"{counted(totals.without_year, 'abstract')} without a year")
    if totals.ambiguous:
        words.append(f"{counted(totals.ambiguous, 'acronym')} with several expansions")
    return "; ".join(words)


class BuildScreen:
    """Progress on a terminal, and bad records.

    Args:
        shown: Whether to show progress.

    Attributes:
        on_disk: Abstracts that a killed build keeps.
    """

    def __init__(self, shown: bool) -> None:
        self.on_disk = self._done = 0
        self._shown = shown
        self._line = ProgressLine(shown)

    def end(self) -> None:
        self._line.clear()

    def bad_record(self, error: FormatError) -> None:
        self._line.clear()
        say("Warning", f"left out: {error.message}", error.hint)

    def progress(self, done: int) -> None:
        self._done = done
        self._line.update(done)

    def keep(self, done: int) -> None:
        """Note how many abstracts are on disk."""
        self.on_disk = done

    def begin_to_derive(self) -> None:
        """Deriving shows no progress, only its start."""
        self._line.clear()
        if self._shown:
            say("", f"{self._done:,} abstracts read; making nodes and edges")
