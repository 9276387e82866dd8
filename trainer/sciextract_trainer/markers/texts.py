"""Texts with markers: what the encoder sees of one subject and the mentions that it may be related to.

Packed levitated markers (Ye et al. 2022, PL-Marker, arXiv 2109.06067, section 3.2): the subject has *solid* markers in
the text; every object has a pair of *levitated* ones behind the text that share the positions of its first and last
piece. Text sees text, a levitated marker sees the text and its partner, so that objects do not disturb each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sciextract.documents.document import Document
from sciextract.inference import candidates
from sciextract.inference.candidates import sentence_ends
from sciextract.inference.tokenization import EncoderInput, PieceEncoder, Pieces
from sciextract_trainer.data.examples import Floats, Ints

TEXT, SUBJECT_START, SUBJECT_END, OBJECT_START, OBJECT_END = range(5)
"""Roles of what the encoder sees."""

ROLES = 5

CONTEXT_WORDS = 72
"""Words that the encoder sees, as many before the sentence as behind it; a longer sentence is seen whole."""

MOST_OBJECTS = 24
"""Objects of one pass. Objects do not see each other, so that more passes change nothing."""


@dataclass(frozen=True, slots=True)
class MarkedText:
    """One subject with some of its objects.

    Attributes:
        doc_key: The document's name.
        ids: int64 (places,), pieces of the text; padding at the places of markers.
        positions: int64 (places,), counted from 0.
        roles: int64 (places,), ``TEXT`` or what a marker marks.
        text: Places of text and solid markers; the levitated ones follow, start and end of each object.
        subject: Row of the subject among the mentions.
        objects: int64 (objects,), rows of the objects.
    """

    doc_key: str
    ids: Ints
    positions: Ints
    roles: Ints
    text: int
    subject: int
    objects: Ints

    @property
    def piece_count(self) -> int:
        """Places that the encoder sees."""
        return len(self.ids)

    @property
    def owners(self) -> Ints:
        """Row of the mention that each place marks, -1 for text. Shape: (places,)."""
        owners = np.full(len(self.ids), -1, dtype=np.int64)
        owners[self.roles != TEXT] = self.subject
        owners[self.text :] = np.repeat(self.objects, 2)
        return owners


def marked_texts(
    document: Document, spans: Ints, pieces: PieceEncoder, pad: int, limit: int
) -> Iterator[MarkedText]:
    """All passes that the relations of a document need.

    Args:
        document: The text.
        spans: int64 (mentions, 2), first and last word, inclusive.
        pieces: The encoder's word pieces.
        pad: Id of the padding piece.
        limit: Most pieces of a text, special ones not counted; mentions outside of it are left out.
    """
    split = pieces.split(document.tokens.slices(document.text))
    ends = sentence_ends(document.tokens.sentences, len(document.tokens))
    pairs = (
        candidates.relation_pairs(spans, ends[spans[:, 0]]) if len(spans) else candidates.NO_PAIRS
    )
    for subject in np.unique(pairs[:, 0]).tolist():
        start, end = seen_words(split, ends, spans[subject], limit - 2)
        objects = pairs[pairs[:, 0] == subject, 1]
        inside = (spans[objects, 0] >= start) & (spans[objects, 1] < end)
        frame = pieces.frame(split, start, end)
        for part in _parts(objects[inside]):
            yield _marked(document.doc_key, frame, spans - start, subject, part, pad)


def _parts(objects: Ints) -> Sequence[Ints]:
    return [objects[at : at + MOST_OBJECTS] for at in range(0, len(objects), MOST_OBJECTS)]


def seen_words(pieces: Pieces, ends: Ints, span: Ints, limit: int) -> tuple[int, int]:
    """The words [start, end) that are seen with a mention: its sentence, and words around it while there is room.

    Args:
        pieces: The pieces of the document.
        ends: int64 (words,), index after the last word of each word's sentence.
        span: First and last word of the mention.
        limit: Most pieces; of a longer sentence the words around the mention are seen.
    """
    end = int(ends[span[0]])
    start = int(np.searchsorted(ends, end))
    if pieces.starts[end] - pieces.starts[start] > limit:
        start, end = int(span[0]), int(span[1]) + 1
    while True:
        wider = max(0, start - 1), min(len(ends), end + 1)
        full = wider[1] - wider[0] > CONTEXT_WORDS or wider == (start, end)
        if full or pieces.starts[wider[1]] - pieces.starts[wider[0]] > limit:
            return start, end
        start, end = wider


def _marked(
    doc_key: str, frame: EncoderInput, spans: Ints, subject: int, objects: Ints, pad: int
) -> MarkedText:
    opening = int(frame.word_first[spans[subject, 0]])
    closing = int(frame.word_last[spans[subject, 1]])
    mark = np.array([pad], dtype=np.int64)
    ids = np.concatenate(
        [frame.input_ids[:opening], mark, frame.input_ids[opening : closing + 1], mark,
         frame.input_ids[closing + 1 :]]
    )  # fmt: skip
    places = np.stack([frame.word_first[spans[objects, 0]], frame.word_last[spans[objects, 1]]], 1)
    places = places + (places >= opening) + (places > closing)
    roles = np.zeros(len(ids), dtype=np.int64)
    roles[opening], roles[closing + 2] = SUBJECT_START, SUBJECT_END
    return MarkedText(
        doc_key=doc_key,
        ids=np.concatenate([ids, np.full(places.size, pad, dtype=np.int64)]),
        positions=np.concatenate([np.arange(len(ids)), places.ravel()]),
        roles=np.concatenate([roles, np.tile([OBJECT_START, OBJECT_END], len(objects))]),
        text=len(ids),
        subject=subject,
        objects=objects,
    )


def visible(text: MarkedText, size: int) -> np.ndarray:
    """Which place sees which. Shape: bool (size, size), padded; padding sees the first place."""
    seen = np.zeros((size, size), dtype=np.bool_)
    seen[:, : text.text] = True
    seen[len(text.ids) :, 1:] = False
    levitated = np.arange(text.text, len(text.ids))
    partners = text.text + ((levitated - text.text) ^ 1)
    seen[levitated, levitated] = seen[levitated, partners] = True
    return seen


def types_at(text: MarkedText, types: Floats) -> Floats:
    """Type probabilities of the marked mention at each place, zero in the text. Shape: (places, 1 + labels)."""
    padded = np.concatenate([types, np.zeros((1, types.shape[1]), dtype=np.float32)])
    return np.asarray(padded[text.owners], dtype=np.float32)
