"""The spaCy component ``sciextract``: ``nlp.add_pipe("sciextract")``.

An installed package announces it through the entry point group ``spacy_factories``; in a bare checkout
importing this module registers it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Protocol

from sciextract.documents.annotations import stable_id
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import MissingExtraError
from sciextract.inference.model_folder import DEFAULT_MODEL
from sciextract.interop.spacy_layers import SPAN_KEY, put_layers, register_extensions
from sciextract.interop.spacy_tokens import aligned_tokens

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
    go to ``doc.spans[span_key]``; a subset without overlap to ``doc.ents``; relations and clusters to
    ``doc._.relations`` and ``doc._.clusters``; probabilities to ``span._.score``, or where ``attributes`` says.

    Args:
        load: Loads the model: now, and once in each worker process.
        span_key: Name of the span group.
        set_ents: Whether to fill ``doc.ents``; entities of other components stay where there is room.
        attributes: Names of the extensions, which are registered now (see :func:`register_extensions`).

    Raises:
        UsageError: Another library has registered such a name.
    """

    def __init__(
        self,
        load: Callable[[], Annotator],
        span_key: str = SPAN_KEY,
        set_ents: bool = True,
        attributes: tuple[str, str, str] = ("relations", "clusters", "score"),
    ) -> None:
        self._attributes = attributes
        register_extensions(*attributes)
        self._load = load
        self._annotators: dict[int, Annotator] = {os.getpid(): load()}
        self.span_key = span_key
        self.set_ents = set_ents

    def __call__(self, doc: Doc) -> Doc:
        """Annotates one Doc in place."""
        tokens = aligned_tokens(doc)
        document = Document(stable_id("doc", doc.text), doc.text, tokens.table)
        put_layers(tokens, self._loaded().annotate(document), self.span_key, self.set_ents)
        return doc

    def _loaded(self) -> Annotator:
        """The model of this process: the threads of an inference session do not survive a fork.

        A forked process keeps the one it inherited, because taking that one down waits for its threads.
        """
        process = os.getpid()
        if process not in self._annotators:
            self._annotators[process] = self._load()
        return self._annotators[process]

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the model, which a spawned process loads itself."""
        return {**self.__dict__, "_annotators": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Another process has no extensions yet."""
        self.__dict__.update(state)
        register_extensions(*self._attributes)


class ExtractorLoader:
    """Loads an extractor on call; can be sent to other processes."""

    def __init__(self, model: str, threshold: dict[str, float]) -> None:
        self._model = model
        self._threshold = threshold

    def __call__(self) -> Annotator:
        """The extractor.

        Raises:
            SciextractError: The model cannot be loaded, or a threshold is not possible.
        """
        from sciextract.inference.extractor import Extractor

        return Extractor.load(self._model).with_settings(self._threshold)


@Language.factory(
    "sciextract",
    assigns=["doc.spans", "doc.ents", "doc._.relations", "doc._.clusters", "span._.score"],
    default_config={
        "model": DEFAULT_MODEL,
        "threshold": {},
        "span_key": SPAN_KEY,
        "set_ents": True,
        "relations_attr": "relations",
        "clusters_attr": "clusters",
        "score_attr": "score",
    },
)
def create_component(
    nlp: Language,
    name: str,
    model: str,
    threshold: dict[str, float],
    span_key: str,
    set_ents: bool,
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
        relations_attr: Name of the extension of Docs; empty for none.
        clusters_attr: Name of the extension of Docs; empty for none.
        score_attr: Name of the extension of Spans; empty for none.

    Raises:
        SciextractError: The model cannot be loaded, a threshold is not possible, or another library has
            registered an extension of such a name.
    """
    attributes = (relations_attr, clusters_attr, score_attr)
    return SciextractPipe(ExtractorLoader(model, threshold), span_key, set_ents, attributes)
