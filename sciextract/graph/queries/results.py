"""Results that abstracts report: which value of which metric on which material, read from single sentences.

A number counts only where the words next to it tie it to a metric, and only where one material (or as many as there
are numbers) can be meant; what is ambiguous is left out, because a wrong result is worse than a missing one.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sciextract.errors import UsageError
from sciextract.graph.extraction import unpacked
from sciextract.graph.normalisation import MergeRule
from sciextract.graph.queries.nodes import NODE, Node, entity_labels
from sciextract.graph.queries.papers import (
    ALL_YEARS,
    NamingSentence,
    Paper,
    Years,
    names_pattern,
    paper_numbered,
    sentence_places,
)

METRIC = "Metric"
MATERIALS = ("Material", "Dataset", "Task")
"""What a result can be measured on; abstracts name a data set by its task as often as by itself."""
_LOWER_IS_BETTER = re.compile(
    r"error|\b[WTC]ER\b|perplexity|\bPPL\b|loss|distance|time|latency", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Result:
    """A value that an abstract reports.

    Attributes:
        metric: What is measured.
        material: What it is measured on.
        value: The number.
        unit: ``%``, or nothing.
        is_difference: Whether it is an improvement or another distance, not a value of its own.
        system: The method that the metric evaluates, where the sentence has such a relation (EVALUATE-FOR).
        paper: Whose abstract it is.
        sentence: Where it stands; its mentions are metric, material and number.
    """

    metric: Node
    material: Node
    value: float
    unit: str
    is_difference: bool
    system: Node | None
    paper: Paper
    sentence: NamingSentence

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "material": self.material.name,
            "metric": self.metric.name,
            "value": self.value,
            "unit": self.unit,
            "is_difference": self.is_difference,
            "system": self.system and self.system.name,
            "doc_key": self.paper.doc_key,
            **asdict(self.paper.published),
            "sentence": asdict(self.sentence),
        }


def results(
    connection: sqlite3.Connection,
    *,
    metric: Node | None = None,
    material: Node | None = None,
    years: Years = ALL_YEARS,
    differences: bool = False,
) -> list[Result]:
    """What abstracts report, by material and metric, those with most values first, the best value first.

    Args:
        connection: The graph.
        metric: Only values of this metric.
        material: Only on this material.
        years: Only of these years.
        differences: Improvements and other distances instead of values.

    Raises:
        UsageError: The graph has no nodes of the type Metric.
    """
    if METRIC not in entity_labels(connection):
        raise UsageError(
            f"the graph has no nodes of the type {METRIC}",
            "results need a model that finds metrics",
        )
    labels = (METRIC, *MATERIALS)
    marks = ", ".join("?" * len(labels))
    # Names by what they are when case and spaces do not count.
    names: dict[int, dict[str, str]] = {}
    for node, surface in connection.execute(
        f"""SELECT a.node, f.surface FROM alias a JOIN form f ON f.id = a.form JOIN node n ON n.id = a.node
        JOIN label l ON l.id = n.label WHERE a.rules & ? = 0 AND l.name IN ({marks})""",
        (int(MergeRule.COREFERENCE), *labels),
    ):
        names.setdefault(node, {})[_folded(surface)] = surface
    rows = connection.execute(f"{NODE} WHERE l.name IN ({marks})", labels)
    nodes = {row[0]: (Node(*row), names.get(row[0], {})) for row in rows}
    # The metrics and materials of each abstract that names a metric.
    documents: dict[int, list[_Named]] = {}
    for document, node in connection.execute(
        f"""WITH wanted AS (
            SELECT DISTINCT o.document FROM node n JOIN label l ON l.id = n.label
            JOIN node_document o ON o.node = n.id JOIN document d ON d.id = o.document
            WHERE l.name = ?1 AND n.id = coalesce(?2, n.id)
            AND (?3 IS NULL OR o.document IN (SELECT document FROM node_document WHERE node = ?3))
            AND coalesce(d.year >= ?4, ?4 IS NULL) AND coalesce(d.year <= ?5, ?5 IS NULL)
        )
        SELECT o.document, o.node FROM node n JOIN label l ON l.id = n.label JOIN node_document o ON o.node = n.id
        WHERE l.name IN ({", ".join(["?1", *[f"'{each}'" for each in MATERIALS]])})
        AND o.document IN (SELECT document FROM wanted) ORDER BY 1""",
        (METRIC, metric and metric.id, material and material.id, years.first, years.last),
    ):
        documents.setdefault(document, []).append(nodes[node])
    found = [
        each
        for document, named in documents.items()
        for each in _of_abstract(connection, document, named)
        if each.is_difference == differences
        and metric in (None, each.metric)
        and material in (None, each.material)
    ]
    boards: dict[tuple[str, str], list[Result]] = {}
    for each in found:
        boards.setdefault((each.material.name, each.metric.name), []).append(each)
    ranked = []
    for (_, name), board in sorted(boards.items(), key=lambda one: (-len(one[1]), one[0])):
        best = 1 if _LOWER_IS_BETTER.search(name) else -1
        ranked += sorted(board, key=lambda each: best * each.value)
    return ranked


_Named = tuple[Node, dict[str, str]]
"""A metric or material with its names."""
# A number that stands by itself: no part of a name, a range, a fraction, a factor or a thousand.
_NUMBER = re.compile(
    r"(?<![\w.,/'’–-])(?P<sign>[+−-])?(?P<value>[0-9]+(?:\.[0-9]+)?)(?P<unit>\s?%|\s?percent\b)?"
    r"(?![\w/×]|[.,][0-9]|[-–]\w|\s?(?:x|times|fold|[kKmMbB]|million|billion|thousand)\b)"
)
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_LIST = re.compile(r"\s*(?:,|,?\s?and|or)\s*")
_KIND = r"(?:tokeni[sz]ed|cased|uncased|case-(?:in)?sensitive|average|mean|overall|test|macro|micro|sentence-level)"
# "28.4 BLEU", "3.2 points in BLEU"
_METRIC_AFTER = re.compile(
    rf"\s*(?:(?:absolute|relative)\s)?(?:points?\s(?:of|in)\s)?(?:{_KIND}\s)?"
)
# "BLEU score of 28.4", "accuracy (94 %)", "BLEU from 20.1 to 23.4", "error rate by 3 %"
_ABOUT = r"(?:(?:up\sto|about|around|approximately|over|above|nearly|almost|only|roughly|as\shigh\sas)\s)?"
_METRIC_BEFORE = re.compile(
    r"\s*(?:\([^()]{1,30}\)\s*)?(?:(?:scores?|values?|rates?|points?)\s*)?"
    r"(?:(?:(?:of|is|was|are|were|=|:|\(|at|reach(?:es|ed|ing)|equals|by|to|(?P<change>from\s[0-9.]+\s?%?\sto))\s*)"
    rf"{_ABOUT})?"
)
_NO_UNIT = re.compile(
    r"\s*(?:$|[.,;:()/±]|(?:points?|on|for|in|at|and|or|with|which|using|over|across|from|to|when|while|compared|after|by|under"
    r"|respectively|where|as|than|against|averaged|is|are|was|were|has|outperform\w+|surpass\w+|without|among|between)\b)"
)
_DISTANCE = (
    r"improv\w+|gain\w*|increas\w+|boost\w*|reduc\w+|decreas\w+|degrad\w+|degenerat\w+|drop\w*|loss(?:es)?|margins?"
    r"|outperform\w*|surpass\w*|exceed\w*|better|higher|lower|within|differen\w+|gap\w*|advantage\w*|another"
    r"|additional|absolute|relative|points"
)
_DISTANCE_BEFORE = re.compile(
    rf"\b(?:by|up|more than|{_DISTANCE})\b(?:[^.;]|\.[0-9]){{0,40}}$", re.IGNORECASE
)
_DISTANCE_AFTER = re.compile(
    rf"\s*(?:scores?\s)?(?:[\w-]+\s)?(?:points?|over|above|more|less|worse|compared|than|ahead|behind|{_DISTANCE})\b",
    re.IGNORECASE,
)
# "gains of up to 3 % for A, 0.6 mAP for B and 1.5 IoU for C"
_GAINS_OF = re.compile(
    r"\b(?:improvements?|gains?|increases?|boosts?|reductions?|drops?)\s(?:of|up)\b(?!.*\b(?:achiev|reach|obtain|attain))"
)
_RANGE_BEFORE = re.compile(r"[0-9%]\s*[–-]\s*$")
_IS_DISTANCE = re.compile(rf"\b(?:{_DISTANCE})\b|[()]", re.IGNORECASE)
_REACHED = re.compile(r"(?:achiev|reach|obtain|attain|scor|yield)\w*[^.;]{0,40}$", re.IGNORECASE)
_LEAST_POINTS = 10.0
_ON = re.compile(r"\b(?:on|over|across)\s(?:[\w-]+\s){0,3}$", re.IGNORECASE)
_FOR = re.compile(r"\b(?:for|in)\s(?:[\w-]+\s){0,2}$", re.IGNORECASE)
_DIRECTLY_ON = re.compile(r"\W*(?:scores?\s|rate\s)?(?:on|for)\s(?:the\s|a\s|our\s)?")
_PROPER = re.compile(r"[A-Z0-9]")
_DATA = re.compile(
    r"[0-9]|\b(?:data\s?sets?|corpus|corpora|(?:test|dev|validation|evaluation)\s?sets?|tasks?|benchmarks?|treebanks?|track)$",
    re.IGNORECASE,
)
# One end of a language pair: "French" of "French to English" is not a data set.
_END_OF_PAIR = re.compile(r"(?:\b(?:to|from|into)|→|->|↔|ightarrow|[–/-])\s?$")
_GOES_ON = re.compile(r"\s[A-Z]")
_TRAINED_ON = re.compile(
    r"\b(?:\w*train\w*|learn\w*|\w*tun\w+|built|based|reli\w+|using)\s(?:\w+\s)?(?:(?:on|from)\s)?(?:[\w-]+\s){0,2}$",
    re.IGNORECASE,
)
_DECIMAL = re.compile(r"[0-9]\.[0-9]")
_START_OF_PAIR = re.compile(r"\s?(?:(?:to|into)\s[A-Z]|→|->|<|↔|(?:\S\s)?ightarrow|[–/-]\w)")
_FURTHEST = 60
_AWAY = re.compile(r"[0-9;]|\b(?:while|whereas|compared|than|which|that)\b")
_REACH = 80


@dataclass(frozen=True, slots=True)
class _Mention:
    start: int
    end: int
    text: str
    node: Node


@dataclass(frozen=True, slots=True)
class _Values:
    """Numbers of one metric: ``28.4 and 41.8``."""

    numbers: tuple[re.Match[str], ...]
    metric: _Mention
    is_difference: bool

    @property
    def start(self) -> int:
        return min(self.numbers[0].start(), self.metric.start)

    @property
    def end(self) -> int:
        return max(self.numbers[-1].end(), self.metric.end)


def _of_abstract(
    connection: sqlite3.Connection, document: int, named: Sequence[_Named]
) -> Iterator[Result]:
    content, title = connection.execute(
        "SELECT t.content, p.title FROM text t JOIN paper p ON p.document = t.document WHERE t.document = ?",
        (document,),
    ).fetchone()
    text = unpacked(content)
    folded = _folded(text)
    here = [
        (key, name, node) for node, names in named for key, name in names.items() if key in folded
    ]
    # A quick look that passes over most abstracts, before sentences are looked for.
    if not any(node.label == METRIC and _near_a_number(folded, key) for key, _, node in here):
        return
    nodes = {key: node for key, _, node in here}
    pattern = names_pattern(name for _, name, _ in here)
    for start, end in sentence_places(text, title):
        sentence = text[start:end]
        if re.search("[0-9]", sentence):
            mentions = [
                _Mention(*each.span(), each[0], nodes[_folded(each[0])])
                for each in pattern.finditer(sentence)
            ]
            yield from _of_sentence(connection, document, start, sentence, mentions)


def _of_sentence(
    connection: sqlite3.Connection,
    document: int,
    start: int,
    sentence: str,
    mentions: Sequence[_Mention],
) -> Iterator[Result]:
    metrics = [each for each in mentions if each.node.label == METRIC]
    materials = [each for each in mentions if _is_material(sentence, each)]
    seen: set[int] = set()
    for values in _values(sentence, metrics, mentions):
        # A second value of one metric does not belong to what the sentence began with.
        first = values.metric.node.id not in seen
        seen.add(values.metric.node.id)
        measured_on = _measured_on(sentence, values, materials, named_before=first)
        if not measured_on:
            continue
        # The method at the other end of the relation EVALUATE-FOR of this mention.
        row = connection.execute(
            f"""{NODE} JOIN edge e ON e.tail = n.id JOIN support s ON s.edge = e.id
            JOIN evidence v ON v.document = s.document AND v.number = s.number JOIN label r ON r.id = e.label
            WHERE v.document = ? AND r.name = 'EVALUATE-FOR' AND l.name = 'Method' AND v.head_start < ? AND v.head_end > ?
            ORDER BY v.score DESC""",
            (document, start + values.metric.end, start + values.metric.start),
        ).fetchone()
        for number, material in zip(values.numbers, measured_on, strict=False):
            spans = [(each.start, each.end) for each in (values.metric, material)]
            marks = sorted([(start + a, start + b) for a, b in (*spans, number.span())])
            yield Result(
                values.metric.node, material.node, float(number["value"]),
                "%" if number["unit"] else "", values.is_difference, Node(*row) if row else None,
                paper_numbered(connection, document),
                NamingSentence(start, start + len(sentence), sentence, tuple(marks)),
            )  # fmt: skip


def _near_a_number(text: str, name: str) -> bool:
    at = text.find(name)
    while at >= 0:
        if re.search("[0-9]", text[max(at - _REACH, 0) : at + len(name) + _REACH]):
            return True
        at = text.find(name, at + 1)
    return False


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()


def _is_material(sentence: str, mention: _Mention) -> bool:
    """Whether something may be measured on it: its name is one of a data set, or the words before it say so."""
    if mention.node.label not in MATERIALS:
        return False
    before, name = sentence[: mention.start], mention.text
    goes_on = _GOES_ON.match(sentence, mention.end) and not _DATA.search(name)
    pair = _END_OF_PAIR.search(before) or _START_OF_PAIR.match(sentence, mention.end) or goes_on
    if pair or _TRAINED_ON.search(before) or _DECIMAL.search(name):
        return False
    return bool(_DATA.search(name) or _ON.search(before) or _FOR.search(before))


def _values(
    sentence: str, metrics: Sequence[_Mention], mentions: Sequence[_Mention]
) -> Iterator[_Values]:
    """Numbers that the words between tie to a metric, lists of them together."""
    for numbers in _number_lists(sentence, mentions):
        start, end = numbers[0].start(), numbers[-1].end()
        after = next((each for each in metrics if each.start >= end), None)
        before = next((each for each in reversed(metrics) if each.end <= start), None)
        tie = before and _METRIC_BEFORE.fullmatch(sentence, before.end, start)
        followed = after and _METRIC_AFTER.fullmatch(sentence, end, after.start)
        whole = all("." not in each["value"] and not each["unit"] for each in numbers)
        # Whole numbers before a plain word count it: "814 usefulness assessments".
        counts = whole and after and not _PROPER.search(after.text)
        if after and followed and not counts:
            yield _Values(numbers, after, _is_distance(sentence, numbers, after))
        elif before and tie and _NO_UNIT.match(sentence, end):
            is_distance = not tie["change"] and _is_distance(sentence, numbers, before)
            yield _Values(numbers, before, is_distance)


def _number_lists(
    sentence: str, mentions: Sequence[_Mention]
) -> Iterator[tuple[re.Match[str], ...]]:
    listed: list[re.Match[str]] = []
    for number in _NUMBER.finditer(sentence):
        named = any(each.start <= number.start() < each.end for each in mentions)
        named = named or bool(_RANGE_BEFORE.search(sentence[: number.start()]))
        if named or (_YEAR.fullmatch(number["value"]) and not number["unit"]):
            continue
        if listed and not _LIST.fullmatch(sentence, listed[-1].end(), number.start()):
            yield tuple(listed)
            listed = []
        listed.append(number)
    if listed:
        yield tuple(listed)


def _is_distance(sentence: str, numbers: Sequence[re.Match[str]], metric: _Mention) -> bool:
    """Whether numbers are improvements rather than values, as far as signs and words near them tell."""
    start, end = numbers[0].start(), max(numbers[-1].end(), metric.end)
    words = metric.text
    points = re.search(r"\bpoints?\b", words) or sentence[end:].lstrip().startswith("point")
    large = float(numbers[0]["value"]) >= _LEAST_POINTS
    if points and large and _REACHED.search(sentence[:start]):
        words = ""  # "reaches 35.6 BLEU points" is a value
    elif points:
        return True
    first = min(start, metric.start) if metric.end <= start else start
    return bool(
        any(each["sign"] for each in numbers)
        or _IS_DISTANCE.search(words)
        or _GAINS_OF.search(sentence[:start])
        or _DISTANCE_BEFORE.search(sentence[:first])
        or _DISTANCE_BEFORE.search(sentence[metric.end : start])
        or (words and _DISTANCE_AFTER.match(sentence, end))
    )


def _measured_on(
    sentence: str, values: _Values, materials: Sequence[_Mention], *, named_before: bool
) -> tuple[_Mention, ...]:
    """As many materials as there are numbers; none where it is not clear which are meant."""
    count = len(values.numbers)
    # Materials in the lists that the sentence makes of them.
    chains: list[list[_Mention]] = []
    for each in materials:
        if chains and _LIST.fullmatch(sentence, chains[-1][-1].end, each.start):
            chains[-1].append(each)
        else:
            chains.append([each])
    after = next((each for each in chains if each[0].start >= values.end), None)
    between = sentence[values.end : after[0].start] if after else ""
    # Words lead to a material where no other number or clause stands between.
    if after and len(between) <= _FURTHEST and not _AWAY.search(between):
        named = _PROPER.search(after[0].text) or _DIRECTLY_ON.fullmatch(between)
        return tuple(after) if len(after) == count and named else ()
    before = [each for each in chains if each[-1].end <= values.start]
    if not named_before or len(before) != 1 or len(before[0]) != count:
        return ()
    name, preceding = before[0][-1].text, sentence[: before[0][-1].start]
    is_data_set = _PROPER.search(name) and (_DATA.search(name) or _ON.search(preceding))
    return tuple(before[0]) if is_data_set else ()
