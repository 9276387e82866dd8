"""``config.json`` of a model folder: what the graphs mean and how they are used."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from sciextract.documents.annotations import Layer
from sciextract.documents.schema import LabelSchema
from sciextract.errors import ModelDamagedError, ModelMismatchError, ModelVersionError
from sciextract.inference.candidates import FEATURE_VERSION
from sciextract.inference.decoding import RelationLayout, columns_of
from sciextract.inference.pipeline import Labels
from sciextract.inference.settings import UNMOVED, DecodeSettings, PerTask, Rescue

_MOST_LABELS = 1_000
"""GENIA's ontology has 36 types, the largest label sets of the field some hundred."""
FORMAT_VERSION = 6
"""Version of the model folder; raised when an older program could not read it."""


@dataclass(frozen=True, slots=True)
class AdapterBase:
    """What an adapter stands on.

    Attributes:
        name: Name of the model whose encoder it runs on.
        hash: Hex SHA-256 of that model's manifest: another edition has other states.
        layers: The layers that its heads are used for; the others are the base's own predictions.
        finished: How many abstracts it was trained on.
    """

    name: str
    hash: str
    layers: tuple[str, ...]
    finished: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """What the graphs of a model folder mean.

    Attributes:
        name: The model's name.
        labels: The classes.
        schema_name: Name of the label schema it was trained with.
        schema_hash: Content hash of that schema.
        subword_limit: Most subwords of a window, special ones not counted.
        prefix: Special subword ids before a window.
        suffix: Special subword ids after a window.
        unknown: Id of the unknown subword.
        settings: Thresholds and temperatures fitted on dev, and the overlap rule.
        scores: Dev scores by graph and metric, as measured at export.
        origin: Where the weights come from: encoder, data hashes, seeds.
        given_entities: Whether it predicts no entities, only relations between given ones.
        cuts_words: Whether it sees words cut at punctuation, so that it finds "IL-2" in "IL-2-induced".
        feature_version: Version of the features that it was trained on.
        adapter: What it stands on if it is an adapter.
    """

    name: str
    labels: Labels
    schema_name: str
    schema_hash: str
    subword_limit: int
    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    unknown: int
    settings: DecodeSettings
    scores: dict[str, Any] = field(default_factory=dict)
    origin: dict[str, Any] = field(default_factory=dict)
    given_entities: bool = False
    cuts_words: bool = False
    feature_version: int = FEATURE_VERSION
    adapter: AdapterBase | None = None

    def to_json(self) -> dict[str, Any]:
        """The content of ``config.json``."""
        settings = self.settings
        return {
            "format_version": FORMAT_VERSION,
            "feature_version": self.feature_version,
            "name": self.name,
            "labels": {
                "entities": list(self.labels.entities),
                "relations": list(self.labels.relations.labels),
                "symmetric": sorted(self.labels.relations.symmetric),
                "coreference": self.labels.coreference,
                "groups": [*map(list, self.labels.groups)],
            },
            "schema": {"name": self.schema_name, "hash": self.schema_hash},
            "max_span_width": self.labels.max_span_width,
            "piece_limit": self.subword_limit,
            "prefix": list(self.prefix),
            "suffix": list(self.suffix),
            "unknown": self.unknown,
            "thresholds": settings.thresholds.to_json(),
            "calibration": settings.temperatures.to_json(),
            "calibration_shifts": settings.shifts.to_json(),
            "rescue": settings.rescue and asdict(settings.rescue),
            "nesting": settings.nesting,
            "max_antecedents": settings.max_antecedents,
            "scores": self.scores,
            "origin": self.origin,
            "given_entities": self.given_entities,
            "cuts_words": self.cuts_words,
            "adapter": self.adapter and asdict(self.adapter),
        }

    def labels_unknown_to(self, schema: LabelSchema) -> list[str]:
        """Labels of the model that a schema lacks, and that no type of it had before."""
        former_entities, former_relations, _ = schema.names
        entities = {*schema.entity_labels, *former_entities}
        relations = {*schema.relation_labels, *former_relations}
        lacking = [label for label in self.labels.types if label not in entities]
        return lacking + [label for label in self.labels.relations.labels if label not in relations]

    @staticmethod
    def from_json(values: dict[str, Any], place: str) -> ModelConfig:
        """Reads the content of ``config.json``.

        Raises:
            ModelVersionError: A newer program wrote it.
            ModelMismatchError: It was trained on other features.
            ModelDamagedError: A key is missing or has the wrong kind.
        """
        try:
            version, features = int(values["format_version"]), int(values["feature_version"])
            if version > FORMAT_VERSION:
                raise ModelVersionError(
                    f"{place}: the model has format version {version}, this program reads up to {FORMAT_VERSION}",
                    "pip install --upgrade sciextract",
                )
            if not 1 <= features <= FEATURE_VERSION:
                raise ModelMismatchError(
                    f"{place}: the model needs feature version {features}, this program has up to {FEATURE_VERSION}",
                    "pip install --upgrade sciextract, or train the model again with this version",
                )
            return _config(values)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ModelDamagedError(
                f"{place}: the configuration has missing or invalid values: {error}",
                "get the model again; do not edit the configuration by hand",
            ) from error


def _names(values: Any, *, untyped: bool = False) -> tuple[str, ...]:
    """Labels: distinct printable strings, since they become names of files, columns and tags; empty for no type."""
    names = tuple(values)
    if len(names) > _MOST_LABELS:
        raise ValueError(f"{len(names):,} labels; expected at most {_MOST_LABELS:,}")
    for name in names:
        if untyped and name == "":
            continue
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise ValueError(f"{name!r:.60} is no label; expected printable characters")
    if len({*names}) < len(names):
        raise ValueError(f"the label {max(names, key=names.count)!r:.60} stands there twice")
    return names


def _config(values: dict[str, Any]) -> ModelConfig:
    labels, entities = values["labels"], _names(values["labels"]["entities"], untyped=True)
    # The bundled models are older than some of the keys, and their names hold the hash of what they say.
    groups = tuple(tuple(map(str, group)) for group in labels.get("groups", ()))
    columns_of(entities, groups)  # an error where a label is not in exactly one group
    adapter = None
    if (about := values.get("adapter")) is not None:
        layers = tuple(Layer(layer).value for layer in about["layers"])
        adapter = AdapterBase(
            str(about["name"]), str(about["hash"]), layers, int(about["finished"])
        )
    rescue = None
    if about := values.get("rescue"):
        rescue = Rescue(float(about["entity"]), float(about["relation"]))
    layout = RelationLayout(_names(labels["relations"]), frozenset(labels["symmetric"]))
    return ModelConfig(
        name=str(values["name"]),
        labels=Labels(
            entities, layout, bool(labels["coreference"]), int(values["max_span_width"]), groups
        ),
        schema_name=str(values["schema"]["name"]),
        schema_hash=str(values["schema"]["hash"]),
        subword_limit=int(values["piece_limit"]),
        prefix=tuple(map(int, values["prefix"])),
        suffix=tuple(map(int, values["suffix"])),
        unknown=int(values["unknown"]),
        settings=DecodeSettings(
            thresholds=PerTask.from_json(values["thresholds"]),
            temperatures=PerTask.from_json(values["calibration"]),
            shifts=PerTask.from_json(values.get("calibration_shifts") or UNMOVED.to_json()),
            rescue=rescue,
            nesting=bool(values["nesting"]),
            max_antecedents=int(values["max_antecedents"]),
        ),
        scores=dict(values["scores"]),
        origin=dict(values["origin"]),
        given_entities=bool(values.get("given_entities", False)),
        cuts_words=bool(values.get("cuts_words", False)),
        feature_version=int(values["feature_version"]),
        adapter=adapter,
    )
