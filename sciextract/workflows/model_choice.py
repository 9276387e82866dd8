"""Which model predicts, and how: load it, set its thresholds, hold it against a label schema."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sciextract.documents.document import ADAPTER, ModelId
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import bundled_schemas, load_schema
from sciextract.errors import ModelMismatchError, SciextractError, UsageError
from sciextract.formats import read
from sciextract.formats.base import BadRecord
from sciextract.inference.batching import DEFAULT_OPTIONS, RunOptions
from sciextract.inference.domain.words import Domain, domain_of
from sciextract.inference.model_folder import (
    AUTO,
    BIOMEDICAL_MODEL,
    DEFAULT_MODEL,
    locate_model,
    open_folder,
)
from sciextract.inference.settings import ATTRIBUTE, PROMISED, TASKS, DecodeSettings

if TYPE_CHECKING:
    from sciextract.inference.domain.auto import AutoExtractor
    from sciextract.inference.extractor import Extractor
    from sciextract.inference.model_config import ModelConfig
    from sciextract.inference.promise import Promise
    from sciextract.store import Project


# Documents of a project whose words decide for ``auto``.
ASKED_DOCUMENTS = 200


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """What the user says about the model.

    Attributes:
        model: Bundled name, ``NAME`` or ``NAME-hash8`` of a registered model, folder or hub id; ``auto`` lets
            the words of each document choose, in a project those of all together; when ``None`` what the
            project's people chose, else what the user chose, else the default model.
        thresholds: Task to least probability, where it differs from the model's own.
        candidates: Whether to report what stayed below the thresholds.
        only: Entity labels to look for; all of the model's when empty.
        options: Device, precision, threads and batches.
        promise: Task to least precision, where only what is right that often shall be written.
        confidence: With which the promise holds.
        by_label: Whether it holds for each label by itself.
    """

    model: str | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    candidates: bool = False
    only: tuple[str, ...] = ()
    options: RunOptions = DEFAULT_OPTIONS
    promise: Mapping[str, float] = field(default_factory=dict)
    confidence: float = 0.9
    by_label: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """What changes predictions and is not the model's own, as a project keeps it of a run."""
        chosen = {
            "thresholds": dict(self.thresholds), "promise": dict(self.promise), "precision": self.options.precision,
            "confidence": self.promise and self.confidence,
            "together": bool(self.promise) and not self.by_label,
        }  # fmt: skip
        return {name: value for name, value in chosen.items() if value}

    def load(self, project: Project | None = None) -> Extractor | AutoExtractor:
        """The extractor.

        Args:
            project: The open project whose choice counts when no model is named, and whose words do for ``auto``.

        Raises:
            ModelNotFoundError: No such model, what was chosen is not on this machine, or it lacks the
                precision.
            ModelDamagedError: A file of it is missing or changed.
            ModelVersionError: It needs a newer version.
            ModelMismatchError: It was trained on other features.
            DeviceError: The device cannot be used.
            UsageError: It is an encoder without trained heads, several models have the name, or it lacks one
                of the labels of ``only``.
        """
        if self.model == AUTO and project is None:
            from sciextract.inference.domain.auto import AutoExtractor

            predictor: Extractor | AutoExtractor = AutoExtractor(
                self._load_from, self.options.threads
            )
        else:
            predictor = self._load_from(self._find(project))
        check_labels(predictor.config, self.only)
        return predictor

    def _find(self, project: Project | None) -> str | Path:
        """The name or folder of the one model that predicts."""
        if self.model is None:  # workers get a folder, and do not pay for this import
            from sciextract.workflows.models.choice import find_chosen

            return find_chosen(project).model.folder
        return suited_to(project) if self.model == AUTO and project else self.model

    def _load_from(self, model: str | Path) -> Extractor:
        from sciextract.inference.extractor import Extractor

        extractor = Extractor.load(model, self.options)
        extractor = extractor.with_settings(self.thresholds, self.candidates, self.only)
        if self.promise:
            return extractor.promising(self.promise, self.confidence, self.by_label)[0]
        return extractor

    def promised(self, project: Project | None = None) -> Promise | None:
        """What is promised; ``None`` where nothing was asked for.

        Raises:
            UsageError: A number is not possible, several models predict, or the model has no held-out predictions.
            NoPromiseError: It cannot be kept.
        """
        if not self.promise:
            return None
        from sciextract.inference.held_out import read_held_out
        from sciextract.inference.promise import keepable_promise

        if self.model == AUTO:
            raise UsageError(f"--promise needs one model, and {AUTO} takes several", "--model NAME")
        folder = open_folder(locate_model(self._find(project)), hashes=False)
        held = read_held_out(ModelId(folder.config.name, folder.hash), folder.path)
        return keepable_promise(held, self.promise, self.confidence, self.by_label)

    def load_for(self, path: Path) -> Extractor | AutoExtractor:
        """The extractor for a project that is not open in this thread: see :meth:`load`."""
        from sciextract.store import open_project

        if self.model not in (None, AUTO):
            return self.load()
        with open_project(path, read=True) as project:
            return self.load(project)

    def message(self, project: Project | None = None) -> str:
        """Which model predicts, when somebody chose another than the default, or ``auto`` chose; nothing when one is
        named, or when it is chosen for each document.

        Raises:
            ModelNotFoundError: What was chosen is not on this machine.
            ModelDamagedError: It was changed.
        """
        if self.model == AUTO and project is not None:
            from sciextract.inference.domain.auto import MODELS

            domain = project_domain(project)
            fits = "; most of its texts fit neither computer science nor biomedicine"
            message = f"model {AUTO} chose {MODELS[domain]} for this project"
            return message + (fits if domain is Domain.NEITHER else "")
        if self.model is not None:
            return ""
        from sciextract.workflows.models.choice import find_chosen

        return find_chosen(project).message()

    def ignores_batches(self, extractor: Extractor | AutoExtractor) -> bool:
        """Whether batches were asked for and the graph runs one abstract a call all the same."""
        # An int8 graph rounds activations over the whole call: abstracts in one batch would change each other.
        return not self.options.batching.single and extractor.batching.single


def suited_to(project: Project) -> str:
    """The bundled model that suits most of a project's first documents."""
    from sciextract.inference.domain.auto import MODELS

    return MODELS[project_domain(project)]


def base_for(project: Project) -> str:
    """The bundled model whose encoder suits own labels: that of the latest adapter, which was compared with the others;
    before any the words of the texts decide, between two: ``science`` has seen 70 abstracts only, and stands on ``sci``.
    """
    from sciextract.learning.bases import BASES

    names = [name for _, name in sorted(project.sources.items()) if ADAPTER in name]
    latest = names[-1].removeprefix("model:").partition("@")[0] if names else ""
    if latest in BASES:
        return latest
    return BIOMEDICAL_MODEL if project_domain(project) is Domain.BIOMEDICINE else DEFAULT_MODEL


def project_domain(project: Project) -> Domain:
    """The domain of most of a project's first documents."""
    from sciextract.store import documents

    texts = (
        documents.load(project.connection, number).document.text
        for number in project.numbers()[:ASKED_DOCUMENTS]
    )
    return _domain_of_most(texts)


def _domain_of_most(texts: Iterable[str]) -> Domain:
    votes = Counter(map(domain_of, texts))
    return votes.most_common(1)[0][0] if votes else Domain.COMPUTING


def parse_promise(words: Iterable[str]) -> dict[str, float]:
    """``entity=0.9,relation=0.85`` as numbers by task; which are possible is known to the promise itself.

    Raises:
        UsageError: A word is no ``TASK=P``, or a task has two numbers.
    """
    return _numbers(words, "promise", (*PROMISED, ATTRIBUTE))


def _numbers(words: Iterable[str], kind: str, tasks: Iterable[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    # An empty word is what a script gives whose variable was never set.
    for word in (part for listed in words for part in listed.split(",")):
        task, _, value = (part.strip() for part in word.partition("="))
        try:
            number = float(value)
        except ValueError:
            raise UsageError(
                f"{kind} {word!r} is not of the form TASK=P",
                f"for example entity=0.6; tasks are {', '.join(tasks)}",
            ) from None
        if task in found:
            problem = f"{kind} {task} is given twice: {found[task]:g} and {number:g}"
            raise UsageError(problem, "give one number per task")
        found[task] = number
    return found


def parse_thresholds(words: Iterable[str]) -> dict[str, float]:
    """``entity=0.6,relation=0.4`` and its like as numbers by task.

    Raises:
        UsageError: A word is no ``TASK=P``, a task is unknown or has two numbers, or a number lies outside 0 to 1.
    """
    thresholds = _numbers(words, "threshold", TASKS)
    # The settings themselves know which tasks and numbers are allowed.
    DecodeSettings().with_thresholds(thresholds)
    return thresholds


def parse_labels(words: Collection[str]) -> tuple[str, ...]:
    """``Disease,Chemical`` and its like as labels.

    >>> parse_labels(["Disease, Chemical", "Gene"])
    ('Disease', 'Chemical', 'Gene')
    """
    labels = (part.strip() for word in words for part in word.split(","))
    return tuple(dict.fromkeys(filter(None, labels)))


def check_labels(config: ModelConfig, wanted: Collection[str]) -> None:
    """Refuse entity labels that a model does not have.

    Raises:
        UsageError: Names them and those that it has.
    """
    unknown = [label for label in wanted if label not in config.labels.types]
    if unknown:
        raise UsageError(
            f"model {config.name!r} has no entity label {', '.join(map(repr, unknown))}",
            f"its labels: {', '.join(config.labels.types)}",
        )


def check_schema(config: ModelConfig, schema: LabelSchema) -> None:
    """Refuse a schema with other labels than the model's.

    Raises:
        ModelMismatchError: They differ; names both and what differs.
    """
    differences = []
    for kind, of_model, of_schema in (
        ("entity", config.labels.types, schema.entity_labels),
        ("relation", config.labels.relations.labels, schema.relation_labels),
    ):
        sides = {"model": (of_model, of_schema), "schema": (of_schema, of_model)}
        for owner, (own, other) in sides.items():
            if only := [label for label in own if label not in other]:
                differences.append(f"{kind} labels of the {owner} only: {', '.join(only)}")
    if differences:
        raise ModelMismatchError(
            f"model {config.name!r} (schema {config.schema_name!r}) and schema {schema.name!r} "
            f"have different labels: {'; '.join(differences)}",
            f"omit --schema, use a model trained with {schema.name!r}, or train one",
        )


def display_schema(config: ModelConfig) -> LabelSchema | None:
    """The bundled schema that the model was trained with, for its colours, if there is one.

    Several models together have the schemas of all.
    """
    names = config.schema_name.split("+")
    if not set(names) <= set(bundled_schemas()):
        return None
    first, *others = map(load_schema, names)
    return replace(
        first,
        entities=(*first.entities, *(kind for other in others for kind in other.entities)),
        relations=(*first.relations, *(kind for other in others for kind in other.relations)),
    )


DEFAULT_SCHEMA = "scierc"


def fitting_schema(model: str | None, texts: Iterable[str]) -> str:
    """The bundled schema whose labels a model predicts; the default one where that is not known.

    A model that is missing or damaged is not a failure here: whoever loads it says so.

    Args:
        model: What the user named; ``None`` is the model that the user chose before, or the default one.
        texts: What will be in the project; their words choose for ``auto``, else none is looked at.
    """
    from sciextract.inference.domain.auto import MODELS
    from sciextract.inference.model_folder import locate_model, open_folder
    from sciextract.workflows.models.choice import find_chosen

    try:
        if model == AUTO:
            model = MODELS[_domain_of_most(islice(texts, ASKED_DOCUMENTS))]
        if model is None:
            folder = find_chosen(None).model.folder
        elif "/" in model and not Path(model).expanduser().is_dir():
            return DEFAULT_SCHEMA  # of the hub: not fetched for this
        else:
            folder = locate_model(model)
        name = open_folder(folder, hashes=False).config.schema_name
    except SciextractError:
        return DEFAULT_SCHEMA
    return name if name in bundled_schemas() else DEFAULT_SCHEMA


def texts_of(files: Sequence[str]) -> Iterator[str]:
    """The texts in files, read as they are asked for.

    Raises:
        FormatError: A file cannot be read.
    """
    for item in read(list(files), None):
        if not isinstance(item, BadRecord):
            yield item.document.text
