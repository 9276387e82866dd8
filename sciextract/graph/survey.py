"""A survey of a node as a page, in Markdown and HTML, with a BibTeX file: each statement with a sentence and its paper.

Names, titles and sentences come from elsewhere: in both pages all signs of markup in them are escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from html import escape
from itertools import islice
from pathlib import Path
from sqlite3 import Connection
from typing import NamedTuple

from sciextract.documents.bibliography import Bibliography
from sciextract.errors import UsageError, as_command
from sciextract.graph.answers import bibtex, checked_ending, citation_keys, link_of, write_files
from sciextract.graph.matching import is_proper
from sciextract.graph.normalisation import DATA_HEADS, METHOD_HEADS, TASK_HEADS, normal_form
from sciextract.graph.queries.combinations import Together, TogetherQuestion, gaps, named_with
from sciextract.graph.queries.edges import neighbours
from sciextract.graph.queries.nodes import Node, types_of
from sciextract.graph.queries.papers import Paper, Quoter
from sciextract.graph.queries.results import results
from sciextract.graph.queries.trends import Period, periods_of
from sciextract.text.characters import visible
from sciextract.text.english import counted

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


class Statement(NamedTuple):
    """A line of a section.

    Attributes:
        text: What is said.
        paper: Whose sentence shows it; the paper itself is meant where it has no sentence.
    """

    text: str
    paper: Paper | None = None

    @property
    def quoted(self) -> list[str]:
        """The sentences that show it."""
        return [sentence.text for sentence in self.paper.sentences] if self.paper else []


class Section(NamedTuple):
    """A part of a survey.

    Attributes:
        title: Its heading.
        words: How its statements were found.
        statements: The first is the most important.
    """

    title: str
    words: str
    statements: list[Statement]


class Survey(NamedTuple):
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
        cited = [statement.paper for part in self.sections for statement in part.statements]
        return list({paper.document: paper for paper in cited if paper}.values())


def write_survey(
    connection: Connection, graph: Path, node: Node, output: Path, *, force: bool = False
) -> Survey:
    """Write ``survey.md``, ``survey.html`` and ``survey.bib`` to a folder, or one of them to a file.

    Args:
        connection: The graph.
        graph: Its file, which is never replaced.
        node: The node.
        output: The folder; a name that ends in ``.md``, ``.html`` or ``.bib`` is a file.
        force: Whether to replace what is there.

    Raises:
        UsageError: The name ends in something else.
        OutputError: Something is there, or it cannot be written.
    """
    kind = checked_ending(output, ("", ".md", ".html", ".bib"))
    found = survey(connection, node)
    cited = found.papers
    names = citation_keys(paper.doc_key for paper in cited)
    keys = {paper.document: name for paper, name in zip(cited, names, strict=True)}
    pages = {
        "survey.md": markdown_lines(found, keys),
        "survey.html": html_lines(found, keys),
        "survey.bib": bibtex([replace(paper, sentences=()) for paper in cited]),
    }
    if kind:
        pages = {"": pages[f"survey{kind}"]}
    write_files(pages, graph, output, force=force)
    return found


def survey(connection: Connection, node: Node) -> Survey:
    quoter = Quoter(connection, [node.id])
    first = islice(quoter.defining(), _MOST_DEFINITIONS)
    defined = [Statement("As defined", paper) for paper in first]
    known = types_of(connection, "relation")
    if HYPONYM in known:
        kinds = neighbours(connection, node, relation=HYPONYM, direction="out", generic=False)
        for edge in kinds[:_MOST_DEFINITIONS]:
            defined.append(Statement(f"A kind of {edge.tail.name}", quoter.stating(edge.id)))
    words = "Sentences that say it, and what abstracts call it a kind of."
    (total,) = connection.execute("SELECT count(*) FROM document").fetchone()
    sections, company = [Section("What it is", words, defined)], list[int]()
    types = sorted(types_of(connection, "entity"), key=lambda kind: kind not in _HEADINGS)
    # With what is in most abstracts everything is named as often as by chance.
    question = TogetherQuestion(surely=2 * node.documents <= total)
    together = named_with(connection, [node], question, most=_MOST)
    named = [partner for partner in together if not _is_part(partner.node, node)]
    for kind in types:
        found = _telling([partner for partner in named if partner.node.label == kind])
        company += [partner.node.id for partner in found]
        stated = [_company(partner, node, quoter.quote(partner.node.id)) for partner in found]
        sections.append(Section(_HEADINGS.get(kind, kind), _TOGETHER, stated))
    for relation, number in known.items():
        if "compare" in relation.casefold():
            related = named_with(connection, [node], replace(question, relation=relation))
            found = _telling(list(islice(related, _MOST)))
            stated = [
                _company(partner, node, quoter.quote(partner.node.id, number)) for partner in found
            ]
            words = f"In a relation {relation} in abstracts that name it."
            sections.append(Section("What is compared", words, stated))
    table = as_command("sciextract", "graph", "table", node.name)
    words = f"Values that abstracts report; read the sentences, because test sets and splits differ. All of them: {table}"
    sections.append(Section("Leaderboards", words, _boards(connection, node)))
    words = "Named together less than a fifth as often as chance would have it."
    sections.append(Section("Open gaps", words, _gaps(connection, node)))
    words = "Those with the name in the title, then those that name most of the above."
    papers = _first_papers(connection, node, quoter, company)
    sections.append(Section("Papers to read first", words, papers))
    words = f"{node.label}; {counted(node.documents, 'abstract')}, {_years(node)}"
    shown = tuple([section for section in sections if section.statements])
    return Survey(node.name, words, periods_of(connection, node.id), shown)


_TOGETHER = "Named in the same abstracts; a lift of 1 is chance. Single words that are mostly speech, and doubles, are left out."


def _years(found: Node | Together) -> str:
    return f"{found.first_year or '?'} to {found.last_year or '?'}"


def _is_part(other: Node, node: Node) -> bool:
    """Whether a name is made of words of the node's and of heads that add nothing: "conversion methods" of voice conversion."""
    words, own = (set(normal_form(one.name).spaced.casefold().split()) for one in (other, node))
    return words <= own | METHOD_HEADS | TASK_HEADS | DATA_HEADS


def _telling(partners: Sequence[Together]) -> list[Together]:
    """Names of systems and data first; without words that are mostly speech, what is rarer than by chance, and doubles.

    Of a single word in lower case, such as "images", a model must have found half of the abstracts; of names whose last
    words are another's, such as "video" and "input video", the first is kept.
    """
    kept: list[Together] = []
    for partner in partners:
        node, words = partner.node, f" {normal_form(partner.node.name).spaced}"
        named = is_proper(node.name)
        speech = " " not in node.name and not named and 2 * node.extracted_documents < node.alone
        others = [f" {normal_form(other.node.name).spaced}" for other in kept]
        doubled = any(words.endswith(other) or other.endswith(words) for other in others)
        if partner.lift > 1 and not speech and not (doubled and not named):
            kept.append(partner)
    return sorted(kept, key=lambda partner: not is_proper(partner.node.name))


def _company(found: Together, node: Node, quote: Paper | None) -> Statement:
    lift = f"lift {found.lift:.1f} ({found.low:.1f} to {found.high:.1f})"
    abstracts = f"{found.documents:,} of {counted(node.documents, 'abstract')}"
    return Statement(f"{found.node.name}: {abstracts}, {_years(found)}, {lift}", quote)


def _boards(connection: Connection, node: Node) -> list[Statement]:
    """Values that abstracts with the node report, board by board; a single value is no board."""
    boards: dict[tuple[str, str], list[Statement]] = {}
    with suppress(UsageError):  # a model without metrics
        for result in results(connection, named=node):
            if result.material is not None:
                system = f" by {result.system.name}" if result.system else ""
                text = f"{' | '.join(result.board)}: {result.amount}{system}"
                stated = Statement(text, replace(result.paper, sentences=(result.sentence,)))
                boards.setdefault(result.board, []).append(stated)
    several = sorted(boards.values(), key=len, reverse=True)[:_MOST_BOARDS]
    return [statement for board in several if len(board) > 1 for statement in board[:_MOST]]


def _gaps(connection: Connection, node: Node) -> list[Statement]:
    statements = []
    with suppress(UsageError):  # too few abstracts to tell
        for gap in gaps(connection, node, limit=_MOST).found:
            near = ", ".join([f"{other.name} ({count:,})" for other, count in gap.nearest])
            abstracts = counted(gap.documents, "abstract")
            text = f"{gap.node.name}: {abstracts}, {gap.expected:.1f} expected"
            statements.append(Statement(f"{text}; nearest: {near}" if near else text))
    return statements


def _first_papers(
    connection: Connection, node: Node, quoter: Quoter, company: Sequence[int]
) -> list[Statement]:
    query = """SELECT n.document, coalesce(d.title, ''), count(o.node), n.mentions + n.matched FROM node_document n
        JOIN document d ON d.id = n.document
        LEFT JOIN node_document o ON o.document = n.document AND o.node IN (SELECT value FROM json_each(?))
        WHERE n.node = ? GROUP BY n.document ORDER BY 3 DESC, 4 DESC, n.document"""
    rows = connection.execute(query, (json.dumps(company), node.id)).fetchall()
    name = normal_form(node.name).spaced
    titled = (row for row in rows if name in normal_form(row[1]).spaced)
    # With a name in thousands of titles, few are looked at.
    first = dict.fromkeys([*islice(titled, _MOST_PAPERS), *rows[: 2 * _MOST_PAPERS]])
    papers = [quoter.named_in(document) for document, *_ in islice(first, _MOST_PAPERS)]
    return [Statement(_cite(paper.published, paper.doc_key), paper) for paper in papers]


def _cite(known: Bibliography, key: str) -> str:
    authors = ", ".join(known.authors[:3]) + (" et al." if len(known.authors) > 3 else "")
    parts = (authors, str(known.year or ""), known.title or key, known.venue or "")
    return ". ".join([part for part in parts if part])


def markdown_lines(survey: Survey, keys: Mapping[int, str]) -> Iterator[str]:
    """The page in Markdown; ``[@key]`` cites in the form of Pandoc."""
    yield f"# {_plain(survey.title)}"
    yield f"\n{_plain(survey.words)}."
    if survey.periods:
        yield f"\n## Trend\n\n| {' | '.join(_TREND)} |\n|---|---:|---:|---:|---|"
        for period in survey.periods:
            yield f"| {' | '.join(_trend_cells(period))} |"
    for part in survey.sections:
        yield f"\n## {_plain(part.title)}\n\n{_plain(part.words)}\n"
        for statement in part.statements:
            quoted = "".join([f" “{_plain(one)}”" for one in statement.quoted])
            cited = f" [@{keys[statement.paper.document]}]" if statement.paper else ""
            yield f"- {_plain(statement.text)}.{quoted}{cited}"


_TREND = ("years", "abstracts", "of all", "share", "95 % interval")


def _trend_cells(period: Period) -> list[str]:
    span = " to ".join([f"{end:.1%}" for end in period.interval])
    return [period.years, f"{period.documents:,}", f"{period.total:,}", f"{period.share:.1%}", span]


def html_lines(survey: Survey, keys: Mapping[int, str]) -> Iterator[str]:
    """The page in HTML; it loads nothing, and no script may run in it."""
    yield f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width"><title>{_escape(survey.title)}</title>
<style>body {{ max-width: 50em; margin: 2em auto; padding: 0 1em; font: 16px/1.5 sans-serif }} q {{ color: #444 }} li {{ margin: .4em 0 }} td {{ padding-right: 1em }}</style>
</head><body><h1>{_escape(survey.title)}</h1><p>{_escape(survey.words)}.</p>"""
    if survey.periods:
        rows = [_TREND, *map(_trend_cells, survey.periods)]
        cells = "".join([f"<tr><td>{'<td>'.join(row)}" for row in rows])
        yield f"<h2>Trend</h2><table>{cells}</table>"
    for part in survey.sections:
        yield f"<h2>{_escape(part.title)}</h2><p>{_escape(part.words)}</p><ul>"
        for statement in part.statements:
            quoted = "".join([f" <q>{_escape(one)}</q>" for one in statement.quoted])
            key = _escape(keys[statement.paper.document]) if statement.paper else ""
            cited = f' <cite>[<a href="#{key}">{key}</a>]</cite>' if key else ""
            yield f"<li>{_escape(statement.text)}.{quoted}{cited}</li>"
        yield "</ul>"
    yield "<h2>References</h2><ul>"
    for paper in survey.papers:
        key = _escape(keys[paper.document])
        link = link_of(paper.doc_key, paper.published)
        name = _escape(_cite(paper.published, paper.doc_key))
        words = f'<a href="{_escape(link)}" rel="noreferrer">{name}</a>' if link else name
        yield f'<li id="{key}">[{key}] {words}</li>'
    yield "</ul></body></html>"


# What Markdown, or Pandoc's, gives a meaning anywhere in a line, and at its beginning; behind a backslash it has none.
_MARKS = re.compile(r"[\\`*_{}\[\]<>|~$^@&]|:(?=//)|^[-+=#]")
_NUMBERED = re.compile(r"^([0-9]+)(?=[.)])")


def _plain(text: str) -> str:
    """Text as it is, in Markdown on one line."""
    line = _MARKS.sub(lambda found: f"\\{found[0]}", visible(" ".join(text.split())))
    return _NUMBERED.sub(r"\1\\", line)


def _escape(text: str) -> str:
    return escape(visible(" ".join(text.split())))
