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
    labels = config.labels
    lines = [
        f"# {config.name}",
        "",
        _GIVEN if config.given_entities else _WHOLE if labels.coreference else _NO_LINKS,
        "",
        f"- Schema: {config.schema_name} (content hash {config.schema_hash[:12]})",
        f"- Entity types: {', '.join(labels.types)}",
        f"- Relation types: {', '.join(labels.relations.labels) or 'none'}",
        f"- Entities of up to {labels.max_span_width} words; windows of {config.subword_limit} subwords",
        "",
    ]
    lines += _scores_by_set(config.scores) if "sets" in config.scores else _scores(config)
    if measured := config.scores.get("calibration"):
        bins = next(iter(measured.values()))["bins"]
        lines += [
            "### Calibration",
            "",
            f"Expected calibration error in percentage points, {bins} bins. Held out: measured on the half of dev that was not used to fit the scale.",
            "",
            "| task | items | uncalibrated | calibrated | held out | temperature | shift |",
            "|---|---|---|---|---|---|---|",
        ]
        for task, values in measured.items():
            errors = [values[key] for key in ("ece_before", "ece_after", "ece_held_out")]
            cells = [_score(None if each is None else 100 * each) for each in errors]
            scale = [f"{values['temperature']:.2f}", f"{values['shift']:+.2f}"]
            lines.append(f"| {' | '.join([task, str(values['items']), *cells, *scale])} |")
        lines.append("")
    lines += ["## Origin", "", *(f"- {key}: {value}" for key, value in config.origin.items()), ""]
    lines += [
        "## Limits",
        "",
        "English abstracts in the style of the training data. Relations are predicted within a sentence.",
    ]
    if config.scores.get("split", "dev") == "dev":
        lines.append(
            "Dev scores are optimistic, because thresholds and the epoch were chosen on the same abstracts."
        )
    lines.append("")
    return "\n".join(lines)


def _scores(config: ModelConfig) -> list[str]:
    """The scores of a model of one set, each graph by itself, and what int8 loses."""
    graphs = [name for name in GRAPHS if name in config.scores]
    scores = [config.scores[graph] for graph in graphs]
    thresholds = config.scores.get("thresholds", FITTED)
    lines = [
        f"## Scores on {config.scores.get('split', 'dev')}",
        "",
        f"{config.scores.get('documents', 0)} abstracts; {thresholds}.",
        "",
        "| metric | " + " | ".join(graphs) + " |",
        "|---|" + "---|" * len(graphs),
    ]
    rows = [(title, [each[key] for each in scores]) for key, title in _METRICS.items()]
    if config.given_entities:
        rows.append(("Relations, macro F1", [each["relation_macro"] for each in scores]))
        for label in dict.fromkeys(label for each in scores for label in each["relation_labels"]):
            rows.append((f"{label}, F1", [each["relation_labels"].get(label) for each in scores]))
    lines += [f"| {title} | " + " | ".join(map(_score, values)) + " |" for title, values in rows]
    lines += ["", *_parity(config.scores)]
    if lost := int8_losses(config.scores):
        words = ", ".join(f"{name} {loss:+.1f}" for name, loss in lost.items())
        over = [name for name, loss in lost.items() if loss > MOST_LOST]
        verdict = f"more than {MOST_LOST} F1 on {', '.join(over)}" if over else "within the limit"
        each_at = ", each graph at its own thresholds"
        at = each_at if thresholds == FITTED_EACH else " at the same thresholds"
        lines.append(f"F1 lost by int8{at}: {words} ({verdict}).")
    if folds := config.scores.get("folds"):
        lines += [
            "",
            f"The coreference head was trained by itself. On {folds['documents']} abstracts of its gold, each scored by a head that",
            f"has not learned from it ({folds['folds']} folds), it reaches {folds['coreference']:.1f}, with a standard deviation of",
            f"{folds['spread']:.1f} between folds. Its threshold was fitted there.",
        ]
    return [*lines, ""]


def _parity(scores: dict[str, Any]) -> list[str]:
    """How exact the export is, where that was measured."""
    if "parity" not in scores:
        return []
    return [f"Largest logit difference, torch to ONNX Runtime, fp32: {scores['parity']:.1e}."]


def _scores_by_set(scores: dict[str, Any]) -> Iterator[str]:
    """The scores of a model of several sets."""
    sets: dict[str, Any] = scores["sets"]
    yield from (
        "## Scores on the dev parts, set by set",
        "",
        "Documents as distributed (for bc5cdr, ncbi-disease, bc2gm and linnaeus a sentence each). Only the types for",
        "which a set was annotated are predicted. Entities count by exact boundaries and type, micro average. Thresholds",
        "were fitted on some of the same documents. int8.",
        "",
        "| set | documents | entities P | R | F1 | 95 % interval | trained on |",
        "|---|---|---|---|---|---|---|",
    )
    for name, each in sets.items():
        numbers = " | ".join(f"{each['entity'][key]:.1f}" for key in ("precision", "recall", "f1"))
        interval = f"{each['interval']['low']:.1f} to {each['interval']['high']:.1f}"
        trained = "yes" if each["trained"] else "no"
        yield f"| {name} | {each['documents']} | {numbers} | {interval} | {trained} |"
    yield ""
    for name, each in sets.items():
        if len(each["labels"]) > 1:
            parts = (f"{label} {f1:.1f}" for label, f1 in each["labels"].items())
            yield f"F1 by type, {name}: {', '.join(parts)}."
    yield ""
    for name, each in sets.items():
        if "relation" in each:
            yield (
                f"Relations of {name}, boundaries and direction, micro F1: {each['relation']['f1']:.1f} between "
                f"predicted entities, {each['given']['f1']:.1f} between given ones (macro F1 "
                f"{each['given_macro']:.1f})."
            )
            yield ""
    yield from _parity(scores)
    lost = (
        f"{name} {each['sample']['fp32'] - each['sample']['int8']:+.1f}"
        for name, each in sets.items()
    )
    yield f"F1 lost by int8 at the same thresholds, on some documents of each set: {', '.join(lost)}."
    yield ""


def _score(value: float | None) -> str:
    return "not known" if value is None else f"{value:.1f}"


def int8_losses(scores: dict[str, Any]) -> dict[str, float]:
    """F1 of fp32 minus F1 of int8 per task; empty where one of the graphs was not scored."""
    if "int8" not in scores or "fp32" not in scores:
        return {}
    pairs = {task: (scores["fp32"][task], scores["int8"][task]) for task in _COMPARED}
    known = {task: pair for task, pair in pairs.items() if None not in pair}
    return {task: round(full - small, 2) for task, (full, small) in known.items()}
