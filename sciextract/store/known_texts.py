"""What becomes of a text that a project does not have: new, a version of one that is here, of a paper that is kept once, or removed."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.papers import PaperIndex, PaperRecord, are_others, paper_of
from sciextract.store import documents
from sciextract.store.document_state import Context
from sciextract.store.documents import Record
from sciextract.store.ingest import ImportCounts, find_or_insert, is_untouched, keep_annotations
from sciextract.store.sqlite import first_value, to_sql
from sciextract.store.text_versions import (
    REMOVE,
    Alignment,
    move_annotations,
    move_decisions,
    why_gone,
)

if TYPE_CHECKING:
    from sciextract.store.project import Project


@dataclass(eq=False)
class KnownTexts:
    """The texts and papers of a project, for one import of a file.

    Attributes:
        project: Open for writing.
        source: ``import:FILE``.
        papers: Those of the project, to keep each once; ``None`` keeps every text.
        removed: Those that were removed from it, to keep them out; ``None`` brings them back.
        update: Whether another text of an abstract takes the place of the one that is here.
        remarks: Keys of documents and what there is to say about their texts.
    """

    project: Project
    source: str
    papers: PaperIndex | None
    removed: PaperIndex | None = None
    update: bool = False
    remarks: list[tuple[str, str]] = field(default_factory=list, init=False)

    @property
    def _connection(self) -> sqlite3.Connection:
        return self.project.connection

    def find_place(
        self, context: Context, item: AnnotatedDocument, counts: ImportCounts, came: Collection[int]
    ) -> AnnotatedDocument | None:
        """What goes into the project of a text that it does not have; ``None`` where all is done that there was to do.

        Args:
            context: The import.
            item: The document that comes.
            counts: Counts what was done.
            came: Numbers of the documents that came with the same import.
        """
        document, said = item.document, item.annotations
        paper = paper_of(document) if self.papers else None
        known, same_key = self._find_paper(document, paper), self._find_key(document)
        # Of one file several texts may have a key: none of them is the version of another.
        earlier = same_key if same_key and same_key[0] not in came else None
        if earlier and self._is_other(earlier[0], document):
            earlier = None
        if known is None and earlier and paper and earlier[1].is_alike:
            known = earlier[0]
        gone = why_gone(self._connection, document.text_sha256)
        found = bool(self.removed and paper and self.removed.find(paper))
        if known is None and self.removed and (gone == REMOVE or found):
            counts.removed += 1
            return None
        is_older = known is not None and known not in came
        if self.update and known is not None and is_older and self._is_changed(known, document):
            alignment = Alignment(documents.load(self._connection, known).text, document.text)
            if not alignment.shared:
                self._refuse(document, counts)
                return None
            counts.moved += self._replace(context, known, document, alignment)[1]
            counts.updated += 1
            return item
        if self.update and known is None and earlier and not _is_numbered(document.doc_key):
            self._refuse(document, counts)
            return None
        has_items = bool(said.entities or said.relations or said.clusters)
        is_earlier = gone == "import"
        if known is not None and paper and self.papers and (is_earlier or not has_items):
            if has_items:
                self._remark(
                    document, "an earlier text of an abstract here: its annotations stay out"
                )
            self.papers.add(self._keep_once(context, known, item, paper, counts, came), paper)
            return None
        if known is not None:
            kept = documents.load(self._connection, known).document
            alignment = Alignment(document.text, kept.text)
            if alignment.is_same:  # formats of tokens do not keep blanks
                return replace(item, document=kept, annotations=move_annotations(said, alignment))
            counts.changed += 1
            words = "its paper is here with another text: both are kept, for it has annotations"
            self._remark(document, words)
        elif same_key:
            self._remark(document, "another text here has the same key: both are kept")
        return item

    def find_version(self, document: Document) -> int | None:
        """The document of the same paper, or of the same key and mostly the same words."""
        known, same_key = self._find_paper(document, paper_of(document)), self._find_key(document)
        if known is None and same_key and same_key[1].is_alike:
            known = None if self._is_other(same_key[0], document) else same_key[0]
        return known

    def _is_other(self, number: int, document: Document) -> bool:
        kept = documents.load(self._connection, number).document
        return are_others(paper_of(kept), paper_of(document))

    def was_removed(self, document: Document) -> bool:
        """Whether a person removed its paper."""
        return bool(self.removed and self.removed.find(paper_of(document)) is not None)

    def _find_paper(self, document: Document, paper: PaperRecord | None) -> int | None:
        """The document of the same paper in the project."""
        if self.papers is None or paper is None:
            return None
        before = self.papers.apart
        known = self.papers.find(paper)
        if known is None and self.papers.apart > before:
            self._remark(document, "another paper here has its DOI or PubMed id: both are kept")
        return known

    def _find_key(self, document: Document) -> tuple[int, Alignment] | None:
        """The document that has the key with another text, and how far both are the same."""
        query = """SELECT d.id FROM document d JOIN progress p ON p.document_id = d.id
            WHERE d.doc_key = ? AND d.sha256 != ?"""
        name = to_sql(document.doc_key), document.text_sha256
        number = first_value(self._connection, query, *name)
        if number is None:
            return None
        text = documents.load(self._connection, number).text
        return number, Alignment(text, document.text)

    def add(self, number: int, document: Document) -> None:
        """Make a document known by its paper."""
        if self.papers:
            self.papers.add(number, paper_of(document))

    def _is_changed(self, number: int, came: Document) -> bool:
        """Whether a text is a new version of a document: no earlier one, and not what another database wrote before."""
        connection = self._connection
        kept = documents.load(connection, number).document
        others = (
            record
            for record in documents.records(connection, number)
            if record.source != self.source
        )
        keys = {record.doc_key for record in others} - {kept.doc_key}
        return (
            came.doc_key not in keys
            and why_gone(connection, came.text_sha256) != "import"
            and paper_of(came).text != paper_of(kept).text
        )

    def _replace(
        self, context: Context, number: int, came: Document, alignment: Alignment
    ) -> tuple[int, Counter[str]]:
        """Make a text the new version of a document; gives its number and what became of decisions."""
        old = self.project.document_state(number)
        # The key stays: scripts and papers name the abstract by it.
        kept = replace(came, doc_key=old.stored.document.doc_key)
        there = find_or_insert(self._connection, kept).number
        records = [*documents.records(self._connection, number)]
        keep_annotations(self.project, context, there, None, records)
        new = self.project.document_state(there)
        moved = move_decisions(old, new, alignment, context)
        self.project.save(old, context)
        self.project.save(new, context)
        return new.number, moved

    def _refuse(self, document: Document, counts: ImportCounts) -> None:
        counts.refused += 1
        words = "hardly a word of it is in the abstract of that key here: not taken; give it another key, or remove that one first"
        self._remark(document, words)

    def _keep_once(
        self, context: Context, number: int, item: AnnotatedDocument, paper: PaperRecord,
        counts: ImportCounts, others: Collection[int],
    ) -> int:  # fmt: skip
        """Add a record to the document of the same paper and give its number.

        The longer text is kept where nobody has decided anything: it becomes the document.
        """
        came = item.document
        doc, known = (
            self.project.document_state(number),
            documents.records(self._connection, number),
        )
        kept = doc.stored.document
        first = next(known, None)
        counts.already[first.source.removeprefix("import:") if first else ""] += 1
        is_changed = number not in others and self._is_changed(number, came)
        record = Record(came.doc_key, self.source, came.fields, item.warnings)
        keep_annotations(self.project, context, number, None, [record])
        is_open = is_untouched(doc)
        is_earlier = why_gone(self._connection, came.text_sha256) == "import"
        if is_open and not is_earlier and paper.says_more_than(paper_of(kept)):
            counts.longer += 1
            alignment = Alignment(kept.text, came.text)
            number, _ = self._replace(context, number, came, alignment)
        elif is_changed:
            counts.changed += 1
            if not is_open:
                self._remark(came, f"here already as {kept.doc_key!r}, annotated: its text stays")
            elif came.doc_key == kept.doc_key:
                self._remark(came, "here already with another text, which stays")
        return number

    def _remark(self, document: Document, words: str) -> None:
        self.remarks.append((document.doc_key, words))


def _is_numbered(key: str) -> bool:
    """Whether a key is a place in a file, which means another record in its next version."""
    return key.rpartition(":")[2].isdecimal()
