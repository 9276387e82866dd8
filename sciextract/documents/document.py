"""A document: exact text, its token table, and what was said about it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sciextract.documents.annotations import Annotations
from sciextract.documents.tokens import TokenTable


@dataclass(frozen=True, slots=True)
class Document:
    """Exact Unicode text with code-point offsets.

    Attributes:
        doc_key: The document's name in its file.
        text: The text, never normalised.
        tokens: Its token table.
        fields: Input fields that sciextract does not interpret; kept on export.
    """

    doc_key: str
    text: str
    tokens: TokenTable
    fields: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def text_sha256(self) -> str:
        """Hex SHA-256 of the text in UTF-8; lone surrogates are hashed as they stand."""
        return text_hash(self.text)


def text_hash(text: str) -> str:
    """Hex SHA-256 of a text in UTF-8; lone surrogates are hashed as they stand."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class ModelId:
    """Which model made a prediction: its name and the hash of its manifest."""

    name: str
    hash: str

    def __str__(self) -> str:
        return f"{self.name}@{self.hash[:8]}"


@dataclass(frozen=True, slots=True)
class AnnotatedDocument:
    """A document with the annotations of one source.

    Attributes:
        model: The model that predicted them, ``None`` for imported or human annotations.
        warnings: Remarks that are not errors (another language, unknown label...).
        done: Whether a person has decided all of it; ``None`` where nobody began, or nothing is known of that.
    """

    document: Document
    annotations: Annotations = field(default_factory=Annotations)
    model: ModelId | None = None
    warnings: tuple[str, ...] = ()
    done: bool | None = field(default=None, compare=False)
