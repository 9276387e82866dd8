"""Adapters of a project: trained on what its people have decided, they suggest for abstracts that nobody has touched."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sciextract.documents.annotations import ALL_LAYERS, Annotations, LabelScore, Layer, Span
from sciextract.documents.document import AnnotatedDocument, ModelId
from sciextract.errors import ModelDamagedError, ModelNotFoundError, UsageError
from sciextract.inference.adapter.spans import Words
from sciextract.inference.adapter.states import EncoderStates
from sciextract.inference.batching import RunOptions
from sciextract.inference.decoding import softmax
from sciextract.inference.extractor import Extractor
from sciextract.inference.promise import Promise
from sciextract.learning.adapter import learn, learn_types
from sciextract.learning.attributes import AttributeHeads
from sciextract.learning.bases import LEAST, BaseComparison
from sciextract.snapshot.documents import TrainingDocument
from sciextract.snapshot.gathering import training_document
from sciextract.store import DocumentState, Outcome, documents, open_project
from sciextract.store.coverage import find_missing
from sciextract.store.document_state import Context
from sciextract.store.documents import known_documents, recently_decided
from sciextract.store.finished import SUGGEST_TYPES
from sciextract.store.ingest import ModelRun, need_prediction
from sciextract.store.rows import attribute_name
from sciextract.workflows.learning_curve import LayerUse, learning_curve
from sciextract.workflows.model_choice import ModelChoice, base_for
from sciextract.workflows.predict_project import PredictReport

if TYPE_CHECKING:
    from sciextract.store import Project

# Abstracts that an adapter is trained on at most: those that were decided last.
MOST_FINISHED = 200

# Abstracts that bases are compared on at most: what they do not tell apart is alike.
MOST_COMPARED = 60

# Finished abstracts below which mentions that a person had suggested by another model stay next to the adapter's.
FEW_FINISHED = 10

# Finished abstracts below which nothing says how good suggestions are; until then an abstract gets the best few alone.
MEASURABLE = 2
MOST_AT_FIRST = 8

_BATCH = 8


def training_documents(project: Project, most: int) -> list[TrainingDocument]:
    """The abstracts that were decided last, in the order in which they came into the project.

    Items that nobody decided, and layers that are not done, say nothing; so do labels that the schema lacks now.
    """
    numbers = sorted(recently_decided(project.connection, most))
    return [training_document(project, number) for number in numbers]


def learn_from_project(project: Project, states: EncoderStates) -> Extractor:
    """Train an adapter on the decisions in a project; the project is only read.

    The result depends on the decisions, the schema and the encoder alone, so that what a killed process was
    learning is learned again by the next one.
    """
    return learn(training_documents(project, MOST_FINISHED), project.schema, states)


def learn_attributes(project: Project, states: EncoderStates) -> AttributeHeads | None:
    """What the finished abstracts teach of attributes; ``None`` where the schema has none. The project is only read."""
    if not (kinds := project.schema.attributes):
        return None
    by_label: dict[str, list[AnnotatedDocument]] = {kind.label: [] for kind in kinds}
    for number in sorted(recently_decided(project.connection, MOST_FINISHED)):
        progress = project.document_state(number).progress
        document = project.document(number)
        if progress and Layer.RELATIONS not in progress.done:
            # An attribute of mentions and relations is finished with the mentions: of relations nobody was asked yet.
            document = replace(document, annotations=replace(document.annotations, relations=()))
        for label, finished in by_label.items():
            if progress and attribute_name(label) in progress.covered:
                finished.append(document)
    return AttributeHeads([(kind, by_label[kind.label]) for kind in kinds], states)


def suggest_parts(project: Project, label: str, parts: Sequence[str]) -> Outcome:
    """Note at the mentions of a type that is split which of the new types each may be, by those that have one.

    They keep their type; the desk shows the new ones with their shares beside it. One event, which undo takes back.

    Raises:
        UsageError: No mention has one of the new types yet.
        ProjectError: The project cannot be written.
    """
    known = documents.positive_labels(project.connection, "entity")
    if new := [part for part in parts if not known[part]]:
        problem = f"no mention is {' or '.join(new)} yet"
        raise UsageError(problem, "give some mentions of each new type its name, then suggest")
    # Without the old type, its mentions say nothing.
    types = tuple(type_ for type_ in project.schema.entities if type_.label != label)
    states = EncoderStates(base_model(project)[0])
    examples = training_documents(project, MOST_FINISHED)
    model = learn_types(examples, replace(project.schema, entities=types), states)
    columns = [1 + model.labels.entities.index(part) for part in parts]
    suggested: dict[int, dict[str, tuple[LabelScore, ...]]] = {}
    query = "SELECT DISTINCT document_id FROM entity WHERE label = ?"
    for (number,) in project.connection.execute(query, (label,)).fetchall():
        doc = project.document_state(number)
        document, shares = doc.stored.document, suggested.setdefault(number, {})
        logits = model.logits(Words.of(states.of(document)))
        for row in doc.entities:
            place = document.tokens.covering(Span(row.char_start, row.char_end))
            width = place.token_end - place.token_start if place else 0
            if place and row.label == label and width <= model.labels.max_span_width:
                scores = softmax(logits[place.token_start, width - 1, columns])
                both = zip(parts, scores.round(4).tolist(), strict=True)
                found = [LabelScore(*scored) for scored in both]
                shares[row.id] = tuple(sorted(found, key=lambda part: -part.score))

    def work(doc: DocumentState, context: Context) -> None:
        for row in doc.entities:
            more = suggested[doc.number].get(row.id)
            if row.label == label and row.in_view and more:
                doc.put(replace(row, alternatives=more))
                context.items += 1

    about = {"type": label, "parts": [*parts]}
    return project.perform(SUGGEST_TYPES, about, suggested, work)


def base_model(project: Project, named: str | None = None) -> tuple[Extractor, str]:
    """The encoder to learn on, and why it is not the one of the model in use, where that cannot be used.

    It is the named model or the one in use where it knows the labels, else the bundled one that fits the texts. That of
    an adapter is its base.
    """
    options, problem = RunOptions(threads=1), ""
    try:
        found = ModelChoice(named, options=options).load(project)
    except (ModelNotFoundError, ModelDamagedError) as error:
        if named is not None:
            raise
        problem = error.message
    if (
        problem
        or not isinstance(found, Extractor)
        or (named is None and found.config.labels_unknown_to(project.schema))
    ):
        bundled = base_for(project)
        words = f"learned on {bundled} instead: {problem}" if problem else ""
        return Extractor.load(bundled, options), words
    return found.base(), ""


def compare_bases(
    project: Project, states: EncoderStates, named: str | None
) -> BaseComparison | None:
    """The comparison that chooses the base; ``None`` where a person named it, it knows the labels, or little is finished."""
    if named is not None or not states.extractor.config.labels_unknown_to(project.schema):
        return None
    finished = [doc for doc in training_documents(project, MOST_COMPARED) if doc.complete]
    return BaseComparison(finished, project.schema, states) if len(finished) >= LEAST else None


def find_untouched(project: Project) -> list[int]:
    """Numbers of the abstracts that nobody has decided anything about, or that lack a type, in the order in which they came."""
    missing = find_missing(project.connection, project.schema)
    lacking = {number for (_, label), numbers in missing.items() if label for number in numbers}
    known = known_documents(project.connection)
    return [doc.number for doc in known if doc.number in lacking or not (doc.decided or doc.done)]


def annotate_with_adapter(
    project: Project, extractor: Extractor, on_progress: Callable[[int, int], None] | None = None
) -> PredictReport:
    """Learn from the finished abstracts and put suggestions into all that nobody has touched.

    Raises:
        ProjectError: The project cannot be written.
    """
    states = EncoderStates(extractor)
    adapter, attributes = learn_from_project(project, states), learn_attributes(project, states)
    run = suggest_with(project, adapter, on_progress, attributes)
    skipped = len(project.numbers()) - run.documents
    made = run.source.rpartition("/")[2] if run.documents else ""
    return PredictReport(str(adapter.model), made, run.documents, skipped)


def suggest_with(
    project: Project,
    adapter: Extractor,
    on_progress: Callable[[int, int], None] | None = None,
    attributes: AttributeHeads | None = None,
) -> ModelRun:
    """Put an adapter's predictions into the abstracts that nobody has touched, as one model run.

    The run is one event; it is kept out of the person's own undo. Earlier adapters' predictions about the same
    abstracts are replaced and leave no trace but their event, so that the file does not grow with every run.
    What a person has decided stays as it is: an abstract that is decided meanwhile is passed over.

    Args:
        project: Open for writing.
        adapter: The trained adapter.
        on_progress: Called with abstracts done and abstracts in all.
        attributes: What it says of items and abstracts.

    Raises:
        ProjectError: The project cannot be written; what was predicted before is in it, whole abstracts only.
    """
    run = adapter_run(project, adapter.model, finished_of(adapter))
    numbers = find_untouched(project)
    for start in range(0, len(numbers), _BATCH):
        batch = numbers[start : start + _BATCH]
        found = [(number, _annotate(project, adapter, number)) for number in batch]
        run.add([(number, _with_attributes(item, attributes)) for number, item in found])
        if on_progress:
            on_progress(run.documents, len(numbers))
    run.finish()
    return run


def adapter_run(
    project: Project, model: ModelId, finished: int, layers: Iterable[Layer] = ALL_LAYERS
) -> ModelRun:
    """A run of an adapter, which is kept out of the person's own undo.

    Args:
        project: Open for writing.
        model: The adapter's name.
        finished: Abstracts that it was trained on; while they are few, mentions that a person had suggested stay.
        layers: Those that its suggestions are used for, for the log.
    """
    settings = {"finished": finished, "layers": sorted(layer.value for layer in layers)}
    few = finished < FEW_FINISHED
    return ModelRun(project, model, settings, background=True, keep_suggestions=few)


def finished_of(adapter: Extractor) -> int:
    """How many abstracts an adapter was trained on; 0 for any other extractor."""
    return adapter.config.adapter.finished if adapter.config.adapter else 0


def _annotate(project: Project, adapter: Extractor, number: int) -> AnnotatedDocument:
    # Suggestions are shown with what was considered, so that another span or label costs one key.
    document = documents.load(project.connection, number).document
    return adapter.with_settings(candidates=True).annotate(document)


def _best_of(found: Annotations) -> Annotations:
    """The mentions with the highest scores, and what connects them."""
    ranked = sorted(found.entities, key=lambda entity: -(entity.score or 0.0))
    best = found.among({entity.id for entity in ranked[:MOST_AT_FIRST]})
    paired = tuple(cluster for cluster in best.clusters if len(cluster.mentions) > 1)
    return replace(best, clusters=paired)


def _with_attributes(found: AnnotatedDocument, heads: AttributeHeads | None) -> AnnotatedDocument:
    if heads is None:
        return found
    said = replace(found.annotations, attributes=heads.suggest(found))
    return replace(found, annotations=said)


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned from a project.

    Attributes:
        model: The adapter's name.
        finished: Abstracts that it was trained on.
        done: Those of them that are done; the others have decisions.
        seconds: How long the training took.
        use: Whether each layer's suggestions are used, and why.
        numbers: Untouched abstracts that it can suggest for.
        sure: From which score on suggestions are right as often as promised.
        change: Why it stands on another base than the adapter before or the model in use; empty where it does not.
    """

    model: ModelId
    finished: int
    done: int
    seconds: float
    use: Mapping[Layer, LayerUse]
    numbers: tuple[int, ...]
    sure: Promise
    change: str = ""


@dataclass(frozen=True, slots=True)
class Suggested:
    """An adapter's suggestions for one abstract.

    Attributes:
        number: The abstract.
        predicted: Of all layers, which the running score is counted from.
        shown: Those of the layers that are used; the model's own in the others.
    """

    number: int
    predicted: AnnotatedDocument
    shown: Annotations


class Learner:
    """Learns from a project file again and again; reads it only. States of its abstracts stay in memory.

    Args:
        path: The project.
        model: The model that the person named, ``None`` for the one in use.
    """

    def __init__(self, path: Path, model: str | None) -> None:
        self._path = path
        self._model = model
        self._states: EncoderStates | None = None
        self._adapter: Extractor | None = None
        self._attributes: AttributeHeads | None = None
        self._layers = ALL_LAYERS
        self._comparison: BaseComparison | None = None
        self._compared, self._change = 0, ""

    def learn(self, share: float | None = None) -> Learned:
        """Train an adapter on the decisions in the project.

        Args:
            share: The precision to promise of what is sure; the usual one when ``None``.

        Raises:
            SciextractError: The project cannot be read, or no model is there.
        """
        with open_project(self._path, read=True) as project:
            if self._states is None:
                base, self._change = base_model(project, self._model)
                self._states = EncoderStates(base)
            states = self._states
            known = not states.extractor.config.labels_unknown_to(project.schema)
            started = time.monotonic()
            adapter = self._adapter = learn_from_project(project, states)
            self._attributes = learn_attributes(project, states)
            seconds = time.monotonic() - started
            # Again whenever half as much more is finished: bases rarely change places later.
            if not self._comparison and finished_of(adapter) >= 1.5 * self._compared:
                self._comparison = compare_bases(project, states, self._model)
                self._compared = finished_of(adapter) if self._comparison else 0
            used = set(recently_decided(project.connection, MOST_FINISHED))
            abstracts = known_documents(project.connection)
            done = sum(abstract.finished for abstract in abstracts if abstract.number in used)
            curve = learning_curve(project, known=known, share=share)
            use = {layer: of_layer.use for layer, of_layer in curve.layers.items()}
            self._layers = frozenset(layer for layer, of_layer in use.items() if of_layer.on)
            waiting = need_prediction(project.connection, states.extractor.model) if known else ()
            left = set(waiting)  # the model's own predictions come first
            numbers = tuple(number for number in find_untouched(project) if number not in left)
        finished, change = finished_of(adapter), self._change
        self._change = ""
        return Learned(adapter.model, finished, done, seconds, use, numbers, curve.sure, change)

    def compare(self) -> bool:
        """Train once more to compare bases, while nobody waits; whether more is to do. The next adapter stands on the best."""
        if self._comparison is None or self._states is None:
            return False
        if self._comparison.step():
            return True
        best = self._comparison.best()
        if best is not self._states:
            name = best.extractor.model.name
            self._change = f"suggestions stand on {name} now; {self._comparison.words()}"
        self._states, self._comparison = best, None
        return False

    def predict(self, numbers: Sequence[int]) -> list[Suggested]:
        """Suggestions for some abstracts by what was learned last; none before that.

        Raises:
            SciextractError: The project cannot be read.
            KeyError: There is no such abstract.
        """
        if self._adapter is None:
            return []
        used = self._adapter.using(self._layers)
        with open_project(self._path, read=True) as project:
            found = []
            for number in numbers:
                predicted = _annotate(project, self._adapter, number)
                same = self._layers.issuperset(project.schema.layers)
                shown = predicted if same else _annotate(project, used, number)
                if finished_of(self._adapter) < MEASURABLE:
                    shown = replace(shown, annotations=_best_of(shown.annotations))
                shown = _with_attributes(shown, self._attributes)
                found.append(Suggested(number, predicted, shown.annotations))
            return found
