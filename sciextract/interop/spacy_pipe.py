"""The spaCy component ``sciextract``: ``nlp.add_pipe("sciextract")``.

An installed package announces it through the entry point group ``spacy_factories``; in a bare checkout
importing this module registers it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from sciextract.documents.annotations import stable_id
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import MissingExtraError, UsageError
from sciextract.inference.model_folder import DEFAULT_MODEL
from sciextract.interop.spacy_layers import (
    ATTRIBUTES,
    CLUSTER_PREFIX,
    SPAN_KEY,
    LayerOptions,
    aligned_tokens,
    put_layers,
    register_extensions,
)

try:
    from spacy.language import Language
    from spacy.tokens import Doc
except ModuleNotFoundError as error:
    raise MissingExtraError("the spaCy component", "spacy") from error


class Annotator(Protocol):
    """The part of an extractor that the component uses."""

    def annotate(self, document: Document) -> AnnotatedDocument:
        """Predicts one document; its tokens and sentences are used as they are."""


class SciextractPipe:
    """Annotates Docs with entities, relations and clusters.

    The Doc's own tokens are used, and its own sentences where it has some. All entities, nested ones too,
    go to ``doc.spans["sc"]``; a subset without overlap to ``doc.ents``; relations and clusters to
    ``doc._.relations`` and ``doc._.clusters``; probabilities to ``span._.score``. Options and attributes change these names.

    Args:
        load: Loads the model: now, and once in each worker process.
        options: Names of the span groups, what to do with ``doc.ents``, and names of the extensions, which are registered
            now (see :func:`register_extensions`).

    Raises:
        UsageError: Another library has registered such a name.
    """

    def __init__(
        self,
        load: Callable[[], Annotator],
        options: LayerOptions | None = None,
    ) -> None:
        self.options = options or LayerOptions()
        register_extensions(*self.options.attributes)
        self._load = load
        self._annotators: dict[int, Annotator] = {os.getpid(): load()}

    def __call__(self, doc: Doc) -> Doc:
        tokens = aligned_tokens(doc)
        document = Document(stable_id("doc", doc.text), doc.text, tokens.table)
        # The threads of an inference session do not survive a fork: each process has a model of its own. A forked
        # process keeps the one it inherited, because taking that one down waits for its threads.
        process = os.getpid()
        if process not in self._annotators:
            self._annotators[process] = self._load()
        put_layers(tokens, self._annotators[process].annotate(document), self.options)
        return doc

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the model, which a spawned process loads itself."""
        return {**self.__dict__, "_annotators": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Another process has no extensions yet."""
        self.__dict__.update(state)
        register_extensions(*self.options.attributes)


def load_annotator(model: str, threshold: dict[str, float]) -> Annotator:
    """The extractor of a model; worker processes call it by its name.

    Raises:
        SciextractError: The model cannot be loaded, or a threshold is not possible.
    """
    from sciextract.inference.extractor import Extractor

    return Extractor.load(model).with_settings(threshold)


@Language.factory(
    "sciextract",
    assigns=["doc.spans", "doc.ents", "doc._.relations", "doc._.clusters", "span._.score"],
    default_config={
        "model": DEFAULT_MODEL,
        "threshold": {},
        "span_key": SPAN_KEY,
        "set_ents": True,
        "overwrite_ents": False,
        "cluster_prefix": CLUSTER_PREFIX,
        **dict(zip(("relations_attr", "clusters_attr", "score_attr"), ATTRIBUTES, strict=True)),
    },
)
def create_component(
    nlp: Language,
    name: str,
    model: str,
    threshold: dict[str, float],
    span_key: str,
    set_ents: bool,
    overwrite_ents: bool,
    cluster_prefix: str,
    relations_attr: str,
    clusters_attr: str,
    score_attr: str,
) -> SciextractPipe:
    """Makes the component.

    Args:
        nlp: The pipeline.
        name: The component's name in it.
        model: Bundled name, model folder or hub id.
        threshold: Task (``entity``, ``relation``, ``coreference``) to least probability, where it differs
            from the model's own.
        span_key: Name of the span group.
        set_ents: Whether to fill ``doc.ents``.
        overwrite_ents: Whether entities that the Doc has already give way to overlapping ones.
        cluster_prefix: Each cluster is a span group ``PREFIX_1``, ``PREFIX_2``...; empty for no such groups.
        relations_attr: Name of the extension of Docs; empty for none.
        clusters_attr: Name of the extension of Docs; empty for none.
        score_attr: Name of the extension of Spans; empty for none.

    Raises:
        SciextractError: The model cannot be loaded, a threshold is not possible, another library has registered an
            extension of such a name, or another component fills the span group.
    """
    for other, component in nlp.components:
        if isinstance(component, SciextractPipe) and component.options.span_key == span_key:
            problem = f"the components {other!r} and {name!r} both fill doc.spans[{span_key!r}]"
            names = f'{{"span_key": "{name}", "relations_attr": "{name}_relations", "clusters_attr": "{name}_clusters"}}'
            raise UsageError(problem, f"choose other names for one of them: config={names}")
    attributes = (relations_attr, clusters_attr, score_attr)
    options = LayerOptions(span_key, set_ents, overwrite_ents, cluster_prefix, attributes)
    return SciextractPipe(partial(load_annotator, model, threshold), options)
