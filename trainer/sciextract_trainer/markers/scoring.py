"""Relations between the mentions of a document, as a network with markers sees them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.inference.candidates import NO_PAIRS
from sciextract.inference.coreference import AntecedentScores
from sciextract.inference.mentions import Mentions
from sciextract.inference.pipeline import Labels, RawPrediction
from sciextract.inference.relations import ScoredPairs, combine_directions, predict_relations
from sciextract.inference.results import annotated, given_of
from sciextract_trainer.build import PieceRules
from sciextract_trainer.data.examples import Ints
from sciextract_trainer.evaluate import DEV_SETTINGS, BetweenGiven
from sciextract_trainer.hardware.device import moved
from sciextract_trainer.markers.batches import MarkedExample, collate_marked
from sciextract_trainer.markers.network import MarkerNetwork
from sciextract_trainer.markers.texts import marked_texts, types_at

TEXTS_OF_A_CALL = 16


class MarkerScorer:
    """A trained network that scores pairs of mentions.

    Args:
        network: The network.
        labels: What its classes mean.
        rules: Its tokenizer.
    """

    def __init__(self, network: MarkerNetwork, labels: Labels, rules: PieceRules) -> None:
        self._network, self._rules, self._labels = network, rules, labels
        self._pieces = rules.encoder()

    @property
    def mirror(self) -> Ints:
        """The classes of a pair (classes,), read the other way."""
        return self._labels.relations.mirror()

    @torch.inference_mode()
    def pairs(self, document: Document, mentions: Mentions) -> ScoredPairs:
        """All pairs of mentions of one sentence that do not overlap, with their probabilities."""
        self._network.eval()
        device = next(self._network.parameters()).device
        pairs, logits = [NO_PAIRS], []
        for call in self._calls(document, mentions):
            batch = moved(collate_marked(call, self._rules.pad), device)
            logits.append(self._network(*batch.inputs).cpu().numpy())
            pairs += [_pairs_of(example) for example in call]
        if not logits:
            return ScoredPairs.none()
        both = _mirrored(found := np.concatenate(pairs))
        layout = self._labels.relations
        return combine_directions(found[both], np.concatenate(logits)[both], layout, 1.0)

    def _calls(self, document: Document, mentions: Mentions) -> Iterator[Sequence[MarkedExample]]:
        """Examples of similar length together."""
        nothing = np.zeros((0, self._labels.relations.class_count), dtype=np.float32)
        texts = marked_texts(
            document, mentions.spans, self._pieces, self._rules.pad, self._rules.limit
        )
        examples = [
            MarkedExample(each, types_at(each, mentions.features), nothing) for each in texts
        ]
        examples.sort(key=lambda each: each.piece_count)
        for start in range(0, len(examples), TEXTS_OF_A_CALL):
            yield examples[start : start + TEXTS_OF_A_CALL]


class MarkerPredictor(BetweenGiven):
    """Predicts relations between the entities of gold documents.

    Args:
        network: The network.
        labels: What its classes mean.
        rules: Its tokenizer.
    """

    def __init__(self, network: MarkerNetwork, labels: Labels, rules: PieceRules) -> None:
        self._scorer, self._labels = MarkerScorer(network, labels, rules), labels

    def of(self, gold: AnnotatedDocument) -> AnnotatedDocument:
        """Relations between the entities of a gold document; its relations are not looked at."""
        given = given_of(gold, self._labels)
        pairs = self._scorer.pairs(gold.document, given.mentions)
        relations = predict_relations(
            pairs, self._labels.relations, DEV_SETTINGS.thresholds.relation
        )
        raw = RawPrediction(given.mentions, relations, [], pairs, AntecedentScores.none())
        found = annotated(
            gold.document, raw, self._labels, DEV_SETTINGS, None, given=given.entities
        )
        items = replace(found.annotations, entities=gold.annotations.entities)
        return replace(found, annotations=items)


def _pairs_of(example: MarkedExample) -> Ints:
    """Rows of subject and object. Shape: (objects, 2)."""
    objects = example.text.objects
    return np.stack([np.full(len(objects), example.text.subject, dtype=np.int64), objects], axis=1)


def _mirrored(pairs: Ints) -> Ints:
    """Rows of the pairs that were seen from both sides, in the order of the joint network's pairs.

    In sentences longer than a window some mentions do not see each other.
    """
    seen = set(map(tuple, pairs.tolist()))
    both = [row for row, (a, b) in enumerate(pairs.tolist()) if (b, a) in seen]
    return np.array(sorted(both, key=lambda row: tuple(pairs[row])), dtype=np.int64)
