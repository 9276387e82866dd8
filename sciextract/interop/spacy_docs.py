"""Annotated documents as spaCy Docs and back, and as a file of Docs (DocBin, ``.spacy``).

>>> import spacy
>>> from sciextract.interop.spacy_docs import from_doc, to_doc
>>> from sciextract.text.analyse import make_document
>>> from sciextract.documents.document import AnnotatedDocument
>>> doc = to_doc(AnnotatedDocument(make_document("a", "We  parse\\ngraphs.")), spacy.blank("en").vocab)
>>> [token.text for token in doc]
['We', ' ', 'parse', '\\n', 'graphs', '.']
>>> from_doc(doc).document.doc_key
'a'
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sciextract import atomic
from sciextract.documents.annotations import Entity, Span, State, stable_id
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import FormatError, MissingExtraError, OutputError, explain_write_errors
from sciextract.formats.layers import token_layers
from sciextract.formats.sink import LossyWriter
from sciextract.interop.spacy_layers import (
    CLUSTER_PREFIX,
    SPAN_KEY,
    LayerOptions,
    aligned_tokens,
    new_doc,
    put_layers,
    register_extensions,
    span_keys,
    stored_annotations,
    stored_span_key,
    visible_keys,
)

try:
    from spacy.tokens import Doc, DocBin
    from spacy.vocab import Vocab
except ModuleNotFoundError as error:
    raise MissingExtraError("the spaCy bridge", "spacy") from error

__all__ = ["SOURCE", "from_doc", "register_extensions", "to_doc"]

SOURCE = "import:spacy"
"""The source of spans that something else put on a Doc."""


def to_doc(
    annotated: AnnotatedDocument,
    vocab: Vocab,
    *,
    span_key: str = SPAN_KEY,
    set_ents: bool = True,
    cluster_prefix: str = CLUSTER_PREFIX,
) -> Doc:
    """An annotated document as a Doc: ``doc.text`` is the exact text.

    Tokens are cut where the edge of an entity falls inside one. Rejected items, and entities that cover
    white space only, are not shown but come back with :func:`from_doc`.

    Args:
        annotated: The document.
        vocab: The vocabulary that the Doc shares, such as ``spacy.blank("en").vocab``.
        span_key: Name of the span group that holds all entities.
        set_ents: Whether ``doc.ents`` gets a subset without overlap.
        cluster_prefix: Each cluster is a span group ``PREFIX_1``, ``PREFIX_2``...; empty for no such groups.

    Raises:
        FormatError: The text or a label has a lone surrogate, which spaCy cannot hold.
    """
    doc = new_doc(vocab, annotated.document.text, token_layers(annotated).table)
    options = LayerOptions(span_key, set_ents, cluster_prefix=cluster_prefix)
    put_layers(aligned_tokens(doc), annotated, options)
    return doc


def from_doc(doc: Doc, *, doc_key: str = "", span_key: str = "") -> AnnotatedDocument:
    """A Doc as an annotated document.

    Entities are those of the span group, or of ``doc.ents`` where the Doc has no such group. What
    sciextract put on the Doc comes back whole as far as its spans are still there; spans added since, or by
    anyone else, become imported entities.

    Args:
        doc: Any Doc. Without sentences of its own it gets those of sciextract's splitter.
        doc_key: The document's name; the one it had, or one made from its text, when empty.
        span_key: Name of the span group; the one that sciextract filled first when empty.
    """
    span_key = span_key or stored_span_key(doc)
    tokens, stored = aligned_tokens(doc), stored_annotations(doc, span_key)
    if stored is None:
        document = Document("", doc.text, tokens.table)
        stored = AnnotatedDocument(document)
    key = doc_key or stored.document.doc_key or stable_id("doc", doc.text)
    table = tokens.table
    if table.spans == stored.document.tokens.spans:
        table = replace(table, forms=stored.document.tokens.forms)
    document = replace(stored.document, doc_key=key, tokens=table)
    wanted = span_keys(doc, span_key)
    lost: set[str] = set()
    for entity_id, shown in visible_keys(tokens, stored.annotations.entities).items():
        if wanted[shown] > 0:
            wanted[shown] -= 1
        else:
            lost.add(entity_id)
    annotations = stored.annotations
    if lost:
        annotations = annotations.among({entity.id for entity in annotations.entities} - lost)
        clusters = (cluster for cluster in annotations.clusters if len(cluster.mentions) > 1)
        annotations = replace(annotations, clusters=tuple(clusters))
    entities = [*annotations.entities]
    for number, (start, end, label) in enumerate(wanted.elements()):
        item_id = stable_id("entity", key, SOURCE, number, start, end, label)
        made = Entity(item_id, (Span(start, end),), label, None, State.IMPORTED, SOURCE)
        entities.append(made)
    annotations = replace(annotations, entities=tuple(entities))
    return replace(stored, document=document, annotations=annotations)


class DocBinWriter(LossyWriter):
    """Writes a DocBin when it is closed, since spaCy can only write one as a whole.

    Nothing is lost but documents with lone surrogates, which spaCy cannot hold: ``losses`` counts them. Rejected
    items are not shown on the Docs, but come back.
    """

    def __init__(self, destination: Path | str) -> None:
        """Prepare to write the file ``destination``.

        Raises:
            OutputError: Its folder does not exist, or it is a folder.
        """
        super().__init__()
        self._path = Path(destination)
        self._vocab = Vocab()
        # Sentence starts in place of spaCy's dependency heads, of which there are none; the two exclude each other.
        self._bin: DocBin | None = DocBin(
            attrs=["ORTH", "SENT_START", "ENT_IOB", "ENT_TYPE"], store_user_data=True
        )
        if self._path.is_dir() or not self._path.parent.is_dir():
            problem = f"{destination}: is not a file in a folder that exists"
            raise OutputError(problem, "choose another --output")

    def write(self, document: AnnotatedDocument) -> None:
        if self._bin is None:
            raise OutputError(f"{self._path}: is closed already")
        try:
            self._bin.add(to_doc(document, self._vocab))
        except FormatError:
            self.lose("document with a lone surrogate")

    def close(self) -> None:
        """Write the file, all of it or nothing.

        Raises:
            OutputError: The disk is full, or the file cannot be written.
        """
        if self._bin is None:
            return
        content, self._bin = bytes(self._bin.to_bytes()), None
        with explain_write_errors(self._path):
            atomic.write(self._path, content)
