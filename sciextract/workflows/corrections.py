"""Annotations that come back for abstracts of a project: what differs from what was decided here, against what their file could say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from sciextract.documents.annotations import Annotations, Layer, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import BadRecord, open_writer, read
from sciextract.formats.registry import get_format
from sciextract.snapshot.gathering import layers_with
from sciextract.store import DocumentState, Project, events
from sciextract.store.document_state import Context, annotated
from sciextract.store.ingest import keep_annotations
from sciextract.store.rows import BY_PERSONS, IN_VIEW, covered_name, type_of_row, types_in
from sciextract.workflows.adjudicate import in_order, refresh_disagreements, try_to_take
from sciextract.workflows.disagreements import MERGE, Dispute, compare_with, types_of

KIND = "corrections"
"""The word in the log."""


@dataclass(eq=False)
class Corrections:
    """What one file says about abstracts of a project, compared with what is decided there.

    Attributes:
        project: The open project.
        source: The file, or the annotator that it is of.
        everything: Whether it is kept for abstracts without a difference, too.
        said: By abstract what the file says.
        has_items: Whether it has anything to say about an abstract that is here.
        empty: Abstracts with entities here and none in the file; they are not compared.
    """

    project: Project
    source: str
    everything: bool = False
    said: dict[int, Annotations] = field(default_factory=dict, init=False)
    has_items: bool = field(default=False, init=False)
    empty: int = field(default=0, init=False)
    _unsaid: dict[int, frozenset[str]] = field(default_factory=dict, init=False)
    _later: dict[int, frozenset[str]] = field(default_factory=dict, init=False)

    def hold(self, doc: DocumentState, item: AnnotatedDocument) -> bool:
        """Whether annotations are not to be imported, for they differ from what is decided; they are kept here then.

        What files said counts as decided where the labels of one place differ; else what a person decided or finished.
        """
        said = item.annotations
        if item.project_state is not None:
            # Decisions that its own export does not know were made later.
            known = {key for decision in item.project_state.decisions for key in decision.items}
            rows = (row for row in doc.items_of() if row.state in BY_PERSONS)
            later = {row.key[0] for row in rows if (row.TABLE, *row.key) not in known}
            self._later[doc.number] = frozenset(later)
        if not any(entity.state in IN_VIEW for entity in said.entities):
            # It may be of a time before anybody looked at the abstract, so that nothing is deleted by it.
            self.empty += any(entity.in_view for entity in doc.all_entities)
            return False
        self.has_items = True
        looked = {
            layer
            for layer in Layer
            if (doc.progress and layer in doc.progress.done)
            or any(row.state in BY_PERSONS for row in doc.items_of(layer))
        }
        differing = any(
            (one.difference.first and one.difference.second) or one.difference.layer in looked
            for one in self._compare(doc, said)
            if not _was_rejected(doc, one) and not _is_late(doc, one)
        )
        if differing or self.everything:
            self.said[doc.number] = said
        return differing or self.everything

    def settle(self, format_ids: Collection[str]) -> list[Dispute]:
        """The differences, without those that the file's formats make: what they cannot hold is not deleted."""
        if not self.said:
            return []
        views = {number: self._view(number) for number in self.said}
        if len(format_ids) == 1 and get_format(format_id := next(iter(format_ids))).writer:
            written = _written_and_read(format_id, views.values())
            for number, view in views.items():
                if (left := written.get(view.document.text_sha256)) is not None:
                    lost = self._compare(self.project.document_state(number), left)
                    self._unsaid[number] = frozenset([dispute.key for dispute in lost])
        found = {
            number: self._differences(self.project.document_state(number)) for number in self.said
        }
        if not self.everything:
            self.said = {number: said for number, said in self.said.items() if found[number]}
        return [dispute for disputes in found.values() for dispute in disputes]

    def apply(self) -> tuple[int, Counter[tuple[str, str]]]:
        """Make the abstracts say what the file says, after a backup: one event, which undo takes back.

        Returns:
            How many differences were taken, and how many could not be, by key and reason.
        """
        taken, refused = 0, Counter[tuple[str, str]]()

        def work(doc: DocumentState, context: Context) -> None:
            nonlocal taken
            for one in in_order(lambda: self._differences(doc), Layer.COREFERENCE):
                if problem := try_to_take(doc, context, one):
                    refused[one.difference.doc_key, problem.message] += 1
                else:
                    taken += 1

        self.project.perform(KIND, {"source": self.source}, [*self.said], work, backup=True)
        return taken, refused

    def keep(self) -> None:
        """Keep the file as what another annotator says: adjudicate decides between both."""
        schema = self.project.schema
        layers = self._layers()
        covered = {covered_name(*type_) for type_ in types_in(schema, layers)}
        covered |= {str(layer) for layer in layers & {Layer.COREFERENCE}}
        with self.project.writing() as connection:
            params = {"source": self.source}
            event_id = events.append(connection, self.project.author_id, MERGE, params)
            context = self.project.context(event_id, self.project.source_id(self.source))
            for number, said in self.said.items():
                keep_annotations(self.project, context, number, said, covered=covered)
        refresh_disagreements(self.project, self.said)

    def _view(self, number: int) -> AnnotatedDocument:
        return annotated(self.project.document_state(number), self.project.sources)

    def _compare(self, doc: DocumentState, said: Annotations) -> list[Dispute]:
        later = self._later.get(doc.number, ())
        both = compare_with(self.project, doc, self.source, said.in_states(IN_VIEW))
        return [
            dispute
            for dispute in both.disputes
            if dispute.difference.second
            or (dispute.difference.first and dispute.difference.first.id) not in later
        ]

    def _layers(self) -> set[Layer]:
        """The layers of which the file has an item."""
        return set().union(*(layers_with(said, {*State}) for said in self.said.values()))

    def _differences(self, doc: DocumentState) -> list[Dispute]:
        number, layers = doc.number, self._layers()
        return [
            one
            for one in self._compare(doc, self.said[number])
            if one.key not in self._unsaid.get(number, ()) and one.difference.layer in layers
        ]


def _was_rejected(doc: DocumentState, one: Dispute) -> bool:
    """Whether the file only has what a person has found wrong here."""
    there = one.difference.second
    return (
        one.difference.first is None
        and there is not None
        and one.difference.layer is Layer.ENTITIES
        and not there.on
        and any(
            row.state is State.REJECTED and row.label == there.label
            for row in doc.on_fragments(there.fragments[0])
        )
    )


def _is_late(doc: DocumentState, one: Dispute) -> bool:
    """Whether the file adds what nobody has looked for here, of a type that came after the layer was finished."""
    there, layer = one.difference.second, one.difference.layer
    if one.difference.first or there is None or doc.progress is None or not there.label:
        return False
    decided = {type_of_row(row) for row in doc.items_of(layer) if row.state in BY_PERSONS}
    covered = {*doc.progress.covered, *(covered_name(layer, label) for label in decided)}
    return layer in doc.progress.done and not types_of(one.difference) <= covered


def _written_and_read(
    format_id: str, documents: Iterable[AnnotatedDocument]
) -> dict[str, Annotations]:
    """By text what is left of annotations that went through a format."""
    spec = get_format(format_id)
    with TemporaryDirectory(prefix="sciextract-") as folder:
        path = Path(folder) / ("known" if spec.kind == "folder" else f"known{spec.suffixes[0]}")
        writer = open_writer(format_id, path)
        for document in documents:
            writer.write(document)
        writer.close()
        items = [item for item in read([path], format_id) if not isinstance(item, BadRecord)]
        return {item.document.text_sha256: item.annotations for item in items}
