"""The registry: which models there are, which one predicts, and models as files to hand on.

A registered model is a verified folder ``<name>-<hash8>`` that is never changed. A choice names a model by its
hash, for one project or for the user; choices are only ever added, so that each can be taken back.
"""

from __future__ import annotations

from sciextract.workflows.models.choice import (
    Chosen,
    chosen,
    current,
    rollback,
    unusable_models,
    use,
)
from sciextract.workflows.models.registry import (
    KnownModel,
    export,
    find_model,
    import_,
    known_models,
    register,
)

__all__ = [
    "Chosen",
    "KnownModel",
    "chosen",
    "current",
    "export",
    "find_model",
    "import_",
    "known_models",
    "register",
    "rollback",
    "unusable_models",
    "use",
]
