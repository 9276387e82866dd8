"""The augmented training set: the user's copy of a published set plus what the project corrected, as plain gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import compress
from pathlib import Path

from sciextract.documents.annotations import Annotations, Cluster, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.snapshot.documents import Origin, Split
from sciextract.snapshot.gathering import Gathering, check_project_labels, layers_of, survey
from sciextract.store import Project
from sciextract.store.rows import IN_VIEW

HELD_OUT_FOR_GATE = "held out for the gate"
NO_LAYER_DONE = "no layer is done"


class Augmented:
    """What a training sees, positives only: for formats that can tell neither masks nor negatives.

    Files of gold read as "everything else is wrong", so a project's abstract comes along only with a done
    layer, and its other layers are counted in ``losses``. Abstracts of the gate stay out: a model that was
    trained on the set can still be measured on them.

    Args:
        project: The open project.
        base: The user's copy of a published set.

    Raises:
        SciextractError: The base cannot be used: see :func:`~sciextract.snapshot.gathering.survey`.
    """

    def __init__(self, project: Project, base: Path | str) -> None:
        schema = project.schema
        check_project_labels(project, schema)
        read = survey(base, Origin.BASE, schema, project)
        self._gathering = Gathering(project, read)
        self._layers = layers_of(schema)
        self._left_out: Counter[str] = Counter()
        self.bad = read.bad
        self.from_base = 0
        self.losses: Counter[str] = Counter()

    def documents(self) -> Iterator[AnnotatedDocument]:
        """The project's documents, then those of the base, each text once."""
        for split, document in self._gathering.documents():
            if split is Split.GATE:
                self._left_out[HELD_OUT_FOR_GATE] += 1
            elif not document.complete and document.origin is Origin.PROJECT:
                self._left_out[NO_LAYER_DONE] += 1
            else:
                self.from_base += document.origin is Origin.BASE
                for layer in sorted(self._layers - document.complete):
                    self.losses[f"{layer.value} that are not complete in an abstract"] += 1
                yield positives(document.annotated)

    @property
    def left_out(self) -> dict[str, int]:
        """Documents left out so far, by reason."""
        return {**self._left_out, **self._gathering.left_out}


def positives(annotated: AnnotatedDocument) -> AnnotatedDocument:
    """A document with nothing but its positive items."""
    original = annotated.annotations
    entities = tuple(each for each in original.entities if each.state in IN_VIEW)
    kept = {each.id for each in entities}
    relations = tuple(
        each
        for each in original.relations
        if each.state in IN_VIEW and {each.head, each.tail} <= kept
    )
    clusters = (_positive_part(each, kept) for each in original.clusters)
    annotations = Annotations(
        entities, relations, tuple(each for each in clusters if each.mentions)
    )
    return replace(annotated, annotations=annotations)


def _positive_part(cluster: Cluster, kept: set[str]) -> Cluster:
    """A cluster without the mentions that are not positive; a rest of one refers to nothing, and goes.

    A cluster that was read with one mention stays as it was read.
    """
    states = cluster.mention_states or (cluster.state,) * len(cluster.mentions)
    positive = [
        state in IN_VIEW and mention in kept
        for mention, state in zip(cluster.mentions, states, strict=True)
    ]
    alone = sum(positive) == 1 and cluster.state is not State.IMPORTED
    return replace(
        cluster,
        mentions=() if alone else tuple(compress(cluster.mentions, positive)),
        mention_scores=tuple(compress(cluster.mention_scores, positive)),
        mention_states=tuple(compress(cluster.mention_states, positive)),
        state=State.ACCEPTED if cluster.state not in IN_VIEW else cluster.state,
    )
