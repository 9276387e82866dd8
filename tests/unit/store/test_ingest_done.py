"""Layers of imported files that are complete."""

from __future__ import annotations

from sciextract.documents.annotations import Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.store import Completeness, Project
from sciextract.store.ingest import Import
from tests.unit.store.projects import document, entity, guess, place, predict, said


def _import(project: Project, *done: Layer) -> None:
    item = AnnotatedDocument(document(), said(entity("e1", place("net"))))
    Import(project, "import:gold.jsonl", {}, done).add([(item, ())])


def _completeness(project: Project) -> dict[Layer, Completeness]:
    progress = project.document_state(1).progress
    assert progress is not None
    return {layer: getattr(progress, layer) for layer in Layer}


def test_only_the_named_layers_are_done(project: Project) -> None:
    _import(project, Layer.ENTITIES)
    found = _completeness(project)
    assert found[Layer.ENTITIES] is Completeness.DONE
    assert Completeness.DONE not in (found[Layer.RELATIONS], found[Layer.COREFERENCE])


def test_a_layer_in_which_something_waits_is_not(project: Project) -> None:
    _import(project)
    predict(project, guess("g1", place("graph")))
    _import(project, *Layer)
    found = _completeness(project)
    assert found[Layer.ENTITIES] is not Completeness.DONE
    assert found[Layer.RELATIONS] is Completeness.DONE
