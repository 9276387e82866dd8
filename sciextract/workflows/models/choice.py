"""Which model predicts: the project's choice, else the user's, else the first of the package that has the project's labels."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sciextract import atomic
from sciextract.errors import (
    NOTHING_CHANGED,
    ModelNotFoundError,
    ProjectDamagedError,
    UsageError,
    as_command,
    explain_write_errors,
)
from sciextract.inference.model_folder import (
    BIOMEDICAL_MODEL,
    DEFAULT_MODEL,
    HASH_CHARACTERS,
    SCIENCE_MODEL,
    open_folder,
)
from sciextract.resources import bundled_models, user_models
from sciextract.workflows.models.registry import (
    WRITABLE_HOME,
    KnownModel,
    find_model,
    keep_base,
    known_at,
    known_models,
    register,
)

if TYPE_CHECKING:
    from sciextract.store import Project

By = Literal["project", "user", "default"]
FILE = "choices.jsonl"


@dataclass(frozen=True, slots=True)
class Choice:
    """A model that was chosen.

    Attributes:
        name: Its name at that time.
        hash: Hex SHA-256 of its manifest.
        bundled: Whether it came in this or another package: then the name decides, whatever version is installed.
    """

    name: str
    hash: str
    bundled: bool = False

    @property
    def id(self) -> str:
        """``NAME-hash8``, or the name of a model of a package."""
        return self.name if self.bundled else f"{self.name}-{self.hash[:HASH_CHARACTERS]}"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The model that predicts, and who says so.

    Attributes:
        model: The model.
        by: The project, the user, or nobody.
    """

    model: KnownModel
    by: By

    def message(self) -> str:
        """Which model predicts, when it is not the one that does where nobody has chosen; else nothing."""
        if self.model.folder == bundled_models() / DEFAULT_MODEL:
            return ""
        reasons = {"project": "the choice of this project", "user": "your choice"}
        reason = reasons.get(self.by, "it has this project's labels")
        return f"model {self.model.id} predicts ({reason}); for details: sciextract models show"


def find_chosen(project: Project | None = None) -> Chosen:
    """The model that predicts when none is named, and who chose it; one of a distribution only where somebody chose it.

    Args:
        project: Whose choice comes first.

    Raises:
        ModelNotFoundError: What was chosen is not here; says how to get it or choose again.
    """
    for place in (None,) if project is None else (project, None):
        choice = _read_standing(place)
        if choice is not None:
            return Chosen(_model_of(choice, place), "project" if place else "user")
    bundled = (DEFAULT_MODEL, BIOMEDICAL_MODEL, SCIENCE_MODEL)
    defaults = [known_at(bundled_models() / name) for name in bundled]
    if project is None:
        return Chosen(defaults[0], "default")

    for model in defaults:
        if model.problem:  # its labels cannot be read: the name of the project's schema tells
            fits = model.name == project.schema.name
        else:
            config = open_folder(model.folder, hashes=False).config
            fits = not config.labels_unknown_to(project.schema)
        if fits:
            return Chosen(model, "default")
    return Chosen(defaults[0], "default")


def unusable_models() -> str:
    """The models of the user and of other distributions that cannot be used and are skipped; empty for none."""
    broken = [model for model in known_models() if model.problem and not model.bundled]
    if len(broken) > 1:  # one line of the desk holds the names, but not every problem
        names = ", ".join(model.name for model in broken)
        return f"models {names} are skipped; for details: sciextract models list"
    return "".join(
        f"model {model.name} is skipped: {model.problem} ({model.hint})" for model in broken
    )


def current(project: Project | None = None) -> KnownModel:
    """The model that predicts when none is named.

    Raises:
        ModelNotFoundError: What was chosen is not here; says how to get it or choose again.
    """
    return find_chosen(project).model


def use(word: str, project: Project | None = None) -> KnownModel:
    """Let a model predict from now on: in a project, else for the user unless a project has its own model.

    A model that is not registered yet is registered first, so that it stays as it is.

    Args:
        word: ``NAME``, ``NAME-hash8``, a folder or a hub id.
        project: Open for writing.

    Raises:
        ModelNotFoundError: There is none; lists the known ones.
        ModelDamagedError: A file of it is missing or changed.
        ModelMismatchError: It predicts labels that the project's schema lacks.
        ProjectError: The project cannot be written.
        OutputError: The user's folder cannot be written.
        UsageError: Several models have the name.
    """
    model = find_model(word)
    opened = model.open()
    if project is not None:
        from sciextract.workflows.predict_project import check_config

        check_config(project, opened.config, model.id)
    # A folder of the user's may change or go; its copy in the registry does not.
    if not (model.packaged or model.registered):
        model = register(model.folder, model.name)
    else:
        keep_base(opened)
    choice = Choice(model.name, model.hash, model.packaged)
    if _read_standing(project) != choice:
        _add(asdict(choice), project)
    return model


def rollback(project: Project | None = None) -> Chosen:
    """Take the latest choice back: what was chosen before it predicts again.

    Raises:
        UsageError: Nothing was chosen.
        ModelNotFoundError: The model before is not here any more; the latest choice stays.
        ProjectError: The project cannot be written.
        OutputError: The user's folder cannot be written.
    """
    before = _stack(history(project))[:-1]
    if _read_standing(project) is None:
        whose = "for this project" if project else "for you"
        raise UsageError(
            f"no model was chosen {whose}, so there is no choice to revert",
            "sciextract models list shows the models, sciextract models use chooses one",
        )
    # Looked for before the choice goes: without it, nothing at all would predict.
    if before:
        _model_of(before[-1], project)
    _add({"rollback": True}, project)
    return find_chosen(project)


def history(project: Project | None = None) -> list[dict[str, Any]]:
    """All choices and rollbacks of a project, or of the user, oldest first.

    What in the user's file cannot be understood is passed over: a process may have been killed there.

    Raises:
        ProjectDamagedError: Those of the project cannot be understood.
    """
    if project is not None:
        from sciextract.store.project_settings import model_choices

        of_project = model_choices(project.connection)
        if of_project is None or not all(map(_is_entry, of_project)):
            raise ProjectDamagedError(
                f"{project.path}: the project's choice of models cannot be understood",
                "sciextract doctor checks the project; --model NAME selects one for a single command",
            )
        return of_project
    entries = []
    with suppress(OSError):
        for line in _file().read_text("utf-8", errors="replace").splitlines():
            with suppress(ValueError):
                entries.append(json.loads(line))
    return list(filter(_is_entry, entries))


def _stack(entries: list[dict[str, Any]]) -> list[Choice]:
    """The choices that are not taken back, oldest first."""
    stack: list[Choice] = []
    for entry in entries:
        if entry.get("rollback"):
            del stack[-1:]
        else:
            stack.append(Choice(entry["name"], entry["hash"], bool(entry.get("bundled"))))
    return stack


def _read_standing(project: Project | None) -> Choice | None:
    return next(reversed(_stack(history(project))), None)


def _add(entry: dict[str, Any], project: Project | None) -> None:
    if project is None:
        file = _file()
        with explain_write_errors(file, WRITABLE_HOME, kept=NOTHING_CHANGED):
            file.parent.mkdir(parents=True, exist_ok=True)
            atomic.append_line(file, f"{json.dumps(entry)}\n".encode())
        return
    from sciextract.store.project_settings import add_model_choice

    add_model_choice(project, entry)


def _file() -> Path:
    return user_models() / FILE


def _is_entry(value: Any) -> bool:
    return isinstance(value, dict) and (
        value.get("rollback") is True
        or (isinstance(value.get("name"), str) and isinstance(value.get("hash"), str))
    )


def _model_of(choice: Choice, project: Project | None) -> KnownModel:
    """The model that was chosen, under whatever name it is registered now.

    Raises:
        ModelNotFoundError: It is not here.
        ModelDamagedError: It is here, and was changed.
    """
    for model in known_models():
        if choice.bundled:
            is_chosen = model.packaged and model.name == choice.name
        else:
            # By either: a model may be registered under another name now, or its manifest be damaged.
            is_chosen = choice.hash == model.hash or model.folder.name == choice.id
        if is_chosen:
            return model.usable()
    whose = f"{project.path} uses" if project else "you chose"
    again = ["--project", project.path] if project else []
    raise ModelNotFoundError(
        f"{whose} the model {choice.id}, which is not on this machine",
        f"{'install the package that holds it' if choice.bundled else 'bring it with sciextract models import'}, "
        "or choose another: "
        f"{as_command('sciextract', 'models', 'use', DEFAULT_MODEL, *again)}; --model NAME applies to one command",
    )
