"""Where tokens and annotations live on a spaCy Doc: span groups, entities, and the extensions of Doc and Span.

spaCy keeps one space as a property of the token before it and makes tokens of all other white space;
sciextract leaves white space and control characters between tokens.

Relations, clusters and scores are kept in ``doc.user_data["sciextract"]`` as plain strings and numbers, by the name of the
span group, so that ``Doc.to_bytes``, ``DocBin`` and worker processes carry them and several components do not overwrite each
other; the extensions build typed objects from it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count, pairwise, starmap
from typing import Any

from sciextract.documents.annotations import Annotations, Entity, State, TokenRange
from sciextract.documents.annotations import Span as CharSpan
from sciextract.documents.document import AnnotatedDocument, TokenTable
from sciextract.errors import FormatError, MissingExtraError, UsageError
from sciextract.formats.base import Source
from sciextract.formats.exchange import encode
from sciextract.formats.json_values import parse_object
from sciextract.formats.jsonl import parse_record
from sciextract.text.analyse import split_sentences
from sciextract.text.characters import BLANK

try:
    import spacy
    from spacy.tokens import Doc, Span
    from spacy.vocab import Vocab
except ModuleNotFoundError as error:
    raise MissingExtraError("the spaCy bridge", "spacy") from error

SPAN_KEY = "sc"
"""The span group that displaCy and spaCy's own span categoriser use."""

CLUSTER_PREFIX = "coref_clusters"
"""Start of the names of span groups that hold a cluster each, as in spacy-experimental."""

USER_DATA = "sciextract"
"""Key in ``doc.user_data``."""

ATTRIBUTES = ("relations", "clusters", "score")
"""Names of the extensions."""

SpanKey = tuple[int, int, str]
"""Start and end character of a span, and its label."""


_BLANK_ONLY = re.compile(f"[{BLANK}]*")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class AlignedTokens:
    """The tokens of a Doc that are tokens for sciextract, too.

    Attributes:
        doc: The Doc.
        table: Character ranges of its tokens without white space and control characters.
        indices: Index in the Doc of each token of the table.
    """

    doc: Doc
    table: TokenTable
    indices: tuple[int, ...]

    def doc_span(self, span: CharSpan, label: str) -> Span | None:
        """The spaCy span over every token that a character range touches; ``None`` if it touches none."""
        tokens = self.table.covering(span)
        if tokens is None:
            return None
        first, last = self.indices[tokens.token_start], self.indices[tokens.token_end - 1]
        return Span(self.doc, first, last + 1, label=label)


def aligned_tokens(doc: Doc) -> AlignedTokens:
    """A Doc's own tokens, and its own sentences; where it has none, sciextract's splitter finds them."""
    kept = [token for token in doc if not _BLANK_ONLY.fullmatch(token.text)]
    spans = tuple(CharSpan(token.idx, token.idx + len(token.text)) for token in kept)
    indices = tuple(token.i for token in kept)
    if doc.has_annotation("SENT_START"):
        # Sentences of white space only are left out.
        starts = {bisect_left(indices, sentence.start) for sentence in doc.sents}
        edges = sorted({*starts, len(indices)})
        sentences = tuple(TokenRange(start, end) for start, end in pairwise(edges))
    else:
        sentences = split_sentences(doc.text, spans)
    return AlignedTokens(doc, TokenTable(spans, sentences), indices)


def new_doc(vocab: Vocab, text: str, table: TokenTable) -> Doc:
    """A Doc with exactly this text, these tokens and sentences.

    Raises:
        FormatError: The text has a lone surrogate, which spaCy cannot hold.
    """
    refuse_surrogates(text, "the text")
    words: list[str] = []
    spaces: list[bool] = []
    sent_starts: list[bool | int | None] = []

    def add(word: str, starts_sentence: bool) -> None:
        words.append(word)
        spaces.append(False)
        sent_starts.append(starts_sentence)

    starts = {sentence.token_start for sentence in table.sentences}
    position = 0
    end = CharSpan(len(text), len(text))
    for index, token in enumerate((*table.spans, end)):
        gap = text[position : token.char_start]
        # One space belongs to the token before it, all other white space is a token of its own.
        if words and gap.startswith(" "):
            spaces[-1] = True
            gap = gap[1:]
        if gap:
            add(gap, starts_sentence=not words)
        # White space at the start of the text opens the first sentence in place of its first token.
        if token is not end:
            add(token.of(text), index in starts if index else not words)
        position = token.char_end
    return Doc(vocab, words=words, spaces=spaces, sent_starts=sent_starts)


def refuse_surrogates(string: str, what: str) -> None:
    """Checks that spaCy can hold a string.

    Raises:
        FormatError: It has a lone surrogate.
    """
    found = _LONE_SURROGATE.search(string)
    if found:
        raise FormatError(
            f"{what} has the lone surrogate U+{ord(found[0]):04X} at character {found.start()}, "
            "which spaCy cannot hold",
            hint='replace it first: text.encode("utf-8", "replace").decode("utf-8")',
        )


@dataclass(frozen=True, slots=True)
class DocRelation:
    """A directed relation between two spans of a Doc.

    Attributes:
        score: Probability (0 to 1), ``None`` for relations no model made.
    """

    head: Span
    tail: Span
    label: str
    score: float | None


@dataclass(frozen=True, slots=True)
class DocCluster:
    """Spans of a Doc, in text order, that mean the same thing.

    Attributes:
        score: Mean probability of the mentions, ``None`` for clusters no model made.
        mention_scores: Per mention the probability of its best link, aligned with ``mentions``, ``None`` where a
            person put it there; empty for clusters no model made.
    """

    mentions: tuple[Span, ...]
    score: float | None
    mention_scores: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class LayerOptions:
    """Where annotations go on a Doc.

    Attributes:
        span_key: Name of the span group that holds all entities.
        set_ents: Whether ``doc.ents`` gets a subset without overlap.
        overwrite_ents: Whether that subset replaces entities that it overlaps in ``doc.ents``; else those stay.
        cluster_prefix: Cluster 1 goes to the span group ``PREFIX_1``, and so on; empty for no such groups.
        attributes: Names of the extensions that show these annotations: relations, clusters, scores.
    """

    span_key: str = SPAN_KEY
    set_ents: bool = True
    overwrite_ents: bool = False
    cluster_prefix: str = CLUSTER_PREFIX
    attributes: tuple[str, str, str] = ATTRIBUTES


def put_layers(
    tokens: AlignedTokens, annotated: AnnotatedDocument, options: LayerOptions | None = None
) -> None:
    """Puts annotations on a Doc; span groups of the same names are replaced.

    Args:
        tokens: The Doc, which has the annotated document's text.
        annotated: What to put there; rejected items are kept but not shown.
        options: Where it goes.

    Raises:
        FormatError: A label has a lone surrogate, which spaCy cannot hold.
    """
    options = options or LayerOptions()
    doc, shown = tokens.doc, list(_visible(tokens, annotated.annotations.entities))
    doc.spans[options.span_key] = [span for _, span in shown]
    if options.set_ents:
        # doc.ents cannot overlap: the longest first, then the most probable; what the Doc has already goes before.
        ranked = sorted(
            ((entity, span) for entity, span in shown if entity.label),
            key=lambda pair: (pair[1].start - pair[1].end, -(pair[0].score or 0.0), pair[1].start),
        )
        taken: set[int] = set()
        chosen: list[Span] = []
        own = [span for _, span in ranked]
        for span in [*own, *doc.ents] if options.overwrite_ents else [*doc.ents, *own]:
            indices = range(span.start, span.end)
            if taken.isdisjoint(indices):
                taken.update(indices)
                chosen.append(span)
        doc.ents = sorted(chosen, key=lambda span: span.start)
    others = {key: stored for key, stored in _read_stored(doc).items() if key != options.span_key}
    theirs = {group for stored in others.values() for group in stored["cluster_groups"]}
    groups: list[str] = []
    if prefix := options.cluster_prefix:
        for key in set(doc.spans) - theirs:
            if re.fullmatch(f"{re.escape(prefix)}_[0-9]+", key):
                del doc.spans[key]
        spans = {entity.id: span for entity, span in shown}
        # Another component may have taken numbers of the same prefix.
        free = (f"{prefix}_{number}" for number in count(1) if f"{prefix}_{number}" not in theirs)
        for cluster in _doc_clusters(annotated.annotations, spans):
            groups.append(next(free))
            doc.spans[groups[-1]] = list(cluster.mentions)
    scores = {_score_key(span): entity.score for entity, span in reversed(shown)}
    # The record is lossless, but for the tokens: the Doc has them, unless their forms differ.
    document = annotated.document
    if document.tokens.forms is None:
        document = replace(document, tokens=TokenTable((), ()))
    doc.user_data[USER_DATA] = others | {
        options.span_key: {
            "record": encode(replace(annotated, document=document), candidates=True),
            "cluster_groups": groups,
            "attributes": list(options.attributes),
            "scores": scores,
        }
    }


def _read_stored(doc: Doc) -> dict[str, Any]:
    """What components put on a Doc, by span group."""
    found: dict[str, Any] = doc.user_data.get(USER_DATA, {})
    return found


def _shown_as(doc: Doc, name: str) -> list[str]:
    """Span groups of the components that an extension shows; of the only one under any name."""
    stored = _read_stored(doc)
    return [key for key, data in stored.items() if len(stored) == 1 or name in data["attributes"]]


def stored_annotations(doc: Doc, span_key: str) -> AnnotatedDocument | None:
    """What :func:`put_layers` put on a Doc with a span group, or the only annotations that it put there.

    ``None`` where it put none, or for another text. The token table is empty unless the tokens have forms of their own.
    """
    stored = _read_stored(doc)
    if span_key not in stored and len(stored) != 1:
        return None
    data = stored.get(span_key) or next(iter(stored.values()))
    record = parse_record(parse_object(data["record"], USER_DATA, 1), Source(USER_DATA), 1)
    return record if record.document.text == doc.text else None


def stored_span_key(doc: Doc) -> str:
    """The span group that :func:`put_layers` filled first."""
    return next(iter(_read_stored(doc)), SPAN_KEY)


def span_keys(doc: Doc, span_key: str) -> Counter[SpanKey]:
    """How often each range and label occurs in a span group; in ``doc.ents`` where there is no such group."""
    spans: Iterable[Span] = doc.spans.get(span_key, doc.ents)
    return Counter((span.start_char, span.end_char, span.label_) for span in spans)


def visible_keys(tokens: AlignedTokens, entities: Iterable[Entity]) -> dict[str, SpanKey]:
    """The range and label under which the Doc shows each entity (id) that it can show."""
    shown = ((entity.id, span) for entity, span in _visible(tokens, entities))
    return {item_id: (span.start_char, span.end_char, span.label_) for item_id, span in shown}


def _visible(tokens: AlignedTokens, entities: Iterable[Entity]) -> Iterator[tuple[Entity, Span]]:
    for entity in entities:
        if entity.state is State.REJECTED:
            continue
        refuse_surrogates(entity.label, f"the label {entity.label!r}")
        span = tokens.doc_span(entity.span, entity.label)
        if span is not None:
            yield entity, span


def _score_key(span: Span) -> str:
    return f"{span.start_char}:{span.end_char}:{span.label_}"


def _score(name: str, span: Span) -> float | None:
    """The extension ``score``: the probability of the span's label, if sciextract made the span."""
    key, stored = _score_key(span), _read_stored(span.doc)
    found = (stored[group]["scores"].get(key) for group in _shown_as(span.doc, name))
    return next((score for score in found if score is not None), None)


def _relations(name: str, doc: Doc) -> tuple[DocRelation, ...]:
    """The extension ``relations``: the relations whose head and tail the Doc shows."""
    return tuple(
        DocRelation(spans[link.head], spans[link.tail], link.label, link.score)
        for annotations, spans in _annotations_and_spans(name, doc)
        for link in annotations.relations
        if link.state is not State.REJECTED and link.head in spans and link.tail in spans
    )


def _clusters(name: str, doc: Doc) -> tuple[DocCluster, ...]:
    """The extension ``clusters``."""
    found = _annotations_and_spans(name, doc)
    return tuple(chain.from_iterable(starmap(_doc_clusters, found)))


def _doc_clusters(annotations: Annotations, spans: Mapping[str, Span]) -> tuple[DocCluster, ...]:
    """The clusters that are not rejected, with the mentions (ids) that the Doc shows as ``spans``."""
    clusters = []
    for cluster in annotations.clusters:
        shown = cluster.only(spans.keys() & cluster.live_mentions)
        if cluster.state is not State.REJECTED and shown.mentions:
            mentions = tuple(spans[mention] for mention in shown.mentions)
            clusters.append(DocCluster(mentions, cluster.score, shown.mention_scores))
    return tuple(clusters)


def _annotations_and_spans(name: str, doc: Doc) -> Iterator[tuple[Annotations, dict[str, Span]]]:
    for group in _shown_as(doc, name):
        if (stored := stored_annotations(doc, group)) is not None:
            shown = _visible(aligned_tokens(doc), stored.annotations.entities)
            yield stored.annotations, {entity.id: span for entity, span in shown}


def register_extensions(
    relations: str = ATTRIBUTES[0], clusters: str = ATTRIBUTES[1], score: str = ATTRIBUTES[2]
) -> None:
    """Registers the extensions; the component does it when it is made, importing this module does not.

    Args:
        relations: Name on Docs: ``doc._.relations``; none is registered where a name is empty.
        clusters: Name on Docs.
        score: Name on Spans.

    Raises:
        UsageError: Another library has registered such a name; nothing was registered.
    """
    wanted: list[tuple[type[Doc | Span], str, Callable[..., object]]] = [
        *((Doc, relations, _relations), (Doc, clusters, _clusters), (Span, score, _score))
    ]
    named = [extension for extension in wanted if extension[1]]
    for kind, name, getter in named:
        taken = kind.get_extension(name)[2] if kind.has_extension(name) else partial(getter)
        if getattr(taken, "func", None) is not getter:
            option = f"{getter.__name__[1:]}_attr"
            problem = f"{kind.__name__.lower()}._.{name} is already an extension of another library"
            config = f'config={{"{option}": "sciextract_{name}"}}'
            raise UsageError(problem, f'choose a name: nlp.add_pipe("sciextract", {config})')
    for kind, name, getter in named:
        kind.set_extension(name, getter=partial(getter, name), force=True)


def blank_with_ruler() -> tuple[Any, Any]:
    """A blank English pipeline and its entity ruler, which matches patterns that are given to it."""
    pipeline = spacy.blank("en")
    return pipeline, pipeline.add_pipe("entity_ruler", config={"validate": True})
