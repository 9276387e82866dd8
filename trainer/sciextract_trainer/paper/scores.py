"""From a dev report to the figures that a column may show."""

from __future__ import annotations

from sciextract.metrics.report import EvaluationReport
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.given import classification_of

TASK_OF = {
    "entity": "entity",
    "entity_width8": "entity",
    "relation": "relation",
    "relation_strict": "relation",
    "coreference": "coreference",
    "given_micro": "relation",
    "given_macro": "relation",
}
"""What a column may show, and the task that it is of; ``given_*`` are relations between given entities."""


def is_scored(score: str, config: TrainConfig) -> bool:
    """Whether a training has that score: its task was learned, and entities were given or not."""
    learned = getattr(config, f"{TASK_OF[score]}_weight") > 0
    return bool(learned) and score.startswith("given_") == config.given_entities


def scores_of(report: EvaluationReport, config: TrainConfig) -> dict[str, float]:
    """F1 (0 to 100) by name of what was learned; what untrained heads say is no score."""
    relation, given = report.relation, classification_of(report)
    values = {
        "entity": report.ner.all.f1,
        "entity_width8": report.ner.width8.f1,
        "relation": relation.boundaries.ordered.f1,
        "relation_strict": relation.strict.ordered.f1,
        "coreference": report.coreference.conll.f1,
        "given_micro": given.micro.f1,
        "given_macro": given.macro_f1,
    }
    return {name: value for name, value in values.items() if is_scored(name, config)}
