"""Suggestions for a project before anything is corrected: from terms, patterns, a model of other labels, or a file.

Suggestions are undecided items. Those of one call are one event, so that one undo takes them back.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, State, new_id
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.schema import LabelSchema
from sciextract.documents.spans import Span
from sciextract.errors import FormatError, InputMissingError, MissingExtraError, UsageError
from sciextract.formats import BadRecord, read
from sciextract.inference.model_folder import AUTO, DEFAULT_MODEL, locate_model, open_folder
from sciextract.store import Layer, Project
from sciextract.store.events import SUGGESTIONS
from sciextract.store.ingest import BATCH
from sciextract.store.rows import Completeness
from sciextract.text.plurals import singular
from sciextract.workflows.annotate import Predictor
from sciextract.workflows.import_files import import_items, proposed, source_of
from sciextract.workflows.model_choice import ModelChoice, suited_to

_BATCH = 64
_LONGEST_TERM = 20
"""Words of the longest term that is looked for."""

_LONGEST_ACRONYM = 6

_NAMED = 5
"""Terms that a remark names."""

_WORD = re.compile(r"\w+|[^\w\s\-\u2010-\u2015]")
"""A word or a sign; hyphens and blanks separate words alike."""


class Suggester(Protocol):
    """Suggests annotations for documents; items name their own source."""

    def __call__(self, documents: Sequence[Document], /) -> Iterable[Annotations]:
        """One set of annotations for each document, in order."""


@dataclass(slots=True)
class SuggestReport:
    """What was suggested.

    Attributes:
        documents: Abstracts with new suggestions.
        items: New entities, relations and links by source.
        skipped: Abstracts whose entities are done; they get none.
        bad: Records of a file that could not be read.
        notes: What was left out, and why.
    """

    documents: int = 0
    items: Counter[str] = field(default_factory=Counter)
    skipped: int = 0
    bad: int = 0
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        return {
            "documents": self.documents,
            "items": dict(self.items),
            "skipped": self.skipped,
            "bad": self.bad,
            "notes": self.notes,
        }


@dataclass(frozen=True, slots=True)
class Sources:
    """What suggestions come from.

    Attributes:
        terms: CSV or TSV files of terms and labels.
        patterns: JSON Lines of patterns.
        labels: ``OLD=NEW,...``: a model's labels with those of the project; empty for none.
        spans: Whether a model's mentions without their labels are suggested.
        model: The model of these two; ``None`` for the default one, ``auto`` for the bundled one that fits the texts
            (and for mentions without labels the default one besides).
    """

    terms: Sequence[Path] = ()
    patterns: Sequence[Path] = ()
    labels: str = ""
    spans: bool = False
    model: str | None = None

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.terms or self.patterns or self.labels or self.spans)


def suggest_by(
    project: Project,
    sources: Sources,
    on_progress: Callable[[int, int], None] | None = None,
    at_a_time: int = BATCH,
) -> SuggestReport:
    """Suggest from lists, then from patterns, then from a model, see :func:`suggest`.

    Raises:
        InputMissingError: A file does not exist.
        FormatError: A file cannot be read.
        UsageError: A label is not in the schema, or not in the model.
        MissingExtraError: Patterns need spaCy.
        ModelNotFoundError: The model is not on this machine.
        ProjectError: The project cannot be written.
    """
    lists = [read_terms(path, project.schema) for path in sources.terms]
    notes = [
        f"{path}: terms with several labels left out ({len(terms.ambiguous):,}): "
        + ", ".join(sorted(terms.ambiguous)[:_NAMED])
        for path, terms in zip(sources.terms, lists, strict=True)
        if terms.ambiguous
    ]
    patterns = [Patterns(path, project.schema) for path in sources.patterns]
    report = suggest(
        project, [*lists, *patterns, *_models(project, sources)], on_progress, at_a_time
    )
    report.notes += notes
    return report


def _models(project: Project, sources: Sources) -> list[Suggester]:
    if not sources.labels and not sources.spans:
        return []
    wanted: dict[str, list[Mapping[str, str]]] = {}
    named = sources.model or DEFAULT_MODEL
    fitting = suited_to(project) if named == AUTO else named
    if sources.labels:
        wanted[fitting] = [label_map(sources.labels)]
    if sources.spans:  # every model finds mentions that the others miss
        for model in dict.fromkeys([fitting, DEFAULT_MODEL] if named == AUTO else [named]):
            wanted.setdefault(model, []).append({})
    predictors = {model: ModelChoice(model).load(project) for model in wanted}
    return [
        Mapped(predictors[model], each, project.schema)
        for model, maps in wanted.items()
        for each in maps
    ]


def suggest(
    project: Project,
    suggesters: Sequence[Suggester],
    on_progress: Callable[[int, int], None] | None = None,
    at_a_time: int = BATCH,
) -> SuggestReport:
    """Put suggestions into the abstracts whose entities are not done.

    A mention that the project has already is not suggested again, nor one that overlaps a decided or an
    earlier suggested mention.

    Args:
        project: Open for writing.
        suggesters: Earlier ones win where mentions overlap.
        on_progress: Called with abstracts done and abstracts in all.
        at_a_time: Documents a transaction. Whoever else writes waits for as long as one takes.

    Raises:
        ProjectError: The project cannot be written.
    """
    report = SuggestReport()
    numbers = [number for number in project.numbers() if _is_open(project, number)]
    report.skipped = len(project.numbers()) - len(numbers)

    def suggested() -> Iterator[AnnotatedDocument]:
        for start in range(0, len(numbers), _BATCH):
            states = [project.document_state(each) for each in numbers[start : start + _BATCH]]
            documents = [state.stored.document for state in states]
            of_each = zip(*(suggester(documents) for suggester in suggesters), strict=True)
            for state, document, found in zip(states, documents, of_each, strict=True):
                known = [row for row in state.entities if row.state is not State.REJECTED]
                taken = [span for row in known if row.in_view for span in row.fragments]
                same = {row.fragments for row in state.entities}
                annotations = _joined(found, same, taken)
                report.documents += bool(annotations.entities)
                report.items.update(_sources(annotations))
                if annotations.entities:
                    yield AnnotatedDocument(document, annotations)
            if on_progress:
                on_progress(start + len(states), len(numbers))

    import_items(project, SUGGESTIONS, suggested(), at_a_time=at_a_time)
    return report


def suggest_from(project: Project, files: Sequence[str], format_id: str | None) -> SuggestReport:
    """Import annotated files with every item undecided, whatever the files say of it.

    Raises:
        SchemaError: A label is not in the project's schema.
        InputMissingError: A path does not exist.
        FormatError: The only file is unusable.
    """
    report = SuggestReport()

    def items() -> Iterator[AnnotatedDocument | BadRecord]:
        for file in files:
            for item in read([file], format_id):
                if isinstance(item, BadRecord):
                    report.bad += 1
                    report.notes.append(str(item.error))
                    yield item
                else:
                    suggested = proposed(item, source_of(file))
                    annotations = suggested.annotations
                    report.documents += bool(annotations.entities)
                    report.items.update(_sources(annotations))
                    yield suggested

    import_items(project, SUGGESTIONS, items())
    return report


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
            self._add(term, label)
        for term in self.ambiguous:
            del self._labels[term]

    def _add(self, term: str, label: str) -> None:
        words = [each.casefold() for each in _WORD.findall(term)][:_LONGEST_TERM]
        if not words:
            return
        key = _key(words)
        exact = term if term.isupper() and len(term) <= _LONGEST_ACRONYM else ""
        if self._labels.setdefault(key, (label, exact))[0] != label:
            self.ambiguous.add(key)
        first = words[0] if len(words) > 1 else singular(words[0])
        self._longest[first] = max(len(words), self._longest.get(first, 0))

    def __call__(self, documents: Sequence[Document]) -> Iterator[Annotations]:
        """The terms of each document."""
        for document in documents:
            yield Annotations(tuple(self._found(document.text)))

    def _found(self, text: str) -> Iterator[Entity]:
        places = [match.span() for match in _WORD.finditer(text)]
        words = [text[start:end].casefold() for start, end in places]
        at = 0
        while at < len(words):
            length = self._match(text, words, places, at)
            if length:
                label = self._labels[_key(words[at : at + length])][0]
                span = Span(places[at][0], places[at + length - 1][1])
                yield Entity(new_id(), (span,), label, source=self._source)
            at += length or 1

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
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            return Terms(_rows(stream, path, schema), source_of(str(path)))
    except FileNotFoundError:
        raise InputMissingError(
            f"{path}: there is no such file", "give a CSV or TSV file"
        ) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"cannot be read: {error}", path=path, hint="save it as UTF-8") from error


def _rows(stream: Iterable[str], path: Path, schema: LabelSchema) -> Iterator[tuple[str, str]]:
    lines = iter(stream)
    first = next(lines, "")
    reader = csv.reader(chain([first], lines), delimiter="\t" if "\t" in first else ",")
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
        _check_label(label, schema.entity_labels, f"{path}:{reader.line_num}")
        yield term, label


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
            from sciextract.interop.spacy_tokens import blank_with_ruler

            self._nlp, self._ruler = blank_with_ruler()
        except MissingExtraError as error:
            raise MissingExtraError("--patterns", "spacy") from error
        self._path, self._source = path, source_of(str(path))
        for line, pattern in _patterns(path):
            label = pattern.get("label")
            _check_label(str(label), schema.entity_labels, f"{path}:{line}")
            try:
                self._ruler.add_patterns([{"label": label, "pattern": pattern["pattern"]}])
            except (ValueError, KeyError, TypeError) as error:
                problem = f"no pattern of spaCy: {' '.join(str(error).split())}"
                raise FormatError(problem, path=path, line=line, hint=_PATTERN_HINT) from error

    def __call__(self, documents: Sequence[Document]) -> Iterator[Annotations]:
        """The matches in each document."""
        for document in documents:
            try:
                spans = self._ruler(self._nlp.make_doc(document.text)).ents
            except ValueError as error:  # an attribute that needs a trained pipeline, such as POS
                problem = " ".join(str(error).split())
                raise FormatError(problem, path=self._path, hint=_PATTERN_HINT) from error
            yield Annotations(
                tuple(
                    Entity(
                        new_id(),
                        (Span(span.start_char, span.end_char),),
                        span.label_,
                        source=self._source,
                    )
                    for span in spans
                )
            )


_PATTERN_HINT = (
    'a line is {"label": "...", "pattern": "a phrase"} or {"label": "...", "pattern": [{"LOWER": "..."}]}; '
    "attributes of a blank pipeline only: ORTH, LOWER, REGEX, SHAPE, LENGTH, IS_DIGIT, OP, ..."
)


def _patterns(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except FileNotFoundError:
        raise InputMissingError(
            f"{path}: there is no such file", "give a JSON Lines file"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"cannot be read: {error}", path=path) from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            pattern = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"no JSON: {error}", path=path, line=number) from error
        if not isinstance(pattern, dict):
            raise FormatError("no JSON object", path=path, line=number, hint=_PATTERN_HINT)
        yield number, pattern


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
            _check_label(old, [*known.entities, *relations], f"--map {old}={new}", "model")
            allowed = schema.entity_labels if entities else schema.relation_labels
            _check_label(new, allowed, f"--map {old}={new}")
        self._predictor = predictor
        self._labels = labels
        self._coreference = schema.coreference

    def __call__(self, documents: Sequence[Document]) -> Iterator[Annotations]:
        """The predictions for each document."""
        for predicted in self._predictor.stream(documents):
            yield self._mapped(predicted.annotations)

    def _mapped(self, found: Annotations) -> Annotations:
        if not self._labels:
            bare = (replace(each, label="", alternatives=()) for each in found.entities)
            return Annotations(tuple(bare))
        entities = [
            replace(each, label=self._labels[each.label], alternatives=())
            for each in found.entities
            if each.label in self._labels
        ]
        relations = [
            replace(each, label=self._labels[each.label], alternatives=())
            for each in found.relations
            if each.label in self._labels
        ]
        clusters = found.clusters if self._coreference else ()
        return Annotations(tuple(entities), tuple(relations), clusters)


def fitting_labels(project: Project) -> tuple[str, tuple[str, ...]]:
    """The bundled model that fits a project's texts, and its labels.

    Raises:
        ModelNotFoundError: It is not on this machine.
        ModelDamagedError: It was changed.
    """
    name = suited_to(project)
    labels = open_folder(locate_model(name), hashes=False).config.labels
    return name, (*labels.entities, *labels.relations.labels)


def label_map(words: str) -> dict[str, str]:
    """The labels in ``OLD=NEW,OLD=NEW``.

    >>> label_map("Method=Technique, Material=Substance")
    {'Method': 'Technique', 'Material': 'Substance'}

    Raises:
        UsageError: A part is not a pair.
    """
    pairs = [part.partition("=") for part in words.split(",") if part.strip()]
    for old, equals, new in pairs:
        if not (old.strip() and equals and new.strip()):
            problem = f"--map: {old + equals + new!r} is not a pair of labels"
            raise UsageError(problem, "write OLD=NEW,OLD=NEW, e.g. Method=Technique")
    return {old.strip(): new.strip() for old, _, new in pairs}


def _check_label(label: str, allowed: Collection[str], place: str, owner: str = "schema") -> None:
    if label not in allowed:
        raise UsageError(
            f"{place}: the {owner} has no label {label!r}; it has {', '.join(allowed) or 'none'}",
            "correct the label, or create a project with a schema that has it: sciextract schema new",
        )


def _is_open(project: Project, number: int) -> bool:
    progress = project.document_state(number).progress
    return progress is None or getattr(progress, Layer.ENTITIES) is not Completeness.DONE


def _sources(found: Annotations) -> list[str]:
    """The source of each item."""
    items: list[Entity | Relation | Cluster] = [*found.entities, *found.relations, *found.clusters]
    return [each.source for each in items]


def _joined(
    found: Sequence[Annotations], same: Collection[tuple[Span, ...]], taken: Sequence[Span]
) -> Annotations:
    """What several suggesters found, without mentions that the document has or that overlap earlier ones."""
    entities: list[Entity] = []
    relations: list[Relation] = []
    clusters: list[Cluster] = []
    taken = list(taken)
    for each_set in found:
        fresh = [
            each
            for each in each_set.entities
            if each.fragments not in same
            and not any(span.overlaps(other) for span in each.fragments for other in taken)
        ]
        taken += [span for each in fresh for span in each.fragments]
        ids = {each.id for each in fresh}
        entities += fresh
        relations += [each for each in each_set.relations if {each.head, each.tail} <= ids]
        clusters += [each for each in each_set.clusters if ids.issuperset(each.mentions)]
    return Annotations(tuple(entities), tuple(relations), tuple(clusters))


def _key(words: Sequence[str]) -> str:
    return " ".join([*words[:-1], singular(words[-1])])
