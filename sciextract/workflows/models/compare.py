"""Two models side by side: on documents of the user's, or by the scores that they state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sciextract.errors import FormatError
from sciextract.metrics.gate_report import GateReport
from sciextract.workflows.evaluate import DocumentMismatchError, read_gold
from sciextract.workflows.models.gating import gate_gold
from sciextract.workflows.models.registry import KnownModel, find_model

if TYPE_CHECKING:
    from sciextract.inference.model_config import ModelConfig

STATED = {
    "ner": "entities",
    "relation": "relations",
    "relation_strict": "strict relations",
    "relation_macro": "relations (macro)",
    "coreference": "coreference",
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two models, and how they differ.

    Attributes:
        before: The first.
        after: The second.
        report: Both on the same documents; ``None`` where only stated scores were compared.
        stated: Per score what the first and the second state, ``None`` where one does not.
        remarks: What to mind.
        bad_records: Records of the file that could not be read.
    """

    before: KnownModel
    after: KnownModel
    report: GateReport | None
    stated: dict[str, tuple[float | None, float | None]]
    remarks: tuple[str, ...] = ()
    bad_records: tuple[FormatError, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The object of ``models compare --json``."""
        return {
            "before": self.before.id,
            "after": self.after.id,
            "report": self.report and self.report.to_json(),
            "stated": {
                name: {"before": first, "after": second, "difference": _less(first, second)}
                for name, (first, second) in self.stated.items()
            },
            "remarks": list(self.remarks),
        }


def compare(first: str, second: str, data: str | None = None, *, blind: bool = False) -> Comparison:
    """Hold two models against each other.

    Args:
        first: ``NAME``, ``NAME-hash8``, a folder or a hub id: the model before.
        second: The model after.
        data: A file or folder of gold that both predict; their stated scores when ``None``.
        blind: Whether to report documents that were not corrected from a model's suggestions apart, too.

    Raises:
        ModelNotFoundError: There is no such model; lists the known ones.
        ModelDamagedError: A file of one is missing or changed.
        InputMissingError: The file does not exist.
        DocumentMismatchError: It holds no document.
    """
    before, after = find_model(first), find_model(second)
    configs = before.open().config, after.open().config
    remarks = [*_labels_differ(before, after, configs)]
    if data is None:
        remarks += _dev_differs(configs)
        return Comparison(before, after, None, _stated(configs), tuple(remarks))
    from sciextract.inference.extractor import Extractor

    documents, bad = read_gold(data)
    if not documents:
        raise DocumentMismatchError(f"{data} holds no document to compare on")
    models = (Extractor.load(each.folder) for each in (before, after))
    report = gate_gold(documents, *models, blind=blind)
    return Comparison(before, after, report, _stated(configs), tuple(remarks), bad)


def _stated(
    configs: tuple[ModelConfig, ModelConfig],
) -> dict[str, tuple[float | None, float | None]]:
    first, second = (graph_scores(each) for each in configs)
    return {
        name: (first.get(name), second.get(name))
        for name in STATED
        if name in first or name in second
    }


def graph_scores(config: ModelConfig) -> dict[str, float]:
    """F1 on dev as a model states it, of the graph that runs when nobody names one."""
    for graph in ("int8", "fp32"):
        scores = config.scores.get(graph)
        if isinstance(scores, dict):
            return {name: float(value) for name, value in scores.items() if _is_number(value)}
    return {}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _dev_differs(configs: tuple[ModelConfig, ModelConfig]) -> Iterator[str]:
    first, second = (each.origin.get("dev data") for each in configs)
    if first is None or first != second:
        yield (
            "the stated scores may be of different dev documents; --data FILE compares both on the same"
        )


def _labels_differ(
    before: KnownModel, after: KnownModel, configs: tuple[ModelConfig, ModelConfig]
) -> Iterator[str]:
    first, second = ({*each.labels.entities, *each.labels.relations.labels} for each in configs)
    for model, only in ((before, first - second), (after, second - first)):
        if only:
            yield f"labels of {model.id} only: {', '.join(sorted(only))}"


def _less(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else round(second - first, 2)
