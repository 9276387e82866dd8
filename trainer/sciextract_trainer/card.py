"""The model card that lies in every model folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import GRAPHS

FITTED = "thresholds are fitted on the same split"
"""What a card says of thresholds unless the configuration says otherwise."""

FITTED_EACH = f"{FITTED}, for each graph by itself"
"""The same where each graph has thresholds of its own, and only those of the shipped one are kept."""

MOST_LOST = 0.5
"""F1 that int8 may lose on a task before the card calls it a trade-off."""

_METRICS = {
    "ner": "Entities, micro F1",
    "relation": "Relations, boundaries, ordered, micro F1",
    "relation_strict": "Relations, strict, ordered, micro F1",
    "coreference": "Coreference, CoNLL average F1",
}
_COMPARED = ("ner", "relation", "coreference")


_WHOLE = "A model of sciextract: entities, relations and coreference in scientific abstracts, in one pass."
_NO_LINKS = "A model of sciextract: entities and relations in scientific abstracts, in one pass."
_GIVEN = (
    "A model of sciextract: relations between given entities in scientific texts. It predicts no entities; "
    "`sciextract annotate --given-entities` takes input that has them."
)


def model_card(config: ModelConfig) -> str:
    """Markdown: what the model is, its scores, its origin, its limits."""
    scores = _scores_by_set(config.scores) if "sets" in config.scores else _scores(config)
    parts = (_head(config), scores, _calibration(config), _origin(config), _limits(config))
    return "\n".join(line for part in parts for line in part)


def _head(config: ModelConfig) -> list[str]:
    labels = config.labels
    return [
        f"# {config.name}",
        "",
        _GIVEN if config.given_entities else _WHOLE if labels.coreference else _NO_LINKS,
        "",
        f"- Schema: {config.schema_name} (content hash {config.schema_hash[:12]})",
        f"- Entity types: {', '.join(labels.entities)}",
        f"- Relation types: {', '.join(labels.relations.labels)}",
        f"- Entities of up to {labels.max_span_width} words; windows of {config.subword_limit} subwords",
        "",
    ]


def _scores(config: ModelConfig) -> list[str]:
    graphs = [name for name in GRAPHS if name in config.scores]
    lines = [
        f"## Scores on {config.scores.get('split', 'dev')}",
        "",
        f"{config.scores.get('documents', 0)} abstracts; {config.scores.get('thresholds', FITTED)}.",
        "",
        "| metric | " + " | ".join(graphs) + " |",
        "|---|" + "---|" * len(graphs),
    ]
    for key, title in _METRICS.items():
        values = [_score(config.scores[graph][key]) for graph in graphs]
        lines.append(f"| {title} | " + " | ".join(values) + " |")
    lines += _given(config, graphs)
    return [
        *lines,
        "",
        *_parity(config.scores),
        *_quantisation(config),
        *_folds(config.scores.get("folds")),
        "",
    ]


def _parity(scores: dict[str, Any]) -> list[str]:
    """How exact the export is, where that was measured."""
    if "parity" not in scores:
        return []
    return [f"Largest logit difference, torch to ONNX Runtime, fp32: {scores['parity']:.1e}."]


def _folds(folds: dict[str, Any] | None) -> list[str]:
    """What the coreference head reaches on abstracts that it has not learned from, where it was trained by itself."""
    if not folds:
        return []
    return [
        "",
        f"The coreference head was trained by itself. On {folds['documents']} abstracts of its gold, each scored by a head that",
        f"has not learned from it ({folds['folds']} folds), it reaches {folds['coreference']:.1f}, with a standard deviation of",
        f"{folds['spread']:.1f} between folds. Its threshold was fitted there.",
    ]


def _scores_by_set(scores: dict[str, Any]) -> list[str]:
    """Markdown of the scores of a model of several sets."""
    return [
        "## Scores on the dev parts, set by set",
        "",
        "Documents as distributed (for bc5cdr, ncbi-disease, bc2gm and linnaeus a sentence each). Only the types for",
        "which a set was annotated are predicted. Entities count by exact boundaries and type, micro average. Thresholds",
        "were fitted on some of the same documents. int8.",
        "",
        "| set | documents | entities P | R | F1 | 95 % interval | trained on |",
        "|---|---|---|---|---|---|---|",
        *(_set_row(name, each) for name, each in scores["sets"].items()),
        "",
        *_by_type(scores["sets"]),
        *_relations(scores["sets"]),
        *_parity(scores),
        *_set_quantisation(scores["sets"]),
        "",
    ]


def _set_row(name: str, scores: dict[str, Any]) -> str:
    entity = scores["entity"]
    numbers = " | ".join(f"{entity[key]:.1f}" for key in ("precision", "recall", "f1"))
    bounds, trained = scores["interval"], "yes" if scores["trained"] else "no"
    interval = f"{bounds['low']:.1f} to {bounds['high']:.1f}"
    return f"| {name} | {scores['documents']} | {numbers} | {interval} | {trained} |"


def _by_type(sets: dict[str, Any]) -> Iterator[str]:
    for name, scores in sets.items():
        if len(scores["labels"]) > 1:
            parts = (f"{label} {f1:.1f}" for label, f1 in scores["labels"].items())
            yield f"F1 by type, {name}: {', '.join(parts)}."
    yield ""


def _relations(sets: dict[str, Any]) -> Iterator[str]:
    for name, scores in sets.items():
        if "relation" not in scores:
            continue
        yield (
            f"Relations of {name}, boundaries and direction, micro F1: {scores['relation']['f1']:.1f} between "
            f"predicted entities, {scores['given']['f1']:.1f} between given ones (macro F1 "
            f"{scores['given_macro']:.1f})."
        )
        yield ""


def _set_quantisation(sets: dict[str, Any]) -> Iterator[str]:
    parts = (
        f"{name} {each['sample']['fp32'] - each['sample']['int8']:+.1f}"
        for name, each in sets.items()
    )
    yield f"F1 lost by int8 at the same thresholds, on some documents of each set: {', '.join(parts)}."


def _calibration(config: ModelConfig) -> list[str]:
    """The calibration error, where it was measured."""
    measured = config.scores.get("calibration") or {}
    if not measured:
        return []
    bins = next(iter(measured.values()))["bins"]
    return [
        "### Calibration",
        "",
        f"Expected calibration error in percentage points, {bins} bins. Held out: measured on the half of dev that was not used to fit the scale.",
        "",
        "| task | items | uncalibrated | calibrated | held out | temperature | shift |",
        "|---|---|---|---|---|---|---|",
        *(_calibrated(task, each) for task, each in measured.items()),
        "",
    ]


def _calibrated(task: str, values: dict[str, Any]) -> str:
    keys = ("ece_before", "ece_after", "ece_held_out")
    errors = [None if values[key] is None else 100 * values[key] for key in keys]
    cells = " | ".join(map(_score, errors))
    return f"| {task} | {values['items']} | {cells} | {values['temperature']:.2f} | {values['shift']:+.2f} |"


def _given(config: ModelConfig, graphs: list[str]) -> list[str]:
    """Macro F1 and F1 by label, which only models of given entities state."""
    if not config.given_entities:
        return []
    scores = [config.scores[graph] for graph in graphs]
    macro = " | ".join(_score(each["relation_macro"]) for each in scores)
    labels = dict.fromkeys(label for each in scores for label in each["relation_labels"])
    return [
        f"| Relations, macro F1 | {macro} |",
        *(
            f"| {label}, F1 | "
            + " | ".join(_score(each["relation_labels"].get(label)) for each in scores)
            + " |"
            for label in labels
        ),
    ]


def _score(value: float | None) -> str:
    return "not known" if value is None else f"{value:.1f}"


def _quantisation(config: ModelConfig) -> list[str]:
    """The loss of int8, with a verdict."""
    lost = int8_losses(config.scores)
    if not lost:
        return []
    words = ", ".join(f"{name} {loss:+.1f}" for name, loss in lost.items())
    over = [name for name, loss in lost.items() if loss > MOST_LOST]
    verdict = f"more than {MOST_LOST} F1 on {', '.join(over)}" if over else "within the limit"
    each = config.scores.get("thresholds") == FITTED_EACH
    at = ", each graph at its own thresholds" if each else " at the same thresholds"
    return [f"F1 lost by int8{at}: {words} ({verdict})."]


def int8_losses(scores: dict[str, Any]) -> dict[str, float]:
    """F1 of fp32 minus F1 of int8 per task; empty where one of the graphs was not scored."""
    if "int8" not in scores or "fp32" not in scores:
        return {}
    pairs = {task: (scores["fp32"][task], scores["int8"][task]) for task in _COMPARED}
    known = {task: pair for task, pair in pairs.items() if None not in pair}
    return {task: round(full - small, 2) for task, (full, small) in known.items()}


def _origin(config: ModelConfig) -> list[str]:
    lines = ["## Origin", ""]
    lines += [f"- {key}: {value}" for key, value in config.origin.items()]
    return [*lines, ""]


def _limits(config: ModelConfig) -> list[str]:
    return [
        "## Limits",
        "",
        "English abstracts in the style of the training data. Relations are predicted within a sentence.",
        "Dev scores are optimistic, because thresholds and the epoch were chosen on the same abstracts.",
        "",
    ]
