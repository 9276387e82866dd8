"""Another project's documents and decisions into this one: how two annotators work without a server.

What decides is who has looked for what: in an abstract, for each type, a side has looked where it has finished that
type, and at the places that it has decided. What only they looked at is taken over, what only this project looked at
stays, and what both looked at is compared (:mod:`sciextract.workflows.disagreements`).
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from sciextract.documents.annotations import Layer
from sciextract.documents.schema import LabelSchema, match_names
from sciextract.store import documents, events
from sciextract.store.document_state import Context, DocumentState, decided, find_broken_rules
from sciextract.store.ingest import Batches, find_or_insert, keep_annotations
from sciextract.store.known_texts import KnownTexts
from sciextract.store.label_changes import renamed
from sciextract.store.merge_rows import Foreign, RowMerge, is_begun, with_remarks
from sciextract.store.queries import present
from sciextract.store.rows import (
    AttributeRow,
    EntityRow,
    RelationRow,
    rename_covered,
)
from sciextract.store.sqlite import from_sql
from sciextract.store.statistics import decisions_by_author
from sciextract.store.text_versions import (
    REMOVE,
    Alignment,
    move_decisions,
    removed_numbers,
    why_gone,
)

if TYPE_CHECKING:
    from sciextract.store.project import Project


@dataclass(slots=True)
class MergeCounts:
    """What a merge did.

    Attributes:
        documents: Texts that this project did not have.
        taken: Texts of both projects for which something was taken over that only the other side had looked at.
        compared: Texts of which both sides worked on the same layer: differences wait for adjudication.
        items: Items added or decided.
        removed: Texts that were removed here: they stay out.
        returned: Of the new texts, those with the key of an abstract that was removed here with another text.
        joined: Texts of papers that are here with another text, which stays.
        moved: What became of decisions about these: see :func:`~sciextract.store.text_versions.move_decisions`.
    """

    documents: int = 0
    taken: int = 0
    compared: int = 0
    items: int = 0
    removed: int = 0
    returned: int = 0
    joined: int = 0
    moved: Counter[str] = field(default_factory=Counter)


def foreign_documents(other: Project, schema: LabelSchema) -> Iterator[Foreign]:
    """All documents of the other project, one by one, with the names that its types have in a schema."""
    sources, theirs = other.sources, other.schema
    names = {
        EntityRow.TABLE: match_names(schema.entities, theirs.entities),
        RelationRow.TABLE: match_names(schema.relations, theirs.relations),
        AttributeRow.TABLE: match_names(schema.attributes, theirs.attributes),
    }
    for number in other.numbers():
        doc = _rename(other.document_state(number), names)
        if doc.progress is not None:
            records = tuple(documents.records(other.connection, number))
            yield Foreign(doc, sources, records)


def _rename(doc: DocumentState, names: Mapping[str, Mapping[str, str]]) -> DocumentState:
    if not any(names.values()):
        return doc
    for row in [*doc.items_of(Layer.ENTITIES, Layer.RELATIONS)]:
        doc.put(renamed(row, names[row.TABLE]))
    if doc.progress is not None:
        covered = rename_covered(doc.progress.covered, *names.values())
        doc.put(replace(doc.progress, covered=tuple(sorted(covered))))
    return doc


@dataclass(eq=False)
class ProjectMerge(Batches):
    """One merge of another project.

    Attributes:
        other: The other project.
        source: It, as ``import:FILE``.
        counts: What it did so far.
        joined: By the hashes of texts of papers that are here with another one, the numbers of those.
    """

    other: Project
    source: str
    counts: MergeCounts = field(default_factory=MergeCounts, init=False)
    joined: dict[str, int] = field(default_factory=dict, init=False)
    _authors: dict[int, int] = field(default_factory=dict, init=False)

    def begin(self, connection: sqlite3.Connection) -> Context:
        """Write the event, and before it one for each author, which that author's items carry."""
        theirs, own = self.other.connection, {}
        for row in decisions_by_author(theirs):
            params = {"source": self.source} | asdict(row)
            author_id = self.project.source_id(params.pop("author"))
            own[row.author] = events.append(connection, author_id, events.MERGED, params)
        query = "SELECT e.id, s.name FROM event e JOIN source s ON s.id = e.author_id"
        self._authors = {
            event: own[author] for event, author in theirs.execute(query) if author in own
        }
        author, params = self.project.author_id, {"source": self.source}
        event_id = events.append(connection, author, "merge project", params)
        return self.project.context(event_id, self.project.source_id(self.source))

    def add(self, foreign: list[Foreign]) -> list[int]:
        """Merge some documents, all or none of them; returns the numbers of those to compare.

        Raises:
            ProjectError: The file cannot be written; nothing of this batch is in it.
        """
        counts, to_compare = replace(self.counts, moved=Counter(self.counts.moved)), []
        with self.batch() as context:
            before = context.items
            for document in foreign:
                here = self._find_here(document, context, counts)
                if here is not None and self._add_one(context, *here, counts):
                    to_compare.append(here[0].number)
            counts.items += context.items - before
        self.counts = counts
        return to_compare

    @cached_property
    def _known(self) -> KnownTexts:
        """The papers that were here, and were removed, before the merge."""
        connection, known = self.project.connection, documents.known_papers
        removed = known(connection, removed_numbers(connection))
        return KnownTexts(self.project, self.source, known(connection), removed)

    @cached_property
    def _removed_keys(self) -> set[str]:
        """The keys of the abstracts that were removed before the merge."""
        gone = set(removed_numbers(self.project.connection))
        rows = self.project.connection.execute("SELECT id, doc_key FROM document")
        return {from_sql(key) for number, key in rows if number in gone}

    def _find_here(
        self, foreign: Foreign, context: Context, counts: MergeCounts
    ) -> tuple[DocumentState, Foreign] | None:
        """Where a document belongs, with what was decided about it at its places there; ``None`` for nowhere."""
        connection, document = self.project.connection, foreign.doc.stored.document
        stored = documents.find(connection, document)
        if stored is None:
            number = self._known.find_version(document)
            gone = REMOVE if number is None and self._known.was_removed(document) else None
        else:
            gone = why_gone(connection, document.text_sha256)
            newer = present(connection, (stored.number,)) if gone == "import" else ()
            number = next(iter(newer), None)
        if gone == REMOVE:
            counts.removed += 1
            return None
        if number is not None:
            here = self.project.document_state(number)
            alignment = Alignment(document.text, here.text)
            if stored is not None or alignment.is_alike:
                doc = DocumentState(here.stored, ())
                counts.moved += move_decisions(foreign.doc, doc, alignment, context)
                counts.joined += 1
                self.joined[document.text_sha256] = number
                return here, replace(foreign, doc=doc)
        counts.returned += stored is None and document.doc_key in self._removed_keys
        return find_or_insert(connection, document), foreign

    def _add_one(
        self, context: Context, doc: DocumentState, foreign: Foreign, counts: MergeCounts
    ) -> bool:
        """Whether both sides have something to say, so that they have to be compared."""
        mine, theirs, items = doc.progress, foreign.progress, context.items
        said = decided(foreign.doc, foreign.sources).annotations
        keep_annotations(
            self.project, context, doc.number, said, foreign.records, theirs.looked_for
        )
        RowMerge(doc, context, foreign, self._authors).merge()
        if mine is None:
            counts.documents += self.project.save(doc, context)
            return False
        both = any(is_begun(mine, layer) and is_begun(theirs, layer) for layer in Layer)
        broken = find_broken_rules(doc, context.schema.symmetric_labels)
        if any(not problem.by_import for problem in broken):
            # What is here does not go together with the other side's decisions: all of them wait.
            doc, context.items, both = DocumentState.of(doc.stored, doc.before), items, True
            doc.put(with_remarks(mine, theirs))
        counts.taken += self.project.save(doc, context)
        counts.compared += both
        return both
