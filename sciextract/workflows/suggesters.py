"""What suggests annotations before anything is corrected: lists of terms, patterns of spaCy, and models of other labels."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sciextract.documents.annotations import Annotations, Entity, Relation, Span, new_id
from sciextract.documents.document import Document
from sciextract.documents.schema import LabelSchema
from sciextract.errors import FormatError, MissingExtraError, UsageError
from sciextract.formats.base import Source, decode_content
from sciextract.formats.json_streams import json_objects
from sciextract.text.english import singular
from sciextract.workflows.annotate import Predictor
from sciextract.workflows.import_files import source_of
from sciextract.workflows.pattern_matching import SECONDS, PatternMatcher, TooSlowError

# Words of the longest term that is looked for.
_LONGEST_TERM = 20

_LONGEST_ACRONYM = 6

# A word or a sign; hyphens and blanks separate words alike.
_WORD = re.compile(r"\w+|[^\w\s\-\u2010-\u2015]")

_Labelled = TypeVar("_Labelled", Entity, Relation)


class Suggester(Protocol):
    """Suggests annotations for documents; items name their own source."""

    def __call__(self, documents: Sequence[Document], /) -> Iterable[Annotations]:
        """One set of annotations for each document, in order."""


class Terms:
    """Suggests terms of a list: longest first, hyphens and blanks alike, singular and plural alike.

    A term in capitals of at most six letters, such as an acronym, has to be written as in the list; others
    may be written in any case.

    Attributes:
        ambiguous: Terms that the list has with several labels; they are left out.
    """

    def __init__(self, terms: Iterable[tuple[str, str]], source: str) -> None:
        self._source = source
        self._labels: dict[str, tuple[str, str]] = {}
        self._longest: dict[str, int] = {}
        self.ambiguous: set[str] = set()
        for term, label in terms:
            words = [word.casefold() for word in _WORD.findall(term)][:_LONGEST_TERM]
            if not words:
                continue
            key = _key(words)
            # In another case, a short term in capitals is a word: IT and it, WHO and who.
            exact = term if term.isupper() and len(term) <= _LONGEST_ACRONYM else ""
            if self._labels.setdefault(key, (label, exact))[0] != label:
                self.ambiguous.add(key)
            first = words[0] if len(words) > 1 else singular(words[0])
            self._longest[first] = max(len(words), self._longest.get(first, 0))
        for term in self.ambiguous:
            del self._labels[term]

    def __call__(self, documents: Sequence[Document]) -> Iterator[Annotations]:
        """The terms of each document."""
        for document in documents:
            places = [match.span() for match in _WORD.finditer(document.text)]
            words = [document.text[start:end].casefold() for start, end in places]
            found, at = [], 0
            while at < len(words):
                length = self._match(document.text, words, places, at)
                if length:
                    label = self._labels[_key(words[at : at + length])][0]
                    span = Span(places[at][0], places[at + length - 1][1])
                    found.append(Entity(new_id(), (span,), label, source=self._source))
                at += length or 1
            yield Annotations(tuple(found))

    def _match(
        self, text: str, words: Sequence[str], places: Sequence[tuple[int, int]], at: int
    ) -> int:
        """Words of the longest term that begins at a word; 0 when none does."""
        first = words[at]
        longest = max(self._longest.get(first, 0), self._longest.get(singular(first), 0))
        for length in range(min(longest, len(words) - at), 0, -1):
            _, exact = self._labels.get(_key(words[at : at + length]), ("", None))
            written = text[places[at][0] : places[at + length - 1][1]]
            if exact is not None and (not exact or written in (exact, f"{exact}s")):
                return length
        return 0


def read_terms(path: Path, schema: LabelSchema) -> Terms:
    """The terms of a CSV or TSV file: a term and its label in each row; a first row ``term,label`` is a heading.

    Raises:
        InputMissingError: The file does not exist.
        FormatError: A row has no two columns, or the file is not UTF-8.
        UsageError: A label is not in the schema.
    """
    lines = decode_content(Source(str(path))).splitlines(keepends=True)
    terms = []
    reader = csv.reader(lines, delimiter="\t" if "\t" in lines[0] else ",")
    try:
        for row in reader:
            if not any(row):
                continue
            if len(row) < 2:
                problem = f"{row[0]!r} has no label"
                hint = "each row holds a term and its label, separated by a comma or a tab"
                raise FormatError(problem, path=path, line=reader.line_num, hint=hint)
            term, label = row[0].strip(), row[1].strip()
            if reader.line_num == 1 and label.casefold() in ("label", "type"):
                continue
            check_label(label, schema.entity_labels, f"{path}:{reader.line_num}")
            terms.append((term, label))
    except csv.Error as error:
        raise FormatError(f"cannot be read: {error}", path=path, line=reader.line_num) from error
    return Terms(terms, source_of(str(path)))


class Patterns:
    """Suggests what token and phrase patterns of spaCy's EntityRuler match.

    Args:
        path: JSON Lines with ``label`` and ``pattern``: a phrase, or a list of token descriptions.
        schema: The labels allowed.

    Raises:
        MissingExtraError: spaCy is not installed.
        InputMissingError: The file does not exist.
        FormatError: A line is not a pattern, or has an unknown attribute or operator.
        UsageError: A label is not in the schema.
    """

    def __init__(self, path: Path, schema: LabelSchema) -> None:
        try:
            from sciextract.interop.spacy_layers import blank_with_ruler

            _, ruler = blank_with_ruler()
        except MissingExtraError as error:
            raise MissingExtraError("--patterns", "spacy") from error
        self._path, self._source = path, source_of(str(path))
        patterns: dict[int, dict[str, Any]] = {}
        for line, pattern in _read_patterns(path):
            check_label(pattern["label"], schema.entity_labels, f"{path}:{line}")
            try:
                ruler.add_patterns([pattern])
            except (ValueError, TypeError, re.error) as error:
                problem = f"not a pattern of spaCy: {' '.join(str(error).split())}"
                raise FormatError(problem, path=path, line=line, hint=_PATTERN_HINT) from error
            patterns[line] = pattern
        # Checked above in this process, matched in another one that can be ended.
        self._matcher = PatternMatcher(patterns)

    def __call__(self, documents: Sequence[Document]) -> Iterator[Annotations]:
        """The matches in each document.

        Raises:
            FormatError: A pattern takes too long, or has an attribute that needs a trained pipeline.
        """
        for document in documents:
            try:
                matches = self._matcher.matches(document.text)
            except TooSlowError as error:
                problem = f"matching {document.doc_key!r} takes more than {SECONDS:g} seconds"
                hint = "a repeat within a repeat, such as (a+)*, or several * operators take this long; simplify them"
                raise FormatError(problem, path=self._path, line=error.line, hint=hint) from None
            except ValueError as error:  # an attribute that needs a trained pipeline, such as POS
                problem, _, _ = " ".join(str(error).split()).partition(". ")
                raise FormatError(problem, path=self._path, hint=_PATTERN_HINT) from error
            found = ((Span(start, end), label) for start, end, label in matches)
            yield Annotations(
                tuple(Entity(new_id(), (s,), label, source=self._source) for s, label in found)
            )


_PATTERN_HINT = (
    'a line is {"label": "...", "pattern": "a phrase"} or {"label": "...", "pattern": [{"LOWER": "..."}]}; '
    "attributes of a blank pipeline only: ORTH, LOWER, REGEX, SHAPE, LENGTH, IS_DIGIT, OP, ..."
)


def _read_patterns(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each pattern with the number of its line."""
    for line, record in json_objects(Source(str(path))):
        if isinstance(record, FormatError):
            raise record
        for key in ("label", "pattern"):
            if not record.get(key):
                raise FormatError(f"no {key!r}", path=path, line=line, hint=_PATTERN_HINT)
        yield line, {"label": str(record["label"]), "pattern": record["pattern"]}


class Mapped:
    """Suggests a model's predictions under the project's labels.

    Args:
        predictor: The model.
        labels: The model's entity and relation labels with those of the project; predictions of other
            labels are left out. Empty: every entity without a label, and nothing else.
        schema: The project's.

    Raises:
        UsageError: The model or the schema lacks a label.
    """

    def __init__(
        self, predictor: Predictor, labels: Mapping[str, str], schema: LabelSchema
    ) -> None:
        known = predictor.config.labels
        for old, new in labels.items():
            entities = old in known.entities
            relations = known.relations.labels
            check_label(old, [*known.entities, *relations], f"--map {old}={new}", "model")
            allowed = schema.entity_labels if entities else schema.relation_labels
            check_label(new, allowed, f"--map {old}={new}")
        self._predictor = predictor
        self._labels = labels
        self._coreference = schema.coreference

    def __call__(self, documents: Sequence[Document]) -> Iterator[Annotations]:
        """The predictions for each document."""
        for predicted in self._predictor.stream(documents):
            found = predicted.annotations
            if not self._labels:
                bare = (replace(entity, label="", alternatives=()) for entity in found.entities)
                yield Annotations(tuple(bare))
                continue
            clusters = found.clusters if self._coreference else ()
            yield Annotations(self._rename(found.entities), self._rename(found.relations), clusters)

    def _rename(self, items: Sequence[_Labelled]) -> tuple[_Labelled, ...]:
        known, labels = (e for e in items if e.label in self._labels), self._labels
        return tuple(replace(item, label=labels[item.label], alternatives=()) for item in known)


def check_label(label: str, allowed: Collection[str], place: str, owner: str = "schema") -> None:
    """Refuse a label that is not allowed.

    Raises:
        UsageError: It is not.
    """
    if label not in allowed:
        raise UsageError(
            f"{place}: the {owner} has no label {label!r}; it has {', '.join(allowed) or 'none'}",
            "correct the label, or create a project with a schema that has it: sciextract schema new",
        )


def _key(words: Sequence[str]) -> str:
    return " ".join([*words[:-1], singular(words[-1])])
