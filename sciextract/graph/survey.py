"""A survey of a node as a page, in Markdown and HTML, with a BibTeX file: each statement with a sentence and its paper.

Names, titles and sentences come from elsewhere: in both pages all signs of markup in them are escaped.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from sciextract.documents.bibliography import Bibliography
from sciextract.errors import UsageError
from sciextract.graph.answers import Citation, bibtex, citation_keys, link_of
from sciextract.graph.normalisation import normal_form
from sciextract.graph.queries.combinations import Together, TogetherQuestion, gaps, together
from sciextract.graph.queries.edges import EdgeRequest, neighbours
from sciextract.graph.queries.nodes import Node, entity_labels, relation_types
from sciextract.graph.queries.papers import NamingSentence, Paper, Quoter, paper_numbered
from sciextract.graph.queries.results import results
from sciextract.graph.queries.trends import Period, periods_of
from sciextract.text.characters import visible
from sciextract.text.english import counted
from sciextract.workflows.output import check_target, reported_as, whole_output

HYPONYM = "HYPONYM-OF"
_MOST = 12
_MOST_DEFINITIONS = 5
_MOST_BOARDS = 5
_MOST_PAPERS = 20
# What a label is called as a heading; labels of other schemas are headings themselves.
_HEADINGS = {
    "Method": "Methods", "Material": "Data sets and materials", "Dataset": "Data sets", "Metric": "Metrics",
    "Task": "Tasks", "OtherScientificTerm": "Other terms",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    """A line of a section.

    Attributes:
        text: What is said.
        paper: Whose sentence shows it; the paper itself is meant where it has no sentence.
    """

    text: str
    paper: Paper | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a survey.

    Attributes:
        title: Its heading.
        words: How its statements were found.
        statements: The first is the most important.
    """

    title: str
    words: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Survey:
    """What a graph tells about a node.

    Attributes:
        title: The name of the node.
        words: Its counts.
        periods: Its share of the abstracts by year.
        sections: All sections that have statements.
    """

    title: str
    words: str
    periods: tuple[Period, ...]
    sections: tuple[Section, ...]

    @property
    def papers(self) -> list[Paper]:
        """The papers that statements name, each once, in their order."""
        cited = [each.paper for part in self.sections for each in part.statements if each.paper]
        return list({each.document: each for each in cited}.values())


def write_survey(
    connection: sqlite3.Connection, graph: Path, node: Node, output: Path, *, force: bool = False
) -> Survey:
    """Write ``survey.md``, ``survey.html``, ``survey.bib`` and ``trend.svg`` to a folder, whole or not at all.

    Args:
        connection: The graph.
        graph: Its file, which is never replaced.
        node: The node.
        output: The folder.
        force: Whether to replace what is there.

    Raises:
        OutputError: Something is there, or it cannot be written.
    """
    check_target(output, force=force, kept=[graph])
    found = survey(connection, node)
    cited = found.papers
    names = citation_keys(each.doc_key for each in cited)
    keys = {each.document: name for each, name in zip(cited, names, strict=True)}
    citations = [Citation(each.doc_key, each.published) for each in cited]
    plot = trend_picture(found.periods)
    pages = {
        "survey.md": markdown_lines(found, keys),
        "survey.html": html_lines(found, keys, plot),
        "survey.bib": bibtex(citations),
        "trend.svg": [plot],
    }
    with reported_as(str(output)), whole_output(output) as partial:
        partial.mkdir(parents=True)
        for name, lines in pages.items():
            (partial / name).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return found


def survey(connection: sqlite3.Connection, node: Node) -> Survey:
    """What a graph tells about a node."""
    sections = [
        Section(
            "What it is",
            "Sentences that say it, and what abstracts call it a kind of.",
            _definitions(connection, node),
        )
    ]
    # With what is in most abstracts everything is named as often as by chance.
    (total,) = connection.execute("SELECT count(*) FROM document").fetchone()
    surely = 2 * node.documents <= total
    often = " more often than by chance" if surely else ""
    company: list[int] = []
    for label in sorted(entity_labels(connection), key=lambda each: (each not in _HEADINGS, each)):
        found = together(connection, [node], TogetherQuestion(label, limit=_MOST, surely=surely))
        company += [each.node.id for each in found]
        words = f"Named in the same abstracts{often}; a lift of 1 is chance."
        sections.append(Section(_HEADINGS.get(label, label), words, _statements(found)))
    for label in relation_types(connection):
        if "compare" in label.casefold():
            question = TogetherQuestion(relation=label, limit=_MOST, surely=surely)
            found = together(connection, [node], question)
            words = f"In a relation {label} in abstracts that name it."
            sections.append(Section("What is compared", words, _statements(found)))
    sections += [
        Section(
            "Leaderboards",
            "Values that abstracts report; read the sentences, because test sets and splits differ.",
            _boards(connection, node),
        ),
        Section(
            "Open gaps",
            "Named together less than a fifth as often as chance would have it.",
            _gaps(connection, node),
        ),
        Section(
            "Papers to read first",
            "Those with the name in the title, then those that name most of the above.",
            _first_papers(connection, node, company),
        ),
    ]
    years = f"{node.first_year or '?'} to {node.last_year or '?'}"
    return Survey(
        node.name,
        f"{node.label}; {counted(node.documents, 'abstract')}, {years}",
        periods_of(connection, node.id),
        tuple([each for each in sections if each.statements]),
    )


def _statements(found: Iterable[Together]) -> tuple[Statement, ...]:
    statements = []
    for each in found:
        years = f"{each.first_year or '?'} to {each.last_year or '?'}"
        lift = f"lift {each.lift:.1f} ({each.low:.1f} to {each.high:.1f})"
        text = f"{each.node.name}: {counted(each.documents, 'abstract')}, {years}, {lift}"
        statements.append(Statement(text, each.quote))
    return tuple(statements)


def _definitions(connection: sqlite3.Connection, node: Node) -> tuple[Statement, ...]:
    """Sentences that say what it is, and wider things that abstracts say it is a kind of."""
    quoter = Quoter(connection, [node.id])
    found = [Statement("As defined", each) for each in quoter.defining(_MOST_DEFINITIONS)]
    if HYPONYM in relation_types(connection):
        wider = EdgeRequest(HYPONYM, "out", _MOST_DEFINITIONS, 1, generic=False)
        for edge in neighbours(connection, node, wider):
            (said,) = edge.sentences
            stated = NamingSentence(said.char_start, said.char_end, said.text, ())
            (document,) = connection.execute(_STATED, (edge.id, said.doc_key)).fetchone()
            paper = replace(paper_numbered(connection, document), sentences=(stated,))
            found.append(Statement(f"A kind of {edge.tail.name}", paper))
    return tuple(found)


_STATED = """SELECT s.document FROM support s JOIN document d ON d.id = s.document
WHERE s.edge = ? AND d.doc_key = ? ORDER BY s.document"""


def _boards(connection: sqlite3.Connection, node: Node) -> tuple[Statement, ...]:
    """Values that abstracts with the node report, board by board; a single value is no board."""
    boards: dict[tuple[str, str], list[Statement]] = {}
    try:
        reported = results(connection, named=node)
    except UsageError:  # a model without metrics
        return ()
    for each in reported:
        if each.material is None:
            continue
        system = f" by {each.system.name}" if each.system else ""
        board = each.material.name, each.metric.name
        text = f"{' | '.join(board)}: {each.value:g}{each.unit}{system}"
        boards.setdefault(board, []).append(
            Statement(text, replace(each.paper, sentences=(each.sentence,)))
        )
    several = sorted(boards.values(), key=len, reverse=True)[:_MOST_BOARDS]
    return tuple([each for board in several if len(board) > 1 for each in board[:_MOST]])


def _gaps(connection: sqlite3.Connection, node: Node) -> tuple[Statement, ...]:
    try:
        found = gaps(connection, node, limit=_MOST).found
    except UsageError:  # too few abstracts to tell
        return ()
    statements = []
    for each in found:
        near = ", ".join([f"{other.name} ({documents:,})" for other, documents in each.nearest])
        text = (
            f"{each.node.name}: {counted(each.documents, 'abstract')}, {each.expected:.1f} expected"
        )
        statements.append(Statement(f"{text}; nearest: {near}" if near else text))
    return tuple(statements)


def _first_papers(
    connection: sqlite3.Connection, node: Node, company: Sequence[int]
) -> tuple[Statement, ...]:
    names = normal_form(node.name).spaced
    found = []
    rows = connection.execute(
        """SELECT n.document, coalesce(p.title, ''), count(o.node), n.mentions + n.matched FROM node_document n
        JOIN paper p ON p.document = n.document
        LEFT JOIN node_document o ON o.document = n.document AND o.node IN (SELECT value FROM json_each(?))
        WHERE n.node = ? GROUP BY n.document""",
        (json.dumps(company), node.id),
    )
    for document, title, shared, mentions in rows:
        found.append((names in normal_form(title).spaced, shared, mentions, -document))
    quoter = Quoter(connection, [node.id])
    papers = [quoter.named_in(-one[-1]) for one in sorted(found, reverse=True)[:_MOST_PAPERS]]
    return tuple([Statement(_cited(each.published, each.doc_key), each) for each in papers])


def _cited(known: Bibliography, key: str) -> str:
    authors = ", ".join(known.authors[:3]) + (" et al." if len(known.authors) > 3 else "")
    parts = (authors, str(known.year or ""), known.title or key, known.venue or "")
    return ". ".join([each for each in parts if each])


def markdown_lines(survey: Survey, keys: Mapping[int, str]) -> Iterator[str]:
    """The page in Markdown; ``[@key]`` cites in the form of Pandoc."""
    yield f"# {_plain(survey.title)}"
    yield f"\n{_plain(survey.words)}."
    if survey.periods:
        yield "\n## Trend\n\n![Share of the abstracts by year](trend.svg)\n"
        yield "| years | abstracts | of all | share | 95 % interval |\n|---|---:|---:|---:|---|"
        for period in survey.periods:
            span = " to ".join([f"{end:.1%}" for end in period.interval])
            counts = f"{period.documents:,} | {period.total:,} | {period.share:.1%}"
            yield f"| {period.years} | {counts} | {span} |"
    for part in survey.sections:
        yield f"\n## {_plain(part.title)}\n\n{_plain(part.words)}\n"
        for each in part.statements:
            quoted = "".join([f" “{_plain(one)}”" for one in _quoted(each)])
            cited = f" [@{keys[each.paper.document]}]" if each.paper else ""
            yield f"- {_plain(each.text)}.{quoted}{cited}"


def html_lines(survey: Survey, keys: Mapping[int, str], plot: str) -> Iterator[str]:
    """The page in HTML, with the plot inside; it loads nothing, and no script may run in it."""
    yield f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width"><title>{_escaped(survey.title)}</title>
<style>body {{ max-width: 50em; margin: 2em auto; padding: 0 1em; font: 16px/1.5 sans-serif }} q {{ color: #444 }} li {{ margin: .4em 0 }}</style>
</head><body><h1>{_escaped(survey.title)}</h1><p>{_escaped(survey.words)}.</p>"""
    if survey.periods:
        yield f"<h2>Trend</h2>{plot}"
    for part in survey.sections:
        yield f"<h2>{_escaped(part.title)}</h2><p>{_escaped(part.words)}</p><ul>"
        for each in part.statements:
            quoted = "".join([f" <q>{_escaped(one)}</q>" for one in _quoted(each)])
            key = _escaped(keys[each.paper.document]) if each.paper else ""
            cited = f' <cite>[<a href="#{key}">{key}</a>]</cite>' if key else ""
            yield f"<li>{_escaped(each.text)}.{quoted}{cited}</li>"
        yield "</ul>"
    yield "<h2>References</h2><ul>"
    for paper in survey.papers:
        key = _escaped(keys[paper.document])
        link = link_of(paper.doc_key, paper.published)
        name = _escaped(_cited(paper.published, paper.doc_key))
        words = f'<a href="{_escaped(link)}" rel="noreferrer">{name}</a>' if link else name
        yield f'<li id="{key}">[{key}] {words}</li>'
    yield "</ul></body></html>"


def _quoted(statement: Statement) -> list[str]:
    return [each.text for each in statement.paper.sentences] if statement.paper else []


# What Markdown, or Pandoc's, gives a meaning anywhere in a line, and at its beginning; behind a backslash it has none.
_MARKS = re.compile(r"[\\`*_{}\[\]<>|~$^@&]|:(?=//)|^[-+=#]")
_NUMBERED = re.compile(r"^([0-9]+)(?=[.)])")


def _plain(text: str) -> str:
    """Text as it is, in Markdown on one line."""
    line = _MARKS.sub(lambda found: f"\\{found[0]}", visible(" ".join(text.split())))
    return _NUMBERED.sub(r"\1\\", line)


def _escaped(text: str) -> str:
    return escape(visible(" ".join(text.split())))


_WIDE, _HIGH, _EDGE = 640, 220, 30


def trend_picture(periods: Sequence[Period]) -> str:
    """The share by period as SVG: a bar each, and a line for its 95 % interval."""
    most = max([each.interval[1] for each in periods], default=1.0)
    step, unit = (_WIDE - 2 * _EDGE) / max(len(periods), 1), (_HIGH - 2 * _EDGE) / most
    marks = []
    for place, each in enumerate(periods):
        x, (low, high) = _EDGE + (place + 0.5) * step, each.interval
        bar = f'x="{x - 0.35 * step:.1f}" y="{_HIGH - _EDGE - unit * each.share:.1f}" width="{0.7 * step:.1f}"'
        marks.append(
            f'<rect {bar} height="{unit * each.share:.1f}" fill="#7fa8d8"><title>{each.years}: {each.share:.1%}</title></rect>'
            f'<path d="M{x:.1f} {_HIGH - _EDGE - unit * low:.1f}V{_HIGH - _EDGE - unit * high:.1f}" stroke="#345"/>'
        )
    if periods:
        below, above = f'y="{_HIGH - 10}"', f'x="{_EDGE}" y="18"'
        marks.append(
            f'<text x="{_EDGE}" {below}>{periods[0].years}</text><text {above}>{most:.1%}</text>'
        )
        marks.append(
            f'<text x="{_WIDE - _EDGE}" {below} text-anchor="end">{periods[-1].years}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {_HIGH}" width="{_WIDE}" font-family="sans-serif" '
        f'font-size="12" role="img" aria-label="Share of the abstracts by year">{"".join(marks)}</svg>'
    )
