"""What a release holds: the records of its abstracts with the types of their fields, and what its pages describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sciextract.documents.bibliography import bibliography_of
from sciextract.documents.document import AnnotatedDocument, text_hash
from sciextract.documents.schema import LabelSchema
from sciextract.formats.exchange import SCHEMA_VERSION, item_record
from sciextract.formats.json_values import Record
from sciextract.metrics.report import AgreementReport
from sciextract.store.project_settings import ReleaseTerms
from sciextract.text.characters import visible, without_surrogates
from sciextract.text.english import counted
from sciextract.workflows.release.figures import Figures, source_kind

_MADE = {"state": "string", "source": "string"}
_FIELDS: dict[str, Any] = {
    "schema_version": "int64",
    "doc_key": "string",
    "doi": "string",
    "pmid": "string",
    "year": "int64",
    "text_sha256": "string",
    "text": "string",
    "sentences": [["string"]],
    "sentence_ranges": [["int64"]],
    "token_ranges": [["int64"]],
    "entities": [
        {"id": "string", "fragments": [["int64"]], "label": "string", **_MADE, "text": "string"}
    ],
    "links": [{"id": "string", "head": "string", "tail": "string", "label": "string", **_MADE}],
    "groups": [{"id": "string", "mentions": ["string"], **_MADE}],
}
"""Fields of an exchange record of which all values have one type, as tables of columns want it."""


def fields_of(with_text: bool) -> dict[str, Any]:
    """The fields of a record by name: a type, a list with the type of its elements, or a mapping of fields."""
    left_out = {"sentence_ranges"} if with_text else {"text", "sentences"}
    fields = {name: kind for name, kind in _FIELDS.items() if name not in left_out}
    if not with_text:
        entity = {name: kind for name, kind in fields["entities"][0].items() if name != "text"}
        fields["entities"] = [entity]
    return fields


def release_record(annotated: AnnotatedDocument, with_text: bool) -> tuple[Record, int]:
    """The record of an abstract, and how many lone surrogates of its text became U+FFFD, for UTF-8 has none.

    Without text there are offsets and the hash of the text alone; ``sentence_ranges`` are in tokens.
    """
    document, items = annotated.document, annotated.annotations
    text, replaced = without_surrogates(document.text) if with_text else (document.text, 0)
    tokens, about = document.tokens, bibliography_of(document.fields)
    strings = tokens.strings(text)
    ranges = [[sentence.token_start, sentence.token_end] for sentence in tokens.sentences]
    values: Record = {
        "schema_version": SCHEMA_VERSION,
        "doc_key": without_surrogates(document.doc_key)[0],
        "doi": about.doi,
        "pmid": about.pmid,
        "year": about.year,
        "text_sha256": text_hash(text),
        "text": text,
        "sentences": [strings[start:end] for start, end in ranges],
        "sentence_ranges": ranges,
        "token_ranges": [[span.char_start, span.char_end] for span in tokens.spans],
        "entities": [
            {**item_record(entity), "text": entity.text_of(text)} for entity in items.entities
        ],
        "links": [item_record(relation) for relation in items.relations],
        "groups": [item_record(cluster) for cluster in items.clusters],
    }
    fields = fields_of(with_text)
    record = {name: values[name] for name in fields}
    for name in ("entities", "links", "groups"):
        for item in values[name]:
            item["source"] = source_kind(item["source"])
        record[name] = [{key: item[key] for key in fields[name][0]} for item in values[name]]
    return record, replaced


@dataclass(frozen=True, slots=True)
class Contents:
    """What the pages of a release describe.

    Attributes:
        name: The corpus: the name of the project file.
        schema: Its labels.
        terms: Licence and citation.
        figures: What was counted.
        data: By split its file of JSON lines and the file's SHA-256, in the order of the splits.
        with_text: Whether the texts are in it.
        everything: Whether unfinished abstracts are in it.
        agreement: How far two people agreed; ``None`` where one person worked alone.
        changed_at: When the project was changed last, as an ISO date.
    """

    name: str
    schema: LabelSchema
    terms: ReleaseTerms
    figures: Figures
    data: Mapping[str, tuple[str, str]]
    with_text: bool
    everything: bool
    agreement: AgreementReport | None
    changed_at: str

    @property
    def documents(self) -> int:
        """Abstracts in all splits."""
        return sum(self.figures.totals[split, "documents"] for split in self.data)

    @property
    def description(self) -> str:
        """One sentence."""
        texts = "" if self.with_text else ", without their texts"
        title = visible(self.schema.title)
        return f"{counted(self.documents, 'scientific abstract')}{texts}, annotated with the labels of: {title}"
