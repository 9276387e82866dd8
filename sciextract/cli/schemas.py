"""``sciextract schema``: list, show, check and make label schemas; change the types of a project."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sciextract.cli.console import (
    AuthorOption,
    InputFormatOption,
    JsonOption,
    ProjectOption,
    argument,
    command_group,
    flag,
    is_terminal,
    open_chosen_project,
    option,
    report,
    say,
)
from sciextract.errors import ExitCode, UsageError, as_command
from sciextract.text.english import counted

if TYPE_CHECKING:
    from sciextract.documents.schema import LabelSchema
    from sciextract.store import Outcome, Project
    from sciextract.store.label_changes import Kind

schema = command_group(
    "schema",
    "List, show, check and create label schemas; change the types of a project.",
    alone=True,
)
_Schema = Annotated[str, argument("NAME|FILE", "A bundled schema, or a TOML file.")]
_File = Annotated[Path, argument("FILE", "The TOML file to write.")]
_Force = Annotated[bool, flag("Replace the file.", "--force", default=...)]


@schema.command("list")
def list_schemas() -> None:
    """List the bundled schemas."""
    from sciextract.documents.schema_file import bundled_schemas, load_schema

    for name in bundled_schemas():
        found = load_schema(name)
        typer.echo(f"{name:<12} {found.title}: {', '.join(found.entity_labels)}")


@schema.command()
def show(name: _Schema, as_json: JsonOption = False) -> None:
    """Show the labels of a schema with their keys, definitions, examples and legal pairs."""
    from sciextract.documents.schema_file import load_schema

    found = load_schema(name)
    if as_json:
        typer.echo(json.dumps(found.to_mapping()))
        return
    lines = [f"{found.name}: {found.title}", _summary(found)]
    for entity in found.entities:
        lines += ["", f"{entity.key}  {entity.label}"]
        lines += _details(entity.definition, entity.examples)
    for relation in found.relations:
        pairs = ", ".join(f"{head} > {tail}" for head, tail in relation.pairs) or "every pair"
        direction = " (no direction)" if relation.symmetric else ""
        lines += ["", f"{relation.key}  {relation.label}{direction}: {pairs}"]
        lines += _details(relation.definition, relation.examples)
    for kind in found.attributes:
        lines += ["", f"{kind.key}  {kind.label} on {', '.join(kind.on)}: {kind.allowed_values}"]
        lines += _details(kind.definition, ())
    typer.echo("\n".join(lines))


@schema.command()
def check(files: list[str] = argument("FILE...", "TOML files.")) -> None:
    """Check schema files: keys, colours, labels and legal pairs."""
    from sciextract.documents.schema_file import load_schema

    for file in files:
        typer.echo(f"{file}: {_summary(load_schema(Path(file)))}")


@schema.command()
def new(
    file: _File,
    entity: list[str] | None = option(
        "LABEL[=DEFINITION]", "An entity type; repeatable.", "--entity"
    ),
    relation: list[str] | None = option(
        "LABEL[=HEAD>TAIL,...]", "A relation type and its legal pairs (default: all); repeatable."
    ),
    symmetric: list[str] | None = option("LABEL", "A relation type without direction; repeatable."),
    coreference: bool = flag("Include coreference.", "--coreference"),
    force: _Force = False,
) -> None:
    """Create a label schema from options, or interactively on a terminal.

    Keys and colours are assigned automatically; edit the file to change them.

    Example:

        sciextract schema new alloys.toml --entity "Alloy=A metal made of several elements" --entity Property --relation "HAS=Alloy>Property"
    """
    from sciextract.workflows.new_schema import entity_type, new_schema, relation_type

    if not entity and not is_terminal(sys.stdin):
        hint = 'give --entity LABEL one or more times, e.g. --entity "Alloy"'
        raise UsageError("no entity types", hint)
    undirected = {*(symmetric or ())}
    if entity:
        entities = [entity_type(words) for words in entity]
        relations = [relation_type(words, undirected) for words in relation or ()]
    else:
        entities = [entity_type(entity) for entity in _ask_entities()]
        relations = [relation_type(*relation) for relation in _ask_relations()]
        coreference = typer.confirm("Group mentions of the same thing (coreference)?", err=True)
    if unknown := undirected - {relation.label for relation in relations}:
        labels = ", ".join(relation.label for relation in relations) or "none"
        named = ", ".join(sorted(unknown))
        raise UsageError(f"--symmetric {named}: no such relation; given: {labels}")
    _write(file, new_schema(file.stem, entities, relations, coreference=coreference), force)


@schema.command("from")
def from_files(
    files: list[str] = argument("IN...", "Annotated files."),
    output: Path = option("FILE", "The TOML file to write.", "--output", default=...),
    input_format: InputFormatOption = None,
    force: _Force = False,
) -> None:
    """Create a label schema from the labels of annotated files.

    Legal pairs are those that occur. Symmetric relations are not detected: set symmetric = true in the file.

    Example:

        sciextract schema from corpus/ --output alloys.toml
    """
    from sciextract.formats import BadRecord, read
    from sciextract.workflows.new_schema import LabelFrequencies

    counts, bad = LabelFrequencies(), 0
    for item in read(files, input_format):
        if isinstance(item, BadRecord):
            bad += 1
            say("Warning", item.error.message, item.error.hint)
        else:
            counts.add(item)
    _write(output, counts.schema(output.stem), force)
    if bad:
        raise typer.Exit(ExitCode.PARTIAL)


_Old = Annotated[
    str,
    argument(
        "TYPE", "A type or an attribute of the project, or ATTRIBUTE=VALUE.", show_default=False
    ),
]
_Kind = Annotated[
    Literal["entity", "relation", "attribute"] | None,
    typer.Option(help="Which kind is meant, where several have a type of that name."),
]


@schema.command()
def rename(
    old: _Old, new: str = argument("NEW", "Its new name."), kind: _Kind = None,
    project: ProjectOption = None, author: AuthorOption = None, as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Rename a type of a project, in the schema and all items.

    Models that predict the old name are understood.

    Examples:

        sciextract schema rename Generic Pronoun

        sciextract schema rename include=maybe unclear
    """
    from sciextract.store.label_changes import rename_type
    from sciextract.store.type_changes import change_value

    with open_chosen_project(project, author) as opened:
        if value := _value_in(opened, old, kind):
            made = change_value(opened, *value, new)
        else:
            made = rename_type(opened, _kind_of(opened, old, kind), old, new)
    _report_change(f"{old} is {new} now", made, as_json)


@schema.command()
def attributes(
    file: str = argument("NAME|FILE", "A schema with the attributes."),
    project: ProjectOption = None, author: AuthorOption = None, as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Give a project the attributes of a schema file, in place of its own.

    Finished abstracts count as not looked through for new ones.
    """
    from sciextract.documents.schema_file import load_schema
    from sciextract.store.label_changes import take_attributes

    taken = load_schema(file).attributes
    with open_chosen_project(project, author) as opened:
        made = take_attributes(opened, taken)
    names = ", ".join(kind.label for kind in taken) or "none"
    _report_change(f"attributes now: {names}", made, as_json)


@schema.command()
def merge(
    old: _Old, into: str = argument("INTO", "The type that its items get."), kind: _Kind = None,
    project: ProjectOption = None, author: AuthorOption = None, as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Merge a type of a project into another one.

    Items on the same words become one. Abstracts count as searched for the merged type only where both had been looked
    for. Models that predict the old name are understood.

    Example:

        sciextract schema merge Generic OtherScientificTerm
    """
    from sciextract.store.type_changes import change_value, merge_types

    with open_chosen_project(project, author) as opened:
        if value := _value_in(opened, old, kind):
            made = change_value(opened, *value, into, known=True)
        else:
            made = merge_types(opened, _kind_of(opened, old, kind), old, into)
    _report_change(f"{old} is part of {into} now", made, as_json)


@schema.command()
def split(
    old: _Old, parts: list[str] = argument("NEW...", "The types that it is split into."),
    kind: _Kind = None,
    suggest: bool = flag("Show at the desk which new type a mention may have, learned from those that have one.", "--suggest"),
    project: ProjectOption = None, author: AuthorOption = None, as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Split a type of a project: add new types and a queue of its abstracts.

    Give the items of the queue one of the new types; then take the old type out with schema remove.

    Example:

        sciextract schema split Method Algorithm Architecture
    """
    from sciextract.store.type_changes import split_type

    with open_chosen_project(project, author) as opened:
        if suggest:
            from sciextract.workflows.learn import suggest_parts

            made, queue = suggest_parts(opened, old, parts), None
        else:
            if (of := _kind_of(opened, old, kind)) == "attribute":
                raise UsageError(
                    f"{old} is an attribute",
                    "list more values in a schema file, then: schema attributes FILE",
                )
            made, queue = split_type(opened, of, old, parts)
    count = counted(len(queue.numbers), "abstract") if queue else ""
    to_do = f"{count} to go through (sciextract tui, then F3)"
    where = f"; queue {queue.name!r}: {to_do}" if queue else ""
    _report_change(f"{old} can be {' or '.join(parts)}{where}", made, as_json)


@schema.command()
def remove(
    old: _Old, kind: _Kind = None, project: ProjectOption = None, author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Remove a type of a project with its items, and what needs them; undo brings it back."""
    from sciextract.store.type_changes import change_value, remove_type

    with open_chosen_project(project, author) as opened:
        if value := _value_in(opened, old, kind):
            made = change_value(opened, *value, None)
        else:
            made = remove_type(opened, _kind_of(opened, old, kind), old)
    _report_change(f"{old} is removed", made, as_json)


def _value_in(project: Project, words: str, named: Kind | None) -> tuple[str, str] | None:
    """Attribute and value of ``ATTRIBUTE=VALUE``; ``None`` where a type has that name, or no attribute the first part."""
    label, is_value, value = words.partition("=")
    known = [kind.label for kind in (*project.schema.types, *project.schema.attributes)]
    of_attribute = label in [kind.label for kind in project.schema.attributes]
    if not is_value or words in known or not of_attribute or named not in (None, "attribute"):
        return None
    return label, value


def _kind_of(project: Project, label: str, named: Kind | None) -> Kind:
    """The kind of a type of the project.

    Raises:
        UsageError: There is none, or types of several kinds have that name.
    """
    found: dict[Kind, tuple[str, ...]] = {
        "entity": project.schema.entity_labels,
        "relation": project.schema.relation_labels,
        "attribute": tuple(kind.label for kind in project.schema.attributes),
    }
    kinds = [kind for kind, labels in found.items() if label in labels and named in (None, kind)]
    if len(kinds) == 1:
        return kinds[0]
    if kinds:
        raise UsageError(f"{label} is a type of {' and '.join(kinds)}", "--kind says which")
    listed = ", ".join(label for labels in found.values() for label in labels)
    raise UsageError(f"the project has no type {label!r}", f"types: {listed}")


def _report_change(words: str, made: Outcome, as_json: bool) -> None:
    summary = {"event": made.event_id, "documents": made.documents, "items": made.items}
    where = f"{counted(made.items, 'item')} in {counted(made.documents, 'abstract')} changed"
    report(summary, f"{words}; {where}; undo takes it back", as_json)


def _write(file: Path, made: LabelSchema, force: bool) -> None:
    from sciextract import atomic
    from sciextract.documents.schema_file import schema_to_toml
    from sciextract.workflows.output import check_target

    check_target(file, force=force)
    atomic.write(file, schema_to_toml(made))
    following = as_command("sciextract", "init", f"{file.stem}.sciextract", "--schema", file)
    say("", f"{file}: {_summary(made)}; next: {following}")


def _summary(found: LabelSchema) -> str:
    types = f"{counted(len(found.entities), 'entity type')}, {counted(len(found.relations), 'relation type')}"
    asked = f", {counted(len(found.attributes), 'attribute')}" if found.attributes else ""
    return types + asked + (", coreference" if found.coreference else "")


def _details(definition: str, examples: tuple[str, ...]) -> list[str]:
    listed = f"e.g. {'; '.join(examples)}" if examples else ""
    return [f"   {text}" for text in (definition, listed) if text]


def _ask(question: str) -> str:
    """An answer that may be empty; asked on standard error, so that output can be redirected."""
    return str(typer.prompt(question, default="", show_default=False, err=True))


def _ask_entities() -> list[str]:
    labels = typer.prompt("Entity types, separated by commas (e.g. Alloy, Property)", err=True)
    return [
        f"{label}={_ask(f'Definition of {label} (Enter: none)')}"
        for label in filter(None, map(str.strip, labels.split(",")))
    ]


def _ask_relations() -> list[tuple[str, frozenset[str]]]:
    labels = _ask("Relation types, separated by commas (Enter: none)")
    asked = []
    for label in filter(None, map(str.strip, labels.split(","))):
        pairs = _ask(f"Pairs for {label}, e.g. Alloy>Property (Enter: every pair)")
        directed = typer.confirm(f"Does {label} have a direction?", default=True, err=True)
        asked.append((f"{label}={pairs}", frozenset() if directed else frozenset({label})))
    return asked
