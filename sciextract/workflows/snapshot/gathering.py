"""What goes where: documents of the gate file, the project and the base, each text once."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator

from sciextract.documents.document import AnnotatedDocument
from sciextract.store.file.failures import translated
from sciextract.store.looking.decided import Known, known_by_text, known_documents
from sciextract.store.project import Project
from sciextract.store.state.rows import Completeness, ProgressRow
from sciextract.store.state.views import whole
from sciextract.workflows.snapshot.gold import GoldFile, fitted
from sciextract.workflows.snapshot.labels import layers_of
from sciextract.workflows.snapshot.splitting import split_of
from sciextract.workflows.snapshot.types import Origin, Split, TrainingDocument

MOST_UNDECIDED = 2_000
"""Abstracts for distillation at most."""

NOT_DONE = "held out, but no layer is done"
GATE_HAS_IT = "the gate file has the text"
HELD_OUT = "the project holds the text out"
PROJECT_HAS_IT = "the project has decisions on the text"
TWICE = "the same text a second time"
NOT_COMPLETE = "of the gate file, but no layer is complete"

Placed = tuple[Split, TrainingDocument]


class Gathering:
    """Takes every text once: from the gate file, else from the project, else from the base.

    Args:
        project: The open project.
        base: The user's copy of a published set.
        gate: Held-out gold.
    """

    def __init__(
        self, project: Project, base: GoldFile | None = None, gate: GoldFile | None = None
    ) -> None:
        self.left_out: Counter[str] = Counter()
        self._project = project
        self._base = base
        self._gate = gate
        self._layers = layers_of(project.schema)
        self._taken: set[bytes] = set()

    def documents(self) -> Iterator[Placed]:
        """All documents of the splits, one by one; what goes into none is counted in ``left_out``."""
        yield from self._of_gate()
        yield from self._of_project()
        yield from self._of_base()

    def undecided(self, most: int = MOST_UNDECIDED) -> list[int]:
        """Numbers of the project's abstracts that nobody has decided anything about, chosen by hash.

        None of them is, or will be, in dev or gate. To be called after :meth:`documents`.
        """
        with translated(self._project.path):
            known = known_documents(self._project.connection)
            free = (each for each in known if not each.decided and self._may_train(each))
            chosen = heapq.nsmallest(most, free, key=lambda each: each.text_sha256)
        return [each.number for each in chosen]

    def text(self, number: int) -> AnnotatedDocument:
        """An abstract of the project without annotations."""
        return AnnotatedDocument(self._project.draft(number).stored.document)

    def _of_gate(self) -> Iterator[Placed]:
        for document in self._gate.documents() if self._gate else ():
            if self._is_second(document):
                self.left_out[TWICE] += 1
            elif not document.complete:
                self.left_out[NOT_COMPLETE] += 1
            else:
                yield Split.GATE, document

    def _of_project(self) -> Iterator[Placed]:
        for known in self._known():
            if not known.decided:
                continue
            document, split = self._document(known.number), split_of(known.text_sha256)
            if bytes.fromhex(known.text_sha256) in self._taken:
                self.left_out[GATE_HAS_IT] += 1
            elif split is not Split.TRAIN and not document.complete:
                self.left_out[NOT_DONE] += 1
            else:
                yield split, document

    def _of_base(self) -> Iterator[Placed]:
        gate_texts = frozenset(self._taken)
        for document in self._base.documents() if self._base else ():
            reason = self._against(document, gate_texts)
            if reason:
                self.left_out[reason] += 1
            else:
                yield Split.TRAIN, document

    def _against(self, document: TrainingDocument, gate_texts: frozenset[bytes]) -> str:
        """Why a document of the base goes into no split; empty when it does.

        It never chooses an epoch or thresholds and never judges, for the start model has learned from it: what
        a model has seen makes it look better than it is. A text that the project holds out stays out of
        training whether or not anybody has decided about it yet: it may be in dev or gate tomorrow.
        """
        text_sha256 = document.annotated.document.text_sha256
        if self._is_second(document):
            return GATE_HAS_IT if bytes.fromhex(text_sha256) in gate_texts else TWICE
        with translated(self._project.path):
            known = known_by_text(self._project.connection, text_sha256)
        if known is None:
            return ""
        if split_of(text_sha256) is not Split.TRAIN:
            return HELD_OUT
        return PROJECT_HAS_IT if known.decided else ""

    def _is_second(self, document: TrainingDocument) -> bool:
        text = bytes.fromhex(document.annotated.document.text_sha256)
        if text in self._taken:
            return True
        self._taken.add(text)
        return False

    def _known(self) -> Iterator[Known]:
        with translated(self._project.path):
            yield from known_documents(self._project.connection)

    def _may_train(self, known: Known) -> bool:
        is_free = bytes.fromhex(known.text_sha256) not in self._taken
        return is_free and split_of(known.text_sha256) is Split.TRAIN

    def _document(self, number: int) -> TrainingDocument:
        draft = self._project.draft(number)
        progress = draft.progress or ProgressRow()
        done = (each for each in self._layers if getattr(progress, each) is Completeness.DONE)
        annotated = whole(draft, self._project.sources)
        return TrainingDocument(fitted(annotated, self._layers), frozenset(done), Origin.PROJECT)
