"""What a table needs of each abstract: its things by name, what relates them, the sentences, and what was looked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from sciextract.documents.annotations import (
    Attribute,
    Entity,
    Layer,
    Relation,
    Span,
    State,
)
from sciextract.documents.bibliography import described
from sciextract.documents.document import AnnotatedDocument, ModelId
from sciextract.documents.project_state import DecidedItems
from sciextract.errors import UsageError
from sciextract.graph.acronyms import find_expansions
from sciextract.graph.extraction import concepts_of
from sciextract.inference.held_out import HeldOut, read_held_out
from sciextract.inference.promise import keepable_promise, least_score
from sciextract.inference.settings import ATTRIBUTE, PROMISED
from sciextract.store import Project
from sciextract.store.document_state import WITH_UNDECIDED
from sciextract.store.rows import IN_VIEW, ProgressRow, attribute_name, covered_name
from sciextract.store.selection import Selection
from sciextract.store.travelling import state_of
from sciextract.workflows.models.registry import known_models

if TYPE_CHECKING:
    from sciextract.learning.attributes import AttributeHeads


class Standing(StrEnum):
    """What is behind a cell, the surest first; of an empty one, whether anybody has looked."""

    DECIDED = "decided"
    PROMISED = "promised"
    UNDECIDED = "undecided"
    NONE = "empty"
    UNKNOWN = "not looked at"


class Mention(NamedTuple):
    """A mention.

    Attributes:
        entity: The entity.
        words: Its words, on one line.
        name: What it means, by its cluster.
        key: The normal form of that, or of its own words.
        sentence: Where it stands.
        standing: What is behind it.
    """

    entity: Entity
    words: str
    name: str
    key: str
    sentence: str
    standing: Standing


class Link(NamedTuple):
    """A relation between two mentions, with the sentences that both stand in."""

    relation: Relation
    head: Mention
    tail: Mention
    sentence: str
    standing: Standing


class PaperFacts(NamedTuple):
    """An abstract as a table shows it.

    Attributes:
        key: Its name.
        about: Bibliographic fields by their first names in :data:`~sciextract.documents.bibliography.NAMES`.
        text: Its text.
        things: Mentions by what they mean, those of one cluster together.
        links: Relations.
        looked_for: The types that somebody has looked for, as coverage names them; ``None`` for all.
        left_out: Undecided items that were not asked for.
        decisions: Who decided what, where that is known.
        attributes: By id of the mention or relation, empty for the abstract, and by label: value, and what is behind it.
    """

    key: str
    about: dict[str, Any]
    text: str
    things: list[tuple[Mention, ...]]
    links: list[Link]
    looked_for: frozenset[str] | None
    left_out: int
    decisions: tuple[DecidedItems, ...]
    attributes: dict[str, dict[str, tuple[str, Standing]]]

    def has_said(self, label: str) -> bool:
        """Whether an empty cell of that attribute means that nothing is to be said."""
        return self.looked_for is None or attribute_name(label) in self.looked_for

    def mentions(self) -> Iterator[Mention]:
        """All mentions, those that mean the same thing together."""
        return chain.from_iterable(self.things)

    def has_looked_for(self, layer: Layer, label: str) -> bool:
        """Whether an empty cell of that type means that there is none."""
        return self.looked_for is None or covered_name(layer, label) in self.looked_for


@dataclass(slots=True)
class Wanted:
    """Which items a table takes beside decided ones.

    Attributes:
        undecided: All undecided ones.
        promise: The least precision by task of those that are taken.
        confidence: With which that precision shall hold.
        by_label: Whether for each label by itself.
    """

    undecided: bool = False
    promise: Mapping[str, float] = field(default_factory=dict)
    confidence: float = 0.9
    by_label: bool = False
    _least: dict[str, dict[tuple[str, str], float]] = field(default_factory=dict)

    def standing_of(self, task: str, item: Entity | Relation | Attribute, model: str) -> Standing:
        """What is behind an item; ``model`` is that of its document where its source names none."""
        if item.state is not State.UNDECIDED:
            return Standing.DECIDED
        if task not in self.promise:
            return Standing.UNDECIDED
        if task == ATTRIBUTE:
            model = ATTRIBUTE
        elif item.source.startswith("model:"):
            model = item.source.removeprefix("model:").partition("/")[0]
        if model not in self._least:
            self._least[model] = self._thresholds_of(model)
        promised = (item.score or 0.0) >= least_score(self._least[model], task, item.label)
        return Standing.PROMISED if promised else Standing.UNDECIDED

    def learn_attributes(self, project: Project) -> AttributeHeads | None:
        """What attributes are promised by: what the finished abstracts teach; ``None`` where none is promised.

        Raises:
            UsageError: They teach none.
            NoPromiseError: It cannot be kept.
        """
        if ATTRIBUTE not in self.promise:
            return None
        from sciextract.inference.adapter.states import EncoderStates
        from sciextract.workflows.learn import base_model, learn_attributes

        states = EncoderStates(base_model(project)[0])
        if (heads := learn_attributes(project, states)) is None:
            raise UsageError(
                "the schema has no attributes to promise", "promise entity or relation"
            )
        self._least[ATTRIBUTE] = self._thresholds_by(heads.held_out(), {ATTRIBUTE})
        return heads

    def _thresholds_by(self, held: HeldOut, tasks: Collection[str]) -> dict[tuple[str, str], float]:
        wanted = {task: least for task, least in self.promise.items() if task in tasks}
        promise = keepable_promise(held, wanted, self.confidence, self.by_label)
        return {(task, label): least for task, label, least in promise.thresholds}

    def _thresholds_of(self, model: str) -> dict[tuple[str, str], float]:
        if model == ATTRIBUTE:
            problem = "attributes of files cannot be promised: what teaches them is a project"
            raise UsageError(problem, "give the project, or --undecided")
        for known in known_models():
            named = ModelId(known.name, known.hash)
            if str(named).partition("@")[2] == model.partition("@")[2]:
                held = read_held_out(named, known.usable().folder)
                return self._thresholds_by(held, PROMISED)
        problem = f"no precision can be promised of what {model or 'an unknown model'} predicted: it is not among the models here"
        raise UsageError(problem, "sciextract models list shows them; --undecided needs none")


def papers_of_project(
    project: Project, selection: Selection, wanted: Wanted, progress: Callable[[int, int], None]
) -> Iterator[PaperFacts]:
    """The abstracts of a project, in the order of import.

    Raises:
        UsageError: No such abstracts can be chosen, or no precision can be promised.
    """
    numbers, heads = selection.numbers(project), wanted.learn_attributes(project)
    for done, number in enumerate(numbers, start=1):
        found = project.document(number, WITH_UNDECIDED)
        if not wanted.undecided:
            clusters = project.document(number, IN_VIEW).annotations.clusters
            found = replace(found, annotations=replace(found.annotations, clusters=clusters))
        found = heads.rescored(found) if heads else found
        progress_row = project.document_state(number).progress or ProgressRow()
        decisions = state_of(project, number, IN_VIEW).decisions
        yield _facts_of(found, wanted, progress_row.looked_for, decisions)
        progress(done, len(numbers))


def paper_of_file(item: AnnotatedDocument, wanted: Wanted) -> PaperFacts:
    """An abstract of an annotated file.

    Raises:
        UsageError: No precision can be promised.
    """
    state, own = item.project_state, item.annotations
    if not wanted.undecided:
        decided = [cluster for cluster in own.clusters if cluster.state is not State.UNDECIDED]
        item = replace(item, annotations=replace(own, clusters=tuple(decided)))
    covered = None if item.done and not state else frozenset(state.covered if state else ())
    return _facts_of(item, wanted, covered, state.decisions if state else ())


def _facts_of(
    found: AnnotatedDocument, wanted: Wanted, covered: frozenset[str] | None, decisions: tuple[DecidedItems, ...]
) -> PaperFacts:  # fmt: skip
    document, own = found.document, found.annotations.in_states(WITH_UNDECIDED)
    if found.done is None and {entity.state for entity in own.entities} == {State.IMPORTED}:
        covered = None  # what came with annotations, none of them a model's, was looked through
    model = str(found.model or "")
    standing = {
        item.id: wanted.standing_of(task, item, model)
        for task, items in (("entity", own.entities), ("relation", own.relations))
        for item in items
    }
    out = {id for id, behind in standing.items() if behind is Standing.UNDECIDED}
    kept = standing.keys() if wanted.undecided else standing.keys() - out

    def sentence_around(span: Span) -> str:
        return _on_one_line(document.tokens.sentences_around(span).of(document.text))

    things, mentions = [], dict[str, Mention]()
    read = replace(found, annotations=own.among(kept))
    for concept in concepts_of(read, frozenset(), find_expansions(document.text)):
        surfaces = Counter(named.surface for named in concept.mentions if named.key == concept.key)
        name = surfaces.most_common(1)[0][0]
        for entity, *_ in concept.mentions:
            words, sentence = entity.text_of(document.text), sentence_around(entity.span)
            named = _on_one_line(words), name, concept.key or name.casefold()
            mentions[entity.id] = Mention(entity, *named, sentence, standing[entity.id])
        things.append(tuple(mentions[named.entity.id] for named in concept.mentions))
    links = []
    for relation in own.relations:
        if {relation.id, relation.head, relation.tail} <= kept:
            head, tail = mentions[relation.head], mentions[relation.tail]
            first, last = sorted((head.entity.span, tail.entity.span))
            both = Span(first.char_start, max(first.char_end, last.char_end))
            ends = head, tail, sentence_around(both)
            links.append(Link(relation, *ends, standing[relation.id]))
    said: dict[str, dict[str, tuple[str, Standing]]] = {}
    for attribute in own.attributes:
        behind = wanted.standing_of("attribute", attribute, model)
        if behind is Standing.UNDECIDED and not wanted.undecided:
            out.add(attribute.id)
        elif attribute.target in ("", *kept):
            value = _on_one_line(attribute.value) or "yes"
            said.setdefault(attribute.target, {})[attribute.label] = value, behind
    about = document.doc_key, described(document.fields), document.text
    left_out = 0 if wanted.undecided else len(out)
    return PaperFacts(*about, things, links, covered, left_out, decisions, said)


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
