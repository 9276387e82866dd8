"""How well finished abstracts had been suggested before they were corrected, with an adapter and without it.

Every figure is a held-out score: the suggestions come from the log, from before a person touched the abstract.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sciextract.documents.annotations import Annotations, Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.held_out import held_out
from sciextract.inference.promise import Promise, make_promise
from sciextract.inference.settings import SURE
from sciextract.metrics.counts import Scorable, scorable
from sciextract.metrics.promotion import TASKS
from sciextract.metrics.scorer import (
    ScorePath,
    Tallies,
    counts_of,
    f1_of,
    probability_better,
    tally,
)
from sciextract.store.finished import Finished, finished_abstracts

if TYPE_CHECKING:
    from sciextract.store import Project


#: The latest finished abstracts that decide.
WINDOW = 20

# With which confidence what is accepted at one key is as precise as promised.
CONFIDENCE = 0.9

# Finished abstracts before which nothing can be decided.
LEAST = 5

# Probability of being better from which suggestions that are off are used again.
#
# They go off below one half, so that noise around it does not switch them with every abstract.
ON_FROM = 0.6

# By layer the metrics whose F1 is averaged: relations count boundaries, coreference is that of CoNLL.
PATHS: dict[Layer, tuple[ScorePath, ...]] = {task.layer: task.paths for task in TASKS}


class Pair(NamedTuple):
    """Counts of one finished abstract, from suggestions that were made before it was corrected.

    Attributes:
        adapter: Of the adapter.
        other: Of what is suggested without it.
    """

    adapter: Tallies
    other: Tallies


@dataclass(frozen=True, slots=True)
class Switch:
    """A layer of the adapter went on or off.

    Attributes:
        after: Finished abstracts at that time.
        on: Whether it is used from there on.
        adapter: F1 of the adapter on the latest abstracts, 0 to 100.
        other: F1 of the other suggestions on the same abstracts.
        documents: How many abstracts these are.
        probability: How likely the adapter is better on other abstracts of the kind, 0 to 1.
    """

    after: int
    on: bool
    adapter: float
    other: float
    documents: int
    probability: float

    @property
    def reason(self) -> str:
        """Why, in a sentence."""
        return (
            f"F1 {self.adapter:.1f} with it and {self.other:.1f} without it on the latest "
            f"{self.documents} abstracts; better with probability {self.probability:.2f}"
        )


@dataclass(frozen=True, slots=True)
class LayerUse:
    """Whether a layer of the adapter is used.

    Attributes:
        on: Whether it is.
        reason: Why, in a sentence.
        switches: When that changed, oldest first.
    """

    on: bool
    reason: str
    switches: tuple[Switch, ...] = ()


def layer_use(pairs: Sequence[Pair], layer: Layer, *, first: bool) -> LayerUse:
    """Whether the adapter's suggestions of a layer are used: only while they are ahead on the latest abstracts.

    Both sides are compared by the paired bootstrap (Koehn 2004, section 4.2) over the latest ``WINDOW``
    abstracts after each one that is finished.

    Args:
        pairs: Finished abstracts, oldest first.
        layer: The layer.
        first: Whether it is used while there are too few abstracts to tell.
    """
    # Worked out anew from the first abstract each time: what is on or off depends on the log alone, and a process
    # that was killed in between changes nothing.
    adapter = counts_of([pair.adapter for pair in pairs], PATHS[layer])
    other = counts_of([pair.other for pair in pairs], PATHS[layer])
    on, switches = first, []
    for end in range(LEAST, len(pairs) + 1):
        window = slice(max(0, end - WINDOW), end)
        sides = adapter[window], other[window]
        scores = [float(f1_of(side.sum(axis=0)).mean()) for side in sides]
        if on == (scores[0] > scores[1]) or scores[0] == scores[1]:
            continue  # the sign of the difference agrees: no need to draw
        probability = probability_better(*sides)
        if (probability >= ON_FROM) if not on else (probability < 1 / 2):
            on = not on
            switches.append(Switch(end, on, scores[0], scores[1], len(sides[0]), probability))
    if switches:
        reason = (
            f"{'on' if on else 'off'} since abstract {switches[-1].after}: {switches[-1].reason}"
        )
    elif len(pairs) < LEAST:
        few = f"compared from {LEAST} finished abstracts on; there are {len(pairs)}"
        reason = "nothing else predicts these labels" if first else few
    else:
        reason = "ahead on the latest abstracts" if on else "not ahead on the latest abstracts"
    return LayerUse(on, reason, tuple(switches))


def running_f1(tallies: Sequence[Tallies], layer: Layer) -> list[float]:
    """F1 of a layer after each abstract, over the latest ``WINDOW`` abstracts, 0 to 100."""
    counts = counts_of(tallies, PATHS[layer])
    ends = range(1, len(tallies) + 1)
    summed = np.array([counts[max(0, end - WINDOW) : end].sum(axis=0) for end in ends])
    return [] if not len(summed) else [float(value) for value in f1_of(summed).mean(axis=1)]


# Keys at the desk: hints and a label; head, target and label; the key and the cluster; any decision.
_MISSED_ENTITY, _MISSED_RELATION, _JOIN, _ONE = 4, 3, 2, 1


def correction_keys(gold: Scorable, suggested: Scorable) -> int:
    """Keys of the desk that make the finished abstract of suggestions, without bulk keys.

    An item that is right takes one key, as does a wrong label and one to reject; an edge takes two, a missed
    mention four, a missed relation three, a missed place in a cluster two, and the end of the abstract one.
    """
    wanted = {entity.mention for entity in gold.entities}
    found = {entity.mention for entity in suggested.entities}
    keys = _ONE + len(wanted & found)
    missed = wanted - found
    for mention in sorted(found - wanted):
        overlapping = (
            other for other in sorted(missed) if other[0] < mention[-1] and mention[0] < other[-1]
        )
        near = next(overlapping, None)
        missed.discard(near or ())
        keys += _ONE if near is None else _JOIN
    keys += len(missed) * _MISSED_ENTITY
    pairs, suggested_pairs = (
        {frozenset((relation.head.mention, relation.tail.mention)) for relation in side.relations}
        for side in (gold, suggested)
    )
    keys += len(suggested_pairs) + len(pairs - suggested_pairs) * _MISSED_RELATION
    # A mention of a cluster is right where the mention before it in its cluster is the same.
    links, suggested_links = (
        {pair for cluster in side.clusters for pair in pairwise(sorted(cluster))}
        for side in (gold, suggested)
    )
    return keys + len(suggested_links) + len(links - suggested_links) * _JOIN


@dataclass(frozen=True, slots=True)
class LayerCurve:
    """F1 of a layer over the latest abstracts, after each finished abstract; 0 to 100.

    Attributes:
        shown: Of what stood there.
        adapter: Of the adapter, on abstracts that it had suggestions for.
        other: Of what is suggested without it, on the same abstracts.
        use: Whether the adapter is used for this layer, and why.
        items: Items of the layer in the finished abstracts and in what was suggested there; 0 where nobody uses it.
    """

    shown: tuple[float, ...]
    adapter: tuple[float, ...]
    other: tuple[float, ...]
    use: LayerUse
    items: int


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One finished abstract.

    Attributes:
        number: Its number.
        doc_key: Its key.
        at: UTC time at which it was finished.
        keys: Keys pressed to decide; where the desk did not count them, the least that the actions take.
        travel: Keys pressed to move, ``None`` where they were never counted.
        seconds: Recorded time, ``None`` without any.
        keys_adapter: Keys that correcting the adapter's suggestions takes; ``None`` where it had none.
        keys_other: Keys that correcting the other suggestions takes.
    """

    number: int
    doc_key: str
    at: str
    keys: int
    travel: int | None
    seconds: float | None
    keys_adapter: int | None
    keys_other: int


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """The running score of a project.

    Attributes:
        window: Latest abstracts that each F1 is over.
        abstracts: Finished abstracts, in that order.
        layers: By layer.
        sure: From which score on suggestions of a layer, whatever their label, are right as often as promised.
    """

    window: int
    abstracts: tuple[CurvePoint, ...]
    layers: Mapping[Layer, LayerCurve]
    sure: Promise

    @property
    def with_adapter(self) -> int:
        """Abstracts that an adapter had suggestions for."""
        return sum(abstract.keys_adapter is not None for abstract in self.abstracts)

    def to_json(self) -> dict[str, Any]:
        """The report of ``--json``; scores with two digits."""
        layers = {}
        for layer, of_layer in self.layers.items():
            sides = {"shown": of_layer.shown, "adapter": of_layer.adapter, "other": of_layer.other}
            scores = {name: [round(f1, 2) for f1 in side] for name, side in sides.items()}
            changes = [asdict(switch) for switch in of_layer.use.switches]
            use = {"used": of_layer.use.on, "reason": of_layer.use.reason, "switches": changes}
            layers[str(layer)] = scores | use
        abstracts = [asdict(abstract) for abstract in self.abstracts]
        sure = [asdict(label) for label in self.sure.labels]
        return {"window": self.window, "abstracts": abstracts, "layers": layers, "sure": sure}


def learning_curve(
    project: Project, *, known: bool | None = None, share: float | None = None
) -> LearningCurve:
    """The running score of an open project.

    Args:
        known: Whether a model predicts the project's labels; by what the finished abstracts were suggested
            when ``None``.
        share: The precision to promise; that of :data:`SURE` when ``None``.
    """
    finished, has = finished_abstracts(project), project.schema.layers
    symmetric = project.schema.symmetric_labels
    if known is None:
        known = any(abstract.model for abstract in finished)
    points, items = [], dict.fromkeys(Layer, 0)
    shown: dict[Layer, list[Tallies]] = {layer: [] for layer in Layer}
    pairs: dict[Layer, list[Pair]] = {layer: [] for layer in Layer}
    for abstract in finished:
        gold = scorable(abstract.gold)
        nothing = AnnotatedDocument(abstract.gold.document, Annotations())
        other = scorable(abstract.other or nothing)
        adapter = None if abstract.adapter is None else scorable(abstract.adapter)
        points.append(
            CurvePoint(
                abstract.number,
                abstract.doc_key,
                abstract.at,
                keys=abstract.keys,
                travel=abstract.travel,
                seconds=abstract.seconds,
                keys_adapter=None if adapter is None else correction_keys(gold, adapter),
                keys_other=correction_keys(gold, other),
            )
        )
        tallied = tally(gold, scorable(abstract.shown), symmetric)
        for layer in abstract.layers:
            shown[layer].append(tallied)
        if adapter is not None:
            pair = Pair(tally(gold, adapter, symmetric), tally(gold, other, symmetric))
            for layer in abstract.layers:
                pairs[layer].append(pair)
        for side in filter(None, (abstract.gold, abstract.shown, abstract.adapter, abstract.other)):
            found = side.annotations
            kinds = (found.entities, found.relations, found.clusters)
            for layer, of_layer in zip(Layer, kinds, strict=True):
                items[layer] += len(of_layer)
    layers = {}
    for layer in [known_layer for known_layer in Layer if known_layer in has]:
        of_adapter, of_other = ([scored[side] for scored in pairs[layer]] for side in (0, 1))
        mine, theirs = tuple(running_f1(of_adapter, layer)), tuple(running_f1(of_other, layer))
        use = layer_use(pairs[layer], layer, first=not known)
        seen = tuple(running_f1(shown[layer], layer))
        layers[layer] = LayerCurve(seen, mine, theirs, use, items[layer])
    return LearningCurve(WINDOW, tuple(points), layers, _sure(finished, has, share))


def sure_words(sure: Promise) -> list[str]:
    """What is promised of the suggestions of each layer, or what it would take, a line each."""
    lines = []
    for label in sure.labels:
        wanted = f"{label.task} suggestions of which at least {sure.wanted[label.task]:g} are right"
        if label.threshold is not None:
            found = f"{label.precision:.2f} right in the finished abstracts, {label.recall:.2f} of all found"
            words = f"from a score of {label.threshold:.2f} on ({found}{label.by_itself()})"
            lines.append(f"{wanted}: {words}")
        elif label.further is not None:
            lines.append(f"{wanted}: about {label.further} more finished abstracts are needed")
        else:
            lines.append(f"{wanted}: too few finished abstracts, or too many wrong suggestions")
    return lines


def _sure(finished: Sequence[Finished], has: frozenset[Layer], share: float | None) -> Promise:
    """What can be promised of suggestions, from those of one model that stood in finished abstracts before they were touched."""
    whole = [abstract for abstract in finished if has <= abstract.layers]
    model = _model_of(whole[-1]) if whole else ""
    same = [abstract for abstract in whole if _model_of(abstract) == model]
    source = "suggestions for finished abstracts, before they were corrected"
    held = held_out(
        source, [abstract.gold for abstract in same], [abstract.shown for abstract in same]
    )
    return make_promise(held, dict.fromkeys(SURE, share) if share else SURE, CONFIDENCE)


def _model_of(abstract: Finished) -> str:
    """The model whose suggestions were shown, that of its adapters included; empty for none."""
    sources = (item.source for item in abstract.shown.annotations.entities)
    return next((name.partition("/")[0].partition("+")[0] for name in sources), "")
