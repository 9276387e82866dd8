"""``sciextract schema``: list, show, check and make label schemas."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sciextract.cli.console import (
    FormatCommand,
    InputFormatOption,
    JsonOption,
    argument,
    command_group,
    flag,
    is_terminal,
    option,
    say,
)
from sciextract.errors import ExitCode, UsageError, as_command
from sciextract.text.english import counted

if TYPE_CHECKING:
    from sciextract.documents.schema import LabelSchema

schema = command_group(
    "schema", "List, show, check and create label schemas (entity and relation types).", alone=True
)
_Schema = Annotated[str, argument("NAME|FILE", "A bundled schema, or a TOML file.")]
_File = Annotated[Path, argument("FILE", "The TOML file to write.")]
_Force = Annotated[bool, flag("Replace the file.", "--force", default=...)]


@schema.command("list")
def list_schemas() -> None:
    """List the bundled schemas.

    Examples:

        sciextract schema list
    """
    from sciextract.documents.schema_file import bundled_schemas, load_schema

    for name in bundled_schemas():
        found = load_schema(name)
        typer.echo(f"{name:<12} {found.title}: {', '.join(found.entity_labels)}")


@schema.command()
def show(name: _Schema, as_json: JsonOption = False) -> None:
    """Show the labels of a schema with their keys, definitions, examples and legal pairs.

    Examples:

        sciextract schema show scierc

        sciextract schema show alloys.toml --json
    """
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
    typer.echo("\n".join(lines))


@schema.command()
def check(files: list[str] = argument("FILE...", "TOML files.")) -> None:
    """Check schema files: keys, colours, labels and legal pairs.

    Examples:

        sciextract schema check alloys.toml
    """
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
        "LABEL[=HEAD>TAIL,...]",
        "A relation type and its legal pairs (default: every pair); repeatable.",
    ),
    symmetric: list[str] | None = option("LABEL", "A relation type without direction; repeatable."),
    coreference: bool = flag(
        "Include coreference: clusters of mentions of the same thing.", "--coreference"
    ),
    force: _Force = False,
) -> None:
    """Create a label schema from options, or interactively on a terminal.

    Keys and colours are assigned automatically; edit the file to change them.

    Examples:

        sciextract schema new alloys.toml

        sciextract schema new alloys.toml --entity "Alloy=A metal made of several elements" --entity Property --relation "HAS=Alloy>Property"
    """
    from sciextract.workflows.new_schema import entity_type, new_schema, relation_type

    if not entity and not is_terminal(sys.stdin):
        raise UsageError(
            "no entity types", 'give --entity LABEL one or more times, e.g. --entity "Alloy"'
        )
    undirected = {*(symmetric or ())}
    if entity:
        entities = [entity_type(each) for each in entity]
        relations = [relation_type(each, undirected) for each in relation or ()]
    else:
        entities = [entity_type(each) for each in _ask_entities()]
        relations = [relation_type(*each) for each in _ask_relations()]
        coreference = typer.confirm("Group mentions of the same thing (coreference)?", err=True)
    if unknown := undirected - {each.label for each in relations}:
        labels = ", ".join(each.label for each in relations) or "none"
        raise UsageError(
            f"--symmetric {', '.join(sorted(unknown))}: no such relation; given: {labels}"
        )
    _write(file, new_schema(file.stem, entities, relations, coreference=coreference), force)


@schema.command("from", cls=FormatCommand)
def from_files(
    files: list[str] = argument("IN...", "Annotated files."),
    output: Path = option("FILE", "The TOML file to write.", "--output", default=...),
    input_format: InputFormatOption = None,
    force: _Force = False,
) -> None:
    """Create a label schema from the labels of annotated files.

    Legal pairs are those that occur. The most frequent mentions become examples. Symmetric relations are not
    detected: set symmetric = true in the file.

    Examples:

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
    return types + (", coreference" if found.coreference else "")


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
