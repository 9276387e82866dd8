"""Losses of the DyGIE++ network, and from its scores to annotations that the one scorer reads."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from research.dygie.examples import (
    Ints,
    SentenceBatch,
    collate_sentences,
    sentence_examples,
)
from research.dygie.network import Antecedents, DocumentScores, DygieNetwork
from sciextract.documents.annotations import (
    Annotations,
    Cluster,
    Entity,
    Relation,
    TokenRange,
    stable_id,
)
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.inference.pipeline import Labels
from sciextract_trainer.build import SubwordRules
from sciextract_trainer.network.training_step import Losses, marginal_link_loss

SCORE_DIGITS = 4


class DygiePredictor:
    """Annotates documents with a DyGIE++ network.

    Args:
        network: The network; put into eval mode.
        labels: What its classes mean.
        rules: The encoder's tokenizer.
    """

    def __init__(self, network: DygieNetwork, labels: Labels, rules: SubwordRules) -> None:
        self._network = network.eval()
        self._labels = labels
        self._rules = rules

    @torch.inference_mode()
    def __call__(self, document: Document) -> AnnotatedDocument:
        """Predicts one document."""
        plain = AnnotatedDocument(document)
        subwords, limit = self._rules.encoder(), self._rules.limit
        for example in sentence_examples([plain], self._labels, subwords, limit):
            [scores] = self._network(collate_sentences([example], self._rules.pad))
            annotations = _Items(document, example.spans, self._labels).build(scores)
            return AnnotatedDocument(document, annotations)
        return plain


class _Items:
    """Builds the items of one document; an entity of each span that some task names."""

    def __init__(self, document: Document, spans: Ints, labels: Labels) -> None:
        self._document = document
        self._spans = spans
        self._labels = labels
        self._entities: dict[int, Entity] = {}

    def build(self, scores: DocumentScores) -> Annotations:
        """All items of all tasks."""
        for row, label, score in best_classes(scores.entities, self._labels.entities):
            self._entities[row] = self._entity(row, label, score)
        relations = self._relations(scores)
        clusters = self._clusters(scores.antecedents) if scores.antecedents else ()
        entities = tuple(self._entities[row] for row in sorted(self._entities))
        return Annotations(entities, relations, clusters)

    def _id(self, kind: str, *parts: object) -> str:
        return stable_id(kind, self._document.doc_key, *parts)

    def _entity(self, row: int, label: str, score: float | None) -> Entity:
        first, last = self._spans[row].tolist()
        span = self._document.tokens.char_span(TokenRange(first, last + 1))
        return Entity(self._id("entity", span.char_start, span.char_end), (span,), label, score)

    def _mention(self, row: int) -> str:
        """Id of the entity of a span, made without a label where the entity head predicts none."""
        if row not in self._entities:
            self._entities[row] = self._entity(row, "", None)
        return self._entities[row].id

    def _relations(self, scores: DocumentScores) -> tuple[Relation, ...]:
        pairs = scores.pairs.tolist()
        found = []
        for row, label, score in best_classes(scores.relations, self._labels.relations.labels):
            head, tail = (self._mention(span) for span in pairs[row])
            found.append(
                Relation(self._id("relation", head, tail, label), head, tail, label, score)
            )
        return tuple(found)

    def _clusters(self, antecedents: Antecedents) -> tuple[Cluster, ...]:
        spans = antecedents.mentions.tolist()
        found = []
        for cluster in best_clusters(antecedents):
            mentions = tuple(self._mention(spans[place]) for place in cluster)
            found.append(Cluster(self._id("cluster", *mentions), mentions))
        return tuple(found)


def best_classes(logits: Tensor, labels: tuple[str, ...]) -> list[tuple[int, str, float]]:
    """Row, label and probability of the rows (items, 1 + labels) whose best class is a label."""
    best = logits.argmax(dim=1)
    rows = best.nonzero()[:, 0]
    scores = torch.softmax(logits[rows], dim=1).amax(dim=1)
    named = zip(rows.tolist(), best[rows].tolist(), scores.tolist(), strict=True)
    return [(row, labels[label - 1], round(score, SCORE_DIGITS)) for row, label, score in named]


def best_clusters(antecedents: Antecedents) -> list[list[int]]:
    """Mentions (places, ascending) that best antecedents with a score above 0 connect; no singletons."""
    count = len(antecedents.mentions)
    table = antecedents.scores.new_full((count, count), float("-inf"))
    table[antecedents.links[:, 0], antecedents.links[:, 1]] = antecedents.scores
    scores, best = table.max(dim=1)
    cluster_of = list(range(count))
    for mention in (scores > 0).nonzero()[:, 0].tolist():
        cluster_of[mention] = cluster_of[int(best[mention])]
    members: dict[int, list[int]] = {}
    for mention, cluster in enumerate(cluster_of):
        members.setdefault(cluster, []).append(mention)
    return [mentions for mentions in members.values() if len(mentions) > 1]


def sentence_losses(network: DygieNetwork, batch: SentenceBatch) -> Losses:
    """Losses of all three tasks over one batch."""
    parts = []
    for scores, example in zip(network(batch), batch.examples, strict=True):
        targets, device = example.targets, scores.entities.device
        types = torch.from_numpy(targets.types).to(device)
        entity = cross_entropy(scores.entities, types, reduction="sum")
        wanted = relation_classes(scores.pairs, torch.from_numpy(targets.relations).to(device))
        relation = cross_entropy(scores.relations, wanted, reduction="sum")
        coreference, found = entity.new_zeros(()), scores.antecedents
        if found is not None:
            own = torch.from_numpy(targets.clusters).to(device)[found.mentions]
            late, early = own[found.links[:, 0]], own[found.links[:, 1]]
            gold = (late == early) & (late >= 0)
            coreference = marginal_link_loss(found.scores, found.links, gold, len(own))
        parts.append((entity, relation, coreference))
    entity, relation, coreference = torch.stack([torch.stack(part) for part in parts]).sum(0)
    return Losses(entity, relation, coreference)


def relation_classes(pairs: Tensor, relations: Tensor) -> Tensor:
    """Gold class of each pair (pairs,), 0 where ``relations`` (relations, 3) does not name it."""
    same = (pairs[:, None, :] == relations[None, :, :2]).all(dim=2)  # (pairs, relations)
    return (same * relations[:, 2]).sum(dim=1)
