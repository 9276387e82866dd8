"""The model card that lies in every model folder."""

from __future__ import annotations

from sciextract.inference.folder import GRAPHS
from sciextract.inference.model_config import ModelConfig

_METRICS = {
    "ner": "Entities, micro F1",
    "relation": "Relations, boundaries, ordered, micro F1",
    "relation_strict": "Relations, strict, ordered, micro F1",
    "coreference": "Coreference, CoNLL average F1",
}


def model_card(config: ModelConfig) -> str:
    """Markdown: what the model is, its scores, its origin, its limits."""
    return "\n".join([*_head(config), *_scores(config), *_origin(config), *_limits(config)])


def _head(config: ModelConfig) -> list[str]:
    labels = config.labels
    return [
        f"# {config.name}",
        "",
        "A model of sciextract: entities, relations and coreference in scientific abstracts, in one pass.",
        "",
        f"- Schema: {config.schema_name} (content hash {config.schema_hash[:12]})",
        f"- Entity types: {', '.join(labels.entities)}",
        f"- Relation types: {', '.join(labels.relations.labels)}",
        f"- Entities of up to {labels.max_span_width} words; windows of {config.piece_limit} pieces",
        "",
    ]


def _scores(config: ModelConfig) -> list[str]:
    graphs = [name for name in GRAPHS if name in config.scores]
    lines = [
        f"## Scores on {config.scores.get('split', 'dev')}",
        "",
        f"{config.scores.get('documents', 0)} abstracts; thresholds are fitted on the same split.",
        "",
        "| metric | " + " | ".join(graphs) + " |",
        "|---|" + "---|" * len(graphs),
    ]
    for key, title in _METRICS.items():
        values = [f"{config.scores[graph][key]:.1f}" for graph in graphs]
        lines.append(f"| {title} | " + " | ".join(values) + " |")
    parity = config.scores.get("parity", 0.0)
    return [*lines, "", f"Largest logit difference, torch to ONNX Runtime, fp32: {parity:.1e}.", ""]


def _origin(config: ModelConfig) -> list[str]:
    lines = ["## Origin", ""]
    lines += [f"- {key}: {value}" for key, value in config.origin.items()]
    return [*lines, ""]


def _limits(config: ModelConfig) -> list[str]:
    return [
        "## Limits",
        "",
        "English abstracts in the style of the training data. Relations are predicted within a sentence.",
        "Scores of dev abstracts are optimistic by the fit of thresholds and the choice of the epoch.",
        "",
    ]
