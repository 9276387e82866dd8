"""Entities, relations and coreference from scientific abstracts.

>>> import sciextract
>>> sciextract.__version__
'0.1.0'
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation
    from sciextract.documents.document import AnnotatedDocument, Document
    from sciextract.documents.schema import LabelSchema
    from sciextract.inference.extractor import Extractor
    from sciextract.interop.notebook import to_frames
    from sciextract.text.analyse import join_title, make_document

__version__ = "0.1.0"

# huggingface_hub reads this once, when it is imported: by this package, the trainer or transformers. A value
# that the user has set is kept.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
os.environ.setdefault("HF_UPDATE_DOWNLOAD_COUNTS", "0")  # of the package datasets

_HOMES = {
    "AnnotatedDocument": "sciextract.documents.document",
    "Annotations": "sciextract.documents.annotations",
    "Cluster": "sciextract.documents.annotations",
    "Document": "sciextract.documents.document",
    "Entity": "sciextract.documents.annotations",
    "Extractor": "sciextract.inference.extractor",
    "LabelSchema": "sciextract.documents.schema",
    "Relation": "sciextract.documents.annotations",
    "join_title": "sciextract.text.analyse",
    "make_document": "sciextract.text.analyse",
    "to_frames": "sciextract.interop.notebook",
}

__all__ = [
    "AnnotatedDocument",
    "Annotations",
    "Cluster",
    "Document",
    "Entity",
    "Extractor",
    "LabelSchema",
    "Relation",
    "__version__",
    "join_title",
    "make_document",
    "to_frames",
]


def __getattr__(name: str) -> Any:
    """Imports public names on first use (PEP 562), so that start-up stays light."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sciextract' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
