"""``sciextract vocabulary``: vocabularies that mentions are linked to."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from sciextract.cli.console import (
    JsonOption,
    ProjectOption,
    argument,
    command_group,
    flag,
    open_chosen_project,
    option,
    print_row,
    report,
)
from sciextract.errors import ExitCode, UsageError
from sciextract.text.english import counted

vocabulary = command_group(
    "vocabulary",
    "Import vocabularies to link mentions to, look words up, and check links.\n\n"
    'A schema names them: an attribute \'link\' with kind = "link" and vocabularies = ["NAME"].',
    alone=True,
)
_Name = Annotated[str, argument("NAME", "A vocabulary.", show_default=False)]


@vocabulary.command("import")
def import_(
    file: str = argument("FILE", "A table (.tsv: id, name, synonyms), OBO (.obo), or SKOS (.ttl, .rdf, .nt)."),
    name: str = option("NAME", "What it is called, and what links begin with.", default=...),
    force: bool = flag("Replace the vocabulary of that name.", "--force"),
    as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Import a vocabulary: ids, names and synonyms.

    It lies beside your models, not in a project. Links stay in projects when it is replaced or removed.

    Example:

        sciextract vocabulary import doid.obo --name DOID
    """
    from sciextract.vocabulary.file import file_of, import_vocabulary

    if file_of(name).exists() and not force:
        raise UsageError(f"there is a vocabulary {name!r} already", "--force replaces it")
    made = import_vocabulary(file, name)
    words = f"{name}: {counted(made['concepts'], 'concept')} with {counted(made['names'], 'name')}"
    if made["repeated"]:
        words += f"; read as further names of an id that was there: {counted(made['repeated'], 'entry', 'entries')}"
    if made["gone"]:
        words += f"; no longer in it: {counted(made['gone'], 'id')}"
    report({"name": name, **made}, words, as_json)


@vocabulary.command("list")
def list_(as_json: JsonOption = False) -> None:
    """List the vocabularies that were imported."""
    from sciextract.vocabulary.file import Vocabulary, list_vocabularies

    for name in list_vocabularies():
        with closing(Vocabulary(name)) as found:
            sizes = {"concepts": found.concepts, "names": found.names}
        words = f"{name:<16}  {sizes['concepts']:,} concepts, {sizes['names']:,} names"
        print_row({"name": name, **sizes}, words, as_json)


@vocabulary.command()
def find(
    name: _Name, words: str = argument("WORDS", "A mention."), as_json: JsonOption = False
) -> None:
    """Show the candidates for a mention, the likeliest first.

    Example:

        sciextract vocabulary find DOID "breast tumours"
    """
    from sciextract.vocabulary.file import Vocabulary

    with closing(Vocabulary(name)) as found:
        candidates = found.find(words)
    for candidate in candidates:
        also = f" ({candidate.matched})" if candidate.matched != candidate.name else ""
        line = f"{candidate.score:.2f}  {candidate.link}  {candidate.name}{also}"
        print_row(candidate._asdict(), line, as_json)
    if not candidates:
        raise typer.Exit(ExitCode.FAILED)


@vocabulary.command()
def remove(name: _Name, as_json: JsonOption = False) -> None:
    """Remove a vocabulary. Links to it stay in projects."""
    from sciextract.vocabulary.file import Vocabulary, file_of

    Vocabulary(name).close()
    file_of(name).unlink()
    report({"removed": name}, f"{name} is removed; links to it stay in projects", as_json)


@vocabulary.command()
def check(project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """Count a project's links, and those that the vocabularies lack."""
    from sciextract.vocabulary.links import count_links

    with open_chosen_project(project, read=True) as opened:
        found = count_links(opened)
    words = f"{counted(found.links, 'link')} to {counted(found.concepts, 'id')}"
    if found.missing:
        words += f"; {counted(len(found.missing), 'id')} in no vocabulary: {', '.join(found.missing[:5])}"
        words += "; they stay as they are"
    report(found._asdict(), words, as_json)
    if found.missing:
        raise typer.Exit(ExitCode.PARTIAL)
