"""Differences in words: how two sides differ, and what each of them says."""

from __future__ import annotations

from collections.abc import Collection

from sciextract.documents.annotations import Cluster
from sciextract.documents.document import AnnotatedDocument
from sciextract.metrics.differences import Difference, DifferenceKind, Layer
from sciextract.metrics.sides import Said
from sciextract_app.presenter.words import named

NOTHING = "nothing"
ONLY_HERE, ONLY_THERE, OTHER_CLUSTER = "only here", "only there", "other cluster"
_LAYERS = {Layer.ENTITY: "mention", Layer.RELATION: "relation", Layer.LINK: "same thing"}


def layer_word(difference: Difference) -> str:
    """What kind of item it is about."""
    return _LAYERS[difference.layer]


def kind_words(difference: Difference, mine: AnnotatedDocument, theirs: AnnotatedDocument) -> str:
    """How the two sides differ."""
    first, second = difference.first, difference.second
    if difference.layer is Layer.LINK:
        return _link_kind(difference, mine, theirs)
    if first is None or second is None:
        return ONLY_THERE if first is None else ONLY_HERE
    parts = [] if first.label == second.label else ["type"]
    if difference.kind is DifferenceKind.OTHER_BOUNDARIES:
        parts.insert(0, "edges" if difference.layer is Layer.ENTITY else "mentions")
    elif difference.layer is Layer.RELATION and first.fragments != second.fragments:
        parts.insert(0, "direction")
    return f"other {' and '.join(parts)}"


def _link_kind(difference: Difference, mine: AnnotatedDocument, theirs: AnnotatedDocument) -> str:
    """Elsewhere, if the later mention has another company on the side that does not have the link."""
    said, other, only = difference.first, theirs, ONLY_HERE
    if said is None:
        said, other, only = difference.second, mine, ONLY_THERE
    return OTHER_CLUSTER if said and company(said, other) is not None else only


def company(said: Said, side: AnnotatedDocument) -> Cluster | None:
    """The cluster in which a side has the later mention of a link."""
    here = {each.id for each in side.annotations.entities if each.fragments == said.fragments[-1]}
    clusters = side.annotations.clusters
    return next((each for each in clusters if here & {*each.mentions}), None)


def said_words(said: Said | None, layer: Layer, text: str, symmetric: Collection[str] = ()) -> str:
    """What a side says, in one line."""
    if said is None:
        return NOTHING
    strings = [named(" ".join(span.of(text) for span in each)) for each in said.fragments]
    if layer is Layer.ENTITY:
        return f"{strings[0]} {said.label}"
    if layer is Layer.LINK:
        return f"{strings[1]} = {strings[0]}"
    arrow = "──" if said.label in symmetric else "─▶"
    return f"{strings[0]} {said.label} {arrow} {strings[1]}"


def cluster_words(cluster: Cluster, letter: str, side: AnnotatedDocument) -> str:
    """A cluster with all its mentions."""
    text = side.document.text
    names = [named(side.annotations.entity(each).text_of(text), 24) for each in cluster.mentions]
    return f"cluster {letter}: {', '.join(names)}"


def source_words(source: str) -> str:
    """A source as people call it.

    >>> source_words("import:ben.sciextract"), source_words("model:sci@ef5c7146/01M7YEN41Y")
    ('ben.sciextract', 'model sci@ef5c7146')
    """
    kind, _, name = source.partition(":")
    return f"model {name.partition('/')[0]}" if kind == "model" else name
