"""How well finished abstracts had been suggested before they were corrected, with an adapter and without it.

Every figure is a held-out score: the suggestions come from the log, from before a person touched the abstract.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sciextract.documents.annotations import Annotations, Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.metrics.counts import scorable
from sciextract.metrics.running import (
    WINDOW,
    LayerUse,
    Pair,
    correction_keys,
    layer_use,
    running_f1,
)
from sciextract.metrics.scorer import Tallies, tally
from sciextract.retraining.snapshot.gathering import layers_of
from sciextract.store.finished import Finished, finished_abstracts

if TYPE_CHECKING:
    from sciextract.documents.schema import LabelSchema
    from sciextract.store import Project


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
        keys: Keys of the decisions on it; movement is not recorded.
        seconds: Recorded time, ``None`` without any.
        keys_adapter: Keys that correcting the adapter's suggestions takes; ``None`` where it had none.
        keys_other: Keys that correcting the other suggestions takes.
    """

    number: int
    doc_key: str
    at: str
    keys: int
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
    """

    window: int
    abstracts: tuple[CurvePoint, ...]
    layers: Mapping[Layer, LayerCurve]

    @property
    def with_adapter(self) -> int:
        """Abstracts that an adapter had suggestions for."""
        return sum(each.keys_adapter is not None for each in self.abstracts)

    def to_json(self) -> dict[str, Any]:
        """The report of ``--json``; scores with two digits."""
        layers = {
            str(layer): {
                "shown": _rounded(each.shown),
                "adapter": _rounded(each.adapter),
                "other": _rounded(each.other),
                "used": each.use.on,
                "reason": each.use.reason,
                "switches": [asdict(switch) for switch in each.use.switches],
            }
            for layer, each in self.layers.items()
        }
        abstracts = [asdict(each) for each in self.abstracts]
        return {"window": self.window, "abstracts": abstracts, "layers": layers}


def learning_curve(project: Project, *, known: bool | None = None) -> LearningCurve:
    """The running score of an open project.

    Args:
        known: Whether a model predicts the project's labels; by what the finished abstracts were suggested
            when ``None``.
    """
    return curve_of(finished_abstracts(project), project.schema, known=known)


def curve_of(
    finished: Sequence[Finished], schema: LabelSchema, *, known: bool | None = None
) -> LearningCurve:
    """The running score over finished abstracts, of the layers that the schema has."""
    scored = [_Scored.of(each, schema.symmetric_labels) for each in finished]
    if known is None:
        known = any(each.model for each in finished)
    has = layers_of(schema)
    layers = {
        layer: _layer(scored, layer, known, sum(_items(each, layer) for each in finished))
        for layer in Layer
        if layer in has
    }
    return LearningCurve(WINDOW, tuple(each.point for each in scored), layers)


@dataclass(frozen=True, slots=True)
class _Scored:
    layers: frozenset[Layer]
    point: CurvePoint
    shown: Tallies
    pair: Pair | None

    @classmethod
    def of(cls, each: Finished, symmetric: frozenset[str]) -> _Scored:
        gold = scorable(each.gold)
        nothing = AnnotatedDocument(each.gold.document, Annotations())
        shown, other = scorable(each.shown), scorable(each.other or nothing)
        adapter = None if each.adapter is None else scorable(each.adapter)
        point = CurvePoint(
            each.number,
            each.doc_key,
            each.at,
            each.keys,
            each.seconds,
            None if adapter is None else correction_keys(gold, adapter),
            correction_keys(gold, other),
        )
        pair = None
        if adapter is not None:
            pair = Pair(tally(gold, adapter, symmetric), tally(gold, other, symmetric))
        return cls(each.layers, point, tally(gold, shown, symmetric), pair)


def _items(finished: Finished, layer: Layer) -> int:
    sides = (finished.gold, finished.shown, finished.adapter, finished.other)
    found = [each.annotations for each in sides if each is not None]
    if layer is Layer.ENTITIES:
        return sum(len(each.entities) for each in found)
    if layer is Layer.RELATIONS:
        return sum(len(each.relations) for each in found)
    return sum(len(each.clusters) for each in found)


def _layer(scored: Sequence[_Scored], layer: Layer, known: bool, items: int) -> LayerCurve:
    done = [each for each in scored if layer in each.layers]
    pairs = [each.pair for each in done if each.pair is not None]
    return LayerCurve(
        tuple(running_f1([each.shown for each in done], layer)),
        tuple(running_f1([each.adapter for each in pairs], layer)),
        tuple(running_f1([each.other for each in pairs], layer)),
        layer_use(pairs, layer, first=not known),
        items,
    )


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(each, 2) for each in values]
