"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

ProjectOption = Annotated[
    str | None,
    typer.Option(
        "--project",
        metavar="DB",
        help="The project file (default: $SCIEXTRACT_PROJECT, or the only *.sciextract file here).",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print a JSON summary.")]
AuthorOption = Annotated[
    str | None,
    typer.Option(
        "--author", metavar="NAME", help="Who acts (default: $SCIEXTRACT_USER, or the login name)."
    ),
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Neither progress nor a summary in words.")
]
