"""With rescue, entities below the threshold are predicted for the sake of relations, and only so; the bundled model has none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sciextract import Extractor, formats
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.formats.base import BadRecord
from sciextract.inference.settings import Rescue

SAMPLES = Path(__file__).resolve().parents[3] / "sample_data" / "library.bib"


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    """The sample abstracts."""
    items = formats.read([SAMPLES])
    return [item.document for item in items if not isinstance(item, BadRecord)]


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    """The model with a rescue of its own."""
    extractor = Extractor.load("sci", threads=1)
    least = extractor.settings.thresholds
    rescue = Rescue(0.3 * least.entity, least.relation)
    return replace(extractor, changed=replace(extractor.settings, rescue=rescue))


def _below(item: AnnotatedDocument, threshold: float) -> set[str]:
    return {e.id for e in item.annotations.entities if e.score is not None and e.score < threshold}


def test_every_entity_below_the_threshold_has_its_relation(
    extractor: Extractor, documents: list[Document]
) -> None:
    settings, found = extractor.settings, 0
    assert settings.rescue is not None
    for item in extractor.stream(documents):
        low = _below(item, settings.thresholds.entity)
        sure = [r for r in item.annotations.relations if (r.score or 0) >= settings.rescue.relation]
        tied = {end for r in sure if not {r.head, r.tail} <= low for end in (r.head, r.tail)}
        assert low <= tied
        found += len(low)
    assert found, "the samples hold such an entity"


def test_ones_own_threshold_has_no_exceptions(
    extractor: Extractor, documents: list[Document]
) -> None:
    same = extractor.settings.thresholds.entity
    strict = extractor.with_settings(thresholds={"entity": same})
    assert not any(_below(item, same) for item in strict.stream(documents))
