"""What of a training joins it with swapped entities: gold documents, or documents with decisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.pipeline import Labels
from sciextract.store.state.rows import IN_VIEW
from sciextract.workflows.snapshot import Origin, TrainingDocument
from sciextract_trainer.build import PieceRules
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.augment import EntitySwap, Swaps
from sciextract_trainer.data.batches import Sized
from sciextract_trainer.data.decided import decided_examples
from sciextract_trainer.families import family_of


def gold_swaps(
    config: TrainConfig, gold: Sequence[AnnotatedDocument], labels: Labels, rules: PieceRules
) -> Swaps | None:
    """Swaps among gold documents; ``None`` where the recipe wants none."""
    if not config.augment:
        return None
    examples = family_of(config).examples

    def made(row: int, item: AnnotatedDocument) -> Iterable[Sized]:
        return examples([item], labels, rules)

    swap = EntitySwap(gold, most_words=labels.max_span_width)
    return Swaps(swap, swap.rows(), made, config.seed)


def decided_swaps(
    config: TrainConfig,
    documents: Sequence[TrainingDocument],
    labels: Labels,
    rules: PieceRules,
) -> Swaps | None:
    """Swaps in the documents that were decided; ``None`` where the recipe wants none.

    The mentions come from the base, too, whose documents are not swapped where there are others.
    """
    if not config.augment:
        return None
    swap = EntitySwap([each.annotated for each in documents], IN_VIEW, labels.max_span_width)
    own = {row for row, each in enumerate(documents) if each.origin is not Origin.BASE}
    rows = [row for row in swap.rows() if row in own or not own]

    def made(row: int, item: AnnotatedDocument) -> Iterable[Sized]:
        document = TrainingDocument(item, documents[row].complete)
        return decided_examples([document], labels, rules.encoder(), rules.limit)

    return Swaps(swap, rows, made, config.seed)
