"""The bundled science model predicts entities below its threshold for the sake of relations, and only so."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract import Extractor, formats
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.formats.base import BadRecord

SAMPLES = Path(__file__).resolve().parents[3] / "sample_data" / "library.bib"


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    """The sample abstracts."""
    items = formats.read([SAMPLES])
    return [item.document for item in items if not isinstance(item, BadRecord)]


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    """The model."""
    return Extractor.load("sci", threads=1)


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
