"""The labels of training data against the project's schema: what it lacks is refused before any work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sciextract.documents.annotations import Entity, Relation
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.errors import SchemaError, as_command
from sciextract.store.file.failures import translated
from sciextract.store.looking.decided import positive_labels
from sciextract.store.project import Project
from sciextract.store.state.rows import IN_VIEW, Layer


class LabelCounts:
    """Labels of positive items; those of rejected and undecided ones teach nothing that needs a label."""

    def __init__(
        self, entities: Counter[str] | None = None, relations: Counter[str] | None = None
    ) -> None:
        self.entities = Counter() if entities is None else entities
        self.relations = Counter() if relations is None else relations

    def add(self, annotated: AnnotatedDocument) -> None:
        """Count those of a document."""
        self.entities.update(_positive(annotated.annotations.entities))
        self.relations.update(_positive(annotated.annotations.relations))

    def lacking_in(self, schema: LabelSchema) -> str:
        """The labels that a schema lacks, in words; empty when it has all."""
        known = (("entities", ["", *schema.entity_labels]), ("relations", schema.relation_labels))
        parts = []
        for kind, labels in known:
            counts: Counter[str] = getattr(self, kind)
            lacking = [each for each in counts.most_common() if each[0] not in labels]
            listed = ", ".join(f"{label!r} ({count})" for label, count in lacking)
            parts += [f"{kind}: {listed}"] if lacking else []
        return "; ".join(parts)


def check_project_labels(project: Project, schema: LabelSchema) -> None:
    """Refuse a project whose items have labels that its schema lost.

    Raises:
        SchemaError: It has some; names them and where to change them.
    """
    with translated(project.path):
        kinds = (positive_labels(project.connection, kind) for kind in ("entity", "relation"))
        lacking = LabelCounts(*kinds).lacking_in(schema)
    if lacking:
        raise SchemaError(
            f"{project.path}: its schema {schema.name!r} lacks labels that its items have: {lacking}; "
            f"it has {_all(schema)}",
            as_command("sciextract", "search", "--label", "LABEL", "--project", project.path)
            + f" lists them, {as_command('sciextract', 'tui', project.path)} changes them",
        )


def lacking_labels(path: str, lacking: str, schema: LabelSchema, project: Project) -> SchemaError:
    """The error of a file with labels that the project's schema lacks."""
    return SchemaError(
        f"{path}: the project's schema {schema.name!r} lacks labels of it: {lacking}; "
        f"it has {_all(schema)}",
        "rename them in the file, or bring labels and abstracts into the project: "
        + as_command("sciextract", "import", path, "--add-labels", "--project", project.path),
    )


def layers_of(schema: LabelSchema) -> frozenset[Layer]:
    """The layers that a schema has labels for."""
    found = {Layer.ENTITIES}
    if schema.relations:
        found.add(Layer.RELATIONS)
    if schema.coreference:
        found.add(Layer.COREFERENCE)
    return frozenset(found)


def _positive(items: Iterable[Entity | Relation]) -> Iterable[str]:
    return (each.label for each in items if each.state in IN_VIEW)


def _all(schema: LabelSchema) -> str:
    return ", ".join((*schema.entity_labels, *schema.relation_labels))
