"""The labelling configuration that a Label Studio project needs for documents exported with a schema."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from sciextract.documents.schema import LabelSchema
from sciextract.formats.tools.imported import COREFERENCE

LABELS_NAME, TEXT_NAME = "label", "text"
"""The names that results refer to as ``from_name`` and ``to_name``."""


def labelling_config(schema: LabelSchema) -> str:
    """The XML for Settings, Labeling Interface, Code: entity types with their colours and keys, relation types.

    Coreference is the relation ``COREF`` where the schema has coreference.
    """
    relations = [*schema.relation_labels, *([COREFERENCE] if schema.coreference else [])]
    lines = ["<View>"]
    if relations:
        lines.append("  <Relations>")
        lines += [f"    <Relation value={quoteattr(each)}/>" for each in relations]
        lines.append("  </Relations>")
    lines.append(f'  <Labels name="{LABELS_NAME}" toName="{TEXT_NAME}">')
    for entity in schema.entities:
        value, colour = quoteattr(entity.label), quoteattr(entity.colour)
        hint = f" hint={quoteattr(entity.definition)}" if entity.definition else ""
        key = quoteattr(entity.key)
        lines.append(f"    <Label value={value} background={colour} hotkey={key}{hint}/>")
    lines += ["  </Labels>", f'  <Text name="{TEXT_NAME}" value="$text"/>', "</View>", ""]
    return "\n".join(lines)
