"""A model from what was decided in a project: an adapter with its scores, in a folder like any other model."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from sciextract import atomic
from sciextract.errors import (
    NOTHING_CHANGED,
    OutputError,
    TrainingDataError,
    as_command,
    explain_write_errors,
)
from sciextract.inference.adapter.folder import save_adapter
from sciextract.inference.adapter.states import EncoderStates
from sciextract.inference.held_out import held_out
from sciextract.inference.model_config import ModelConfig
from sciextract.learning.adapter import WRITTEN, learn
from sciextract.learning.attributes import AttributeScore
from sciextract.learning.validation import LEAST, Validation, validate
from sciextract.metrics.promotion import CROSS_VALIDATED, GateReport
from sciextract.snapshot.documents import positive_part
from sciextract.store import Project
from sciextract.text.english import counted
from sciextract.workflows.learn import (
    base_model,
    compare_bases,
    learn_attributes,
    training_documents,
)
from sciextract.workflows.models.compare import gate_predictions
from sciextract.workflows.models.registry import KnownModel, check_name, known_at, register

MOST_LEARNED = 2000
"""Abstracts that a model is learned from at most; the desk, where somebody waits, takes fewer."""


@dataclass(frozen=True, slots=True)
class LearnedModel:
    """A model that was learned from a project.

    Attributes:
        model: Where it is; registered, unless a folder was asked for.
        validation: What is known of it.
        seconds: How long training took, without validation.
        documents: Abstracts that it was trained on.
        gate: The comparison with the model that knows the labels already; ``None`` where none does.
        unseen: Types of the schema that none of these abstracts has.
        attributes: How good suggestions of attributes at the desk are; they are not part of the model.
        bases: On which base it stands and why: how each one did, or that the model in use cannot be used; else empty.
    """

    model: KnownModel
    validation: Validation
    seconds: float
    documents: int
    gate: GateReport | None
    unseen: tuple[str, ...]
    bases: str = ""
    attributes: tuple[AttributeScore, ...] = ()


def learn_model(
    project: Project,
    name: str,
    *,
    model: str | None = None,
    output: Path | None = None,
    on_progress: Callable[[int, int], None] = lambda done, of: None,
) -> LearnedModel:
    """Make a model of what was decided in a project: an adapter in a folder, cross-validated.

    Args:
        project: The open project; it is only read.
        name: What to call the model.
        model: The base; the project's where it fits the labels, else the bundled one that fits the texts.
        output: A folder to write instead of registering the model; it must not exist.
        on_progress: Called with the trainings done and all that there will be.

    Raises:
        TrainingDataError: Nothing is decided.
        OutputError: The folder exists, or cannot be written.
        UsageError: The name is none that a model can have.
    """
    finished = training_documents(project, MOST_LEARNED)
    if not finished:
        raise TrainingDataError(
            f"{project.path}: nothing to learn from: no abstract has a decision",
            f"correct some: {as_command('sciextract', 'tui', project.path)}",
        )
    check_name(name)
    if output is not None and output.exists():
        raise OutputError(f"{output} exists already", "choose another --output")
    found, bases = base_model(project, model)
    states = EncoderStates(found, limit_mib=2048)
    comparison = compare_bases(project, states, model)
    if comparison and (best := comparison.best()):
        states = best if best is states else EncoderStates(best.extractor, limit_mib=2048)
        stands = f"it stands on {best.extractor.model.name}; {comparison.words()}"
        bases = "; ".join(filter(None, (bases, stands)))
    base = states.extractor
    validation = validate(finished, project.schema, states, on_progress)
    started = time.monotonic()
    adapter = learn(finished, project.schema, states, WRITTEN)
    seconds = time.monotonic() - started
    known = not base.config.labels_unknown_to(project.schema)
    documents, gate, held = validation.documents, None, None
    if documents and known:
        before = base.stream([document.annotated.document for document in documents])
        symmetric, shown = project.schema.symmetric_labels, validation.shown
        gate = gate_predictions(documents, before, shown, symmetric, standard=CROSS_VALIDATED)
    taught = f"{counted(len(finished), 'abstract')} of a project"
    origin = {"learned from": taught, "base": str(base.model)}
    settings = replace(adapter.config.settings, candidates=False)
    scores = validation.to_json()
    config = replace(adapter.config, name=name, settings=settings, scores=scores, origin=origin)
    if documents:
        source = f"{len(documents)} finished abstracts, each predicted by a model that had not learned from it"
        gold = [positive_part(document) for document in documents]
        held = held_out(source, gold, validation.predicted)
    assert adapter.adapter is not None
    parts = (adapter.adapter.heads, config, _card(config, validation), held)
    if output is not None:
        problem = explain_write_errors(output, "choose another folder", kept=NOTHING_CHANGED)
        with problem, atomic.creating(output) as fresh:
            fresh.mkdir(parents=True)
            save_adapter(fresh, *parts)
        made = known_at(output)
    else:
        with TemporaryDirectory(prefix="sciextract-") as holder:
            save_adapter(Path(holder), *parts)
            made = register(Path(holder), name)
    annotated = [positive_part(document).annotations for document in finished]
    seen = {item.label for example in annotated for item in example.entities}
    seen |= {item.label for example in annotated for item in example.relations}
    unseen = tuple(type_.label for type_ in project.schema.types if type_.label not in seen)
    said = learn_attributes(project, states)
    told = tuple(said.scores()) if said else ()
    return LearnedModel(made, validation, seconds, len(finished), gate, unseen, bases, told)


def _card(config: ModelConfig, validation: Validation) -> str:
    """The model card, in Markdown."""
    labels, about = config.labels, config.adapter
    assert about is not None
    lines = [
        f"# {config.name}",
        "",
        "A model of sciextract that was learned from the decisions in a project: heads on the encoder of another model.",
        "",
        f"- Base: {about.name}, manifest {about.hash}; it has to be there",
        f"- Entity types: {', '.join(labels.entities)}",
        f"- Relation types: {', '.join(labels.relations.labels) or 'none'}",
        f"- Learned from {counted(about.finished, 'abstract')}",
        "",
        "## Scores",
        "",
        *(validation.lines() or [f"Not measured: {LEAST} finished abstracts are needed."]),
        "",
    ]
    return "\n".join(lines)
