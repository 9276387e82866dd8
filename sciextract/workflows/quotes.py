"""Quotes of language models and other tools as suggestions: read under any keys, located in the texts of a project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, TypeAlias, TypeVar

from sciextract.documents.annotations import Annotations, Entity, Relation, Span, State, new_id
from sciextract.documents.document import Document, text_hash
from sciextract.errors import FormatError, UsageError
from sciextract.formats.base import BadRecord, Place, Source, quoted
from sciextract.formats.inputs import expand_inputs
from sciextract.formats.json_streams import read_items
from sciextract.formats.json_values import Record, list_at, string_at
from sciextract.store import Project
from sciextract.store.documents import texts_by_name
from sciextract.text.quotes import Fit, Found, QuoteFinder, fold
from sciextract.workflows.convert import parse_renames
from sciextract.workflows.import_files import source_of
from sciextract.workflows.suggest import SuggestReport, suggest
from sciextract.workflows.suggesters import check_label

_ITSELF = "."


@dataclass(frozen=True, slots=True)
class QuoteKeys:
    """Where records have what: for each thing the keys to try. ``a.b`` is ``b`` inside of ``a``, ``0`` the first of a list.

    Attributes:
        text: The text that was read.
        document: The key of the document.
        entities: A list of quotes, or lists of them by label; ``.`` if the record itself is one.
        quote: The string of a quote; a quote may also be that string alone.
        label: Its label.
        start: Where it may start, in characters.
        score: Its score, from 0 to 1.
        relations: A list of pairs, or lists of them by label.
        head: The head of a pair: its string, a quote, or its number in ``entities``.
        tail: The tail, likewise.
        relation: The label of a pair.
    """

    text: tuple[str, ...] = ("text",)
    document: tuple[str, ...] = ("doc_key", "id", "document_id")
    entities: tuple[str, ...] = ("entities",)
    quote: tuple[str, ...] = ("quote", "text")
    label: tuple[str, ...] = ("label",)
    start: tuple[str, ...] = ("start",)
    score: tuple[str, ...] = ("score", "confidence")
    relations: tuple[str, ...] = ("relations", "relation_extraction")
    head: tuple[str, ...] = ("head", "0")
    tail: tuple[str, ...] = ("tail", "1")
    relation: tuple[str, ...] = ("relation", "label", "2")


QUOTE_FORMATS = {
    "gliner": QuoteKeys(),
    "langextract": QuoteKeys(
        entities=("extractions",),
        quote=("extraction_text",),
        label=("extraction_class",),
        start=("char_interval.start_pos",),
    ),
    "quotes": QuoteKeys(),
}
"""The words of ``--from`` that are read here."""

_NEEDED = 'a record is like {"text": text, "entities": model.predict_entities(text, labels)}; --keys names other keys'


def parse_keys(words: str, keys: QuoteKeys) -> QuoteKeys:
    """The keys with those of ``THING=KEY,...`` in their place.

    Raises:
        UsageError: There is no such thing.
    """
    given = parse_renames(words, "--keys")
    known = [key.name for key in fields(QuoteKeys)]
    for name in given:
        if name not in known:
            raise UsageError(f"--keys has {name!r}", f"it can name {', '.join(known)}")
    return replace(keys, **{name: (key,) for name, key in given.items()})


class Quote(NamedTuple):
    """A string that a tool has found in a text, with its label, and where the tool says that it starts.

    Attributes:
        attributes: Whether the tool says more of it, which is not read.
    """

    text: str
    label: str = ""
    start: int | None = None
    score: float | None = None
    attributes: bool = False


class QuotedPair(NamedTuple):
    """A relation between two quotes, or numbers of quotes of the record."""

    head: Quote | int
    tail: Quote | int
    label: str
    score: float | None = None


_Read = TypeVar("_Read")
_ReadItem: TypeAlias = Callable[[object, QuoteKeys, Place, str], _Read]


class QuotedRecord(NamedTuple):
    """What a record says of a document.

    Attributes:
        place: Where it stands.
        names: Hash of the text and key of the document, as far as the record has them.
        groups: Quotes; those of a group may be in text order.
        pairs: Relations.
        problems: What is wrong with quotes and relations that cannot be read.
    """

    place: Place
    names: Sequence[str]
    groups: Sequence[Sequence[Quote]]
    pairs: Sequence[QuotedPair]
    problems: Sequence[FormatError] = ()


def suggest_quotes(
    project: Project,
    files: Sequence[str],
    keys: QuoteKeys,
    labels: str = "",
    *,
    every: bool = False,
) -> SuggestReport:
    """Suggest what quotes say, at the places where they stand in the project's texts.

    A quote that stands nowhere is listed in the report, and so is a record whose document the project does not have.

    Args:
        project: Open for writing.
        files: JSON, in any layout.
        keys: Where records have what.
        labels: ``OLD=NEW,...``: labels of the files with those of the project. Where some are given, quotes with
            other labels that the project does not have are left out.
        every: Whether a quote is suggested wherever it stands; else where its offset says, or in sequence.

    Raises:
        UsageError: A label is not in the project's schema; nothing was written.
        InputMissingError: A file does not exist.
        FormatError: A file is no JSON.
    """
    schema, rejected = project.schema, list[FormatError]()
    names, files = parse_renames(labels, "--map"), expand_inputs(files)
    allowed = (*schema.entity_labels, *schema.relation_labels)
    for old, new in names.items():
        check_label(new, allowed, f"--map {old}={new}")
    known = texts_by_name(project.connection)
    located = LocatedQuotes({"": "", **{label: label for label in allowed}, **names}, every)
    for file in files:
        for record in read_items(Source(file), partial(_read_record, keys)):
            if isinstance(record, BadRecord):
                rejected.append(record.error)
                continue
            rejected += record.problems
            texts = next((known[name] for name in record.names if name in known), {})
            if len(texts) == 1:
                located.records.setdefault(next(iter(texts)), []).append(record)
                continue
            several = f"{len(texts)} abstracts have this key: give the text"
            problem = several if texts else "no such abstract in the project"
            rejected.append(record.place.error(problem))
    unknown = located.unknown_labels()
    listed = ", ".join(f"{label!r} ({count:,})" for label, count in unknown.most_common())
    if unknown and not names:
        raise UsageError(
            f"the schema lacks labels of the quotes: {listed}; it has {', '.join(allowed)}",
            "--map OLD=NEW,... gives them labels of the project; others that the project lacks are then left out",
        )
    # One tool's suggestions can be exported by its name: export --source.
    source = source_of(files[0]) if len(files) == 1 else ""
    numbers = sorted(number for text in located.records for number in known[text].values())
    report = suggest(project, [located], among=numbers, source=source)
    for error in rejected:
        report.reject(error)
    if unknown:
        report.notes.append(f"labels that neither --map nor the schema has, left out: {listed}")
    if located.unread:
        report.notes.append(f"attributes of quotes, not read: {located.unread:,}")
    report.located, report.missing = dict(located.fits), located.missing
    return report


def _read_record(keys: QuoteKeys, record: Record, place: Place) -> QuotedRecord:
    text, key = _value(record, keys.text), _value(record, keys.document)
    names = [text_hash(text)] if isinstance(text, str) else []
    if isinstance(key, str | int):
        names.append(str(key))
        place = replace(place, doc_key=str(key))
    items, pairs = _value(record, keys.entities), _value(record, keys.relations)
    # LangExtract writes null where it has found nothing.
    known = {path.partition(".")[0] for path in (*keys.entities, *keys.relations)}
    if not names or (items is None and pairs is None and known.isdisjoint(record)):
        lacking = keys.entities if names else (*keys.text, *keys.document)
        raise place.error(f"no {' or '.join(lacking)}: {_NEEDED}")
    problems: list[FormatError] = []

    def read_groups(
        items: object, name: str, read: _ReadItem[_Read], odd: _Read
    ) -> list[list[_Read]]:
        """Groups of items; ``odd`` stands for one that cannot be read, since relations count them."""
        groups = []
        named = items if isinstance(items, dict) else {"": items}
        for label, group in named.items():
            listed = list_at(group, f"{name} {label}".strip(), place)
            groups.append([odd] * len(listed))
            for number, item in enumerate(listed):
                try:
                    groups[-1][number] = read(item, keys, place, label)
                except FormatError as error:
                    problems.append(error)
        return groups

    groups = read_groups(items, keys.entities[0], _read_quote, Quote(""))
    relations = read_groups(pairs, keys.relations[0], _read_pair, None)
    return QuotedRecord(place, names, groups, [*filter(None, chain(*relations))], problems)


def _read_pair(item: object, keys: QuoteKeys, place: Place, label: str) -> QuotedPair | None:
    head, tail = (_read_end(item, end, keys, place) for end in (keys.head, keys.tail))
    label = string_at(label or _value(item, keys.relation), keys.relation[0], place)
    return QuotedPair(head, tail, label, _read_score(item, keys))


def _read_quote(item: object, keys: QuoteKeys, place: Place, label: str = "") -> Quote:
    text = item if isinstance(item, str) else _value(item, keys.quote)
    start = _value(item, keys.start)
    label = string_at(label or _value(item, keys.label) or "", keys.label[0], place)
    if not isinstance(text, str) or not text.strip():
        found = text if isinstance(item, dict) else item
        raise place.unexpected(found, "a string to look for", field=keys.quote[0])
    more = bool(_value(item, ("attributes",)))
    return Quote(text, label, start if type(start) is int else None, _read_score(item, keys), more)


def _read_end(item: object, paths: Sequence[str], keys: QuoteKeys, place: Place) -> Quote | int:
    end = _value(item, paths)
    # Of the head and tail themselves a quote says what they are, which the entities say already.
    return end if type(end) is int else _read_quote(end, keys, place)._replace(label="")


def _read_score(item: object, keys: QuoteKeys) -> float | None:
    score = _value(item, keys.score)
    return float(score) if isinstance(score, int | float) and 0 <= score <= 1 else None


def _value(value: object, paths: Sequence[str]) -> Any:
    """What stands under the first of some keys that is there."""
    for path in paths:
        if path == _ITSELF:
            return [value]
        found: Any = value
        for part in path.split("."):
            if isinstance(found, list):
                found = {str(at): item for at, item in enumerate(found)}
            found = found.get(part) if isinstance(found, dict) else None
        if found is not None:
            return found
    return None


@dataclass(slots=True)
class LocatedQuotes:
    """Suggests the quotes of each document at their places.

    Attributes:
        labels: The labels of the project by those of the quotes; what has another one is left out.
        every: Whether a quote is meant wherever it stands.
        records: What was said, by the hash of the text.
        fits: How many quotes were located, by how they stand there.
        missing: Quotes and relations that could not be located, each with its document.
        unread: How many quotes have attributes.
    """

    labels: Mapping[str, str]
    every: bool
    records: dict[str, list[QuotedRecord]] = field(default_factory=dict)
    fits: Counter[str] = field(default_factory=Counter)
    missing: list[str] = field(default_factory=list)
    unread: int = 0

    def unknown_labels(self) -> Counter[str]:
        """The labels that are left out, with how many quotes and relations have each."""
        said = [record for records in self.records.values() for record in records]
        found = Counter(
            quote.label for quotes in said for group in quotes.groups for quote in group
        )
        found.update(pair.label for quotes in said for pair in quotes.pairs)
        return Counter({label: n for label, n in found.items() if label not in self.labels})

    def __call__(self, documents: Sequence[Document]) -> Iterator[Annotations]:
        """What was located in each document."""
        for document in documents:
            places = _Places(document, self)
            for record in self.records[document.text_sha256]:
                places.add(record)
            yield Annotations(tuple(places.entities.values()), tuple(places.relations.values()))


class _Places:
    """The mentions of one document that quotes mean."""

    def __init__(self, document: Document, quotes: LocatedQuotes) -> None:
        sentences = [document.tokens.char_span(sentence) for sentence in document.tokens.sentences]
        self._finder = QuoteFinder(document.text, sentences)
        self._document = document
        self._quotes = quotes
        self._by_name: dict[str, dict[Span, Entity]] = {}
        self._source = ""
        self.entities: dict[tuple[Span, str], Entity] = {}
        self.relations: dict[tuple[str, str, str], Relation] = {}

    def add(self, record: QuotedRecord) -> None:
        """Locate what a record says."""
        self._source = source_of(record.place.path)
        labels = self._quotes.labels
        numbered: list[list[Entity]] = []
        for group in record.groups:
            cursor = 0
            for quote in group:
                self._quotes.unread += quote.attributes
                is_meant = quote.text and quote.label in labels
                found = self._locate(quote, cursor) if is_meant else []
                cursor = found[0].span.char_start if found else cursor
                numbered.append(found)
        for head, tail, label, score in record.pairs:
            if label not in labels:
                continue
            heads, tails = self._ends(head, numbered), self._ends(tail, numbered)
            pairs = [(one, other) for one in heads for other in tails if one is not other]
            if not pairs:
                named = (
                    repr(end) if isinstance(end, int) else quoted(end.text) for end in (head, tail)
                )
                self._miss(f"{label!r} from {' to '.join(named)} is not in the text")
                continue
            # Of a name that stands in several places, the one next to the other is meant.
            first, second = min(
                pairs, key=lambda ends: abs(ends[0].span.char_start - ends[1].span.char_start)
            )
            made = Relation(
                new_id(), first.id, second.id, labels[label], score, State.UNDECIDED, self._source
            )
            self.relations.setdefault((first.id, second.id, made.label), made)

    def _locate(self, quote: Quote, cursor: int = 0) -> list[Entity]:
        """The mentions that a quote means, which are mentions now; none is noted."""
        text, start, every = quote.text, quote.start, self._quotes.every
        used = self._by_name.setdefault(self._name(text), {})
        given = (
            Span(start, start + len(text)) if text and start is not None and start >= 0 else None
        )
        if given and given.of(self._document.text) == text and not every:
            places = [Found(given, Fit.EXACT)]
        else:
            places = self._finder.find(text)
        if not places:
            is_part = self._finder.cuts_words(text)
            where = (
                "stands in the text as a part of words only" if is_part else "is not in the text"
            )
            self._miss(f"{quoted(text)} {where}")
        elif not every:

            def order(place: Found) -> tuple[int, ...]:
                at = place.span.char_start
                if start is not None:
                    return (abs(at - start),)
                # Each place once, as written before as normalised, and on from the quote before.
                return place.span in used, place.fit is not Fit.EXACT, at < cursor, at

            places = [min(places, key=order)]
        found = []
        label = self._quotes.labels[quote.label]
        for span, fit in places:
            self._quotes.fits[fit.value] += 1
            new = Entity(new_id(), (span,), label, quote.score, State.UNDECIDED, self._source)
            found.append(self.entities.setdefault((span, label), new))
            used[span] = found[-1]
        return found

    def _ends(self, end: Quote | int, numbered: Sequence[list[Entity]]) -> list[Entity]:
        """What may be the head or tail of a relation; a quote that is no entity yet becomes one without a label."""
        if isinstance(end, int):
            return numbered[end] if 0 <= end < len(numbered) else []
        known, start = self._by_name.get(self._name(end.text), {}), end.start
        if known and start is not None:
            return [known[min(known, key=lambda span: abs(span.char_start - start))]]
        return list(known.values()) or self._locate(end)

    def _miss(self, what: str) -> None:
        self._quotes.missing.append(f"{self._document.doc_key}: {what}")

    def _name(self, quote: str) -> str:
        """What quotes of the same words have in common."""
        return fold(quote[: 2 * len(self._document.text)]).text.lower()
