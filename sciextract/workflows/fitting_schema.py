"""The label schema of a new project, when nobody names one: that of the model that will predict in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from sciextract.documents.schema_file import bundled_schemas
from sciextract.errors import SciextractError
from sciextract.formats import read
from sciextract.formats.base import BadRecord
from sciextract.inference.locate import AUTO, DEFAULT_MODEL

DEFAULT_SCHEMA = "scierc"
ASKED_TEXTS = 200
"""Texts whose words decide for ``auto``."""


def fitting_schema(model: str | None, texts: Iterable[str]) -> str:
    """The bundled schema whose labels a model predicts; the default one where that cannot be told.

    A model that is missing or damaged is no failure here: whoever loads it says so.

    Args:
        model: What the user named; ``None`` is the model that the user chose before, or the default one.
        texts: What will be in the project; their words choose for ``auto``, else none is looked at.
    """
    try:
        name = _schema_of(_suited(texts) if model == AUTO else model)
    except SciextractError:
        return DEFAULT_SCHEMA
    return name if name in bundled_schemas() else DEFAULT_SCHEMA


def _schema_of(model: str | None) -> str:
    from sciextract.inference.folder import open_folder
    from sciextract.inference.locate import locate_model
    from sciextract.workflows.models.choice import chosen

    if model is None:
        return open_folder(chosen(None).model.folder, hashes=False).config.schema_name
    if "/" in model and not Path(model).expanduser().is_dir():
        return DEFAULT_SCHEMA  # of the hub: not fetched for this
    return open_folder(locate_model(model), hashes=False).config.schema_name


def texts_of(files: Sequence[str]) -> Iterator[str]:
    """The texts in files, read as they are asked for.

    Raises:
        FormatError: A file cannot be read.
    """
    for item in read(list(files), None):
        if not isinstance(item, BadRecord):
            yield item.document.text


def _suited(texts: Iterable[str]) -> str:
    """The bundled model that suits most of the first texts."""
    from sciextract.inference.domain.auto import suited_model

    votes = Counter(map(suited_model, islice(texts, ASKED_TEXTS)))
    return votes.most_common(1)[0][0] if votes else DEFAULT_MODEL
