"""A saved queue of the abstracts that a person had best correct next."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sciextract.documents.annotations import Layer
from sciextract.documents.schema import ABSTRACT
from sciextract.errors import ActionRefusedError, UsageError
from sciextract.learning.attributes import LEAST
from sciextract.store.coverage import MISSING, Type, find_missing
from sciextract.store.queries import (
    SavedQueue,
    plain_name,
    present,
    queue_lengths,
    read_queue,
    remove_queue,
    save_queue,
)
from sciextract.store.rows import (
    attribute_layer,
    attribute_name,
    covered_name,
    finished_sql,
    types_in,
)
from sciextract.store.sqlite import from_sql
from sciextract.workflows.active.ranking import (
    By,
    OnProgress,
    by_chance,
    by_uncertainty,
    pool_of,
)
from sciextract.workflows.models.choice import current
from sciextract.workflows.models.registry import find_model
from sciextract.workflows.predict_project import needs_adapter

if TYPE_CHECKING:
    from sciextract.store import Project


MOST = 200


@dataclass(frozen=True, slots=True)
class QueueOrder:
    """What is asked for.

    Attributes:
        by: What the order goes by.
        model: The model whose doubts count, by name; the one that predicts in the project when empty.
        most: At most so many abstracts.
        name: What the queue is called; a free name after ``by`` when empty.
        seed: Of a random order.
    """

    by: By
    model: str = ""
    most: int = MOST
    name: str = ""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class MadeQueue:
    """What was made.

    Attributes:
        queue: The queue, as it is kept.
        pool: Abstracts that were not done.
        model: Id of the model that was asked; empty for none.
        predicted: Predictions that had to be made because the project lacked them; they are not kept.
    """

    queue: SavedQueue
    pool: int
    model: str
    predicted: int

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        queue = self.queue
        made = {"name": queue.name, "by": queue.sort, "abstracts": len(queue.numbers)}
        return made | {"of": self.pool, "model": self.model, "predicted": self.predicted}


def make_queue(project: Project, order: QueueOrder, on_progress: OnProgress) -> MadeQueue:
    """Rank what is left to correct and save the first part as a queue; nothing else in the project changes.

    Until the queue is saved, at the very end, nothing is written: a run that is interrupted leaves no trace.

    Raises:
        UsageError: A random order names a model, or ``most`` is below 1.
        ActionRefusedError: There is a queue of that name, or no abstract is left to correct.
        ModelNotFoundError: There is no such model.
        ModelDamagedError: A file of a model is missing or changed.
        ModelMismatchError: A model has other labels than the project.
        ProjectError: The project cannot be read or written.
    """
    # A name that is taken is refused now rather than after the work.
    taken = queue_lengths(project)
    if order.name:
        name = plain_name(order.name)
        if not name:
            raise UsageError(f"a queue cannot be called {order.name!r}", "use letters or digits")
        if name in taken:
            raise ActionRefusedError(f"there is a queue {name!r} already", "choose another --name")
    else:
        by = order.by.value
        names = (by, *(f"{by} {number}" for number in range(2, len(taken) + 3)))
        name = next(unused for unused in names if unused not in taken)
    if order.by is By.RANDOM:
        if order.model:
            raise UsageError("a random order uses no model", "leave --model out")
        pool = pool_of(project)
        numbers, asked, predicted = by_chance(pool, order.seed), "", 0
    else:
        model = find_model(order.model) if order.model else current(project)
        pool = pool_of(project)
        adapter = None
        # Without a model that was named, a project with labels of its own is asked about by its adapter.
        if not order.model and needs_adapter(project, model.open().config):
            from sciextract.inference.adapter.states import EncoderStates
            from sciextract.inference.extractor import Extractor
            from sciextract.workflows.learn import learn_from_project

            adapter = learn_from_project(project, EncoderStates(Extractor.load(model.folder)))
        asked = model.id if adapter is None else str(adapter.model)
        numbers, predicted = by_uncertainty(project, pool, model, adapter, on_progress)
    # The only thing that is written, at the very end.
    queue = SavedQueue(name, tuple(numbers[: order.most]), sort=order.by.value, seed=order.seed)
    return MadeQueue(save_queue(project, queue), len(pool), asked, predicted)


def queue_missing(project: Project, label: str, name: str) -> SavedQueue:
    """Save a queue of the abstracts that were finished before a type, or a whole layer, came into use.

    Raises:
        UsageError: The schema has no such type.
        ActionRefusedError: No abstract lacks it, or there is a queue of that name.
    """
    types: dict[str, Type] = {layer.value: (layer, "") for layer in list(Layer)[1:]}
    types |= {named: (layer, named) for layer, named in types_in(project.schema, frozenset(Layer))}
    attributes = {attribute_name(kind.label): kind for kind in project.schema.attributes}
    types |= {name: (attribute_layer(kind), name) for name, kind in attributes.items()}
    if label not in types:
        raise UsageError(f"the project has no type {label!r}", f"types: {', '.join(types)}")
    numbers = find_missing(project.connection, project.schema).get(types[label], [])
    if not numbers:
        raise ActionRefusedError(f"no finished abstract lacks {label}: there is nothing to go over")
    sort = f"{MISSING}{covered_name(*types[label])}"
    return save_queue(project, SavedQueue(name or f"missing {label}", tuple(numbers), sort=sort))


def queue_likely(
    project: Project, wanted: str, name: str, most: int, on_progress: OnProgress
) -> tuple[SavedQueue, list[float]]:
    """Save a queue of the abstracts that are not done, those first that likely have a value of an attribute.

    Args:
        project: Open for writing.
        wanted: ``ATTRIBUTE=VALUE``, for a flag ``ATTRIBUTE``.
        name: Of the queue; empty for the words of ``wanted``.
        most: Abstracts at most.
        on_progress: Called with abstracts done and abstracts in all.

    Returns:
        The queue, and the probabilities in its order.

    Raises:
        UsageError: The schema has no such attribute of abstracts, or no such value of it.
        ActionRefusedError: Too little is finished to learn it, nothing is left, or there is a queue of that name.
    """
    from sciextract.inference.adapter.states import EncoderStates
    from sciextract.workflows.learn import base_model, learn_attributes

    label, _, value = wanted.partition("=")
    kinds = {kind.label: kind for kind in project.schema.attributes_of(ABSTRACT)}
    if label not in kinds or not kinds[label].takes(value):
        known = [
            "=".join(filter(None, (kind.label, choice)))
            for kind in kinds.values()
            for choice in (kind.values or ("",))
        ]
        raise UsageError(
            f"--likely {wanted!r} is no value of an attribute of abstracts",
            f"there are: {', '.join(known) or 'none; the schema names them'}",
        )
    pool = pool_of(project)
    heads = learn_attributes(project, EncoderStates(base_model(project)[0]))
    shares: list[tuple[float, int]] = []
    for done, number in enumerate(pool, start=1):
        document = project.document(number)
        share = heads.probability_of(document, label, value) if heads else None
        if share is None:
            problem = f"the finished abstracts do not teach {wanted}"
            hint = f"at least {LEAST} have to be finished, some with the value and some without"
            raise ActionRefusedError(problem, hint)
        shares.append((-share, number))
        on_progress(done, len(pool))
    shares.sort()
    numbers = tuple(number for _, number in shares[:most])
    queue = SavedQueue(name or f"likely {wanted}", numbers, sort=f"likely {wanted}")
    return save_queue(project, queue), [round(-share, 4) for share, _ in shares[:most]]


_ROWS = f"""SELECT d.id, d.doc_key, d.title, s.undecided, {finished_sql("p")}
    FROM json_each(?) j JOIN document d ON d.id = j.value JOIN progress p ON p.document_id = d.id
    JOIN summary s ON s.document_id = d.id ORDER BY j.key"""


@dataclass(frozen=True, slots=True)
class QueuedAbstract:
    """An abstract of a queue.

    Attributes:
        number: Its number.
        doc_key: Its key.
        title: Its title, or how it begins.
        undecided: How many of its items wait for a decision.
        done: Whether it is done.
    """

    number: int
    doc_key: str
    title: str
    undecided: int
    done: bool


def abstracts_of(project: Project, name: str) -> list[QueuedAbstract]:
    """The abstracts of a queue in their order; those that left the project are left out.

    Raises:
        UsageError: There is no queue of that name; lists the names that there are.
    """
    queue = read_queue(project, plain_name(name))
    if queue is None:
        raise _unknown(project, name)
    numbers = present(project.connection, queue.numbers)
    rows = project.connection.execute(_ROWS, (json.dumps(numbers),)).fetchall()
    return [
        QueuedAbstract(number, from_sql(key), from_sql(title), undecided, bool(done))
        for number, key, title, undecided, done in rows
    ]


def drop_queue(project: Project, name: str) -> None:
    """Forget a queue.

    Raises:
        UsageError: There is no queue of that name; lists the names that there are.
        ProjectError: The project cannot be written.
    """
    if plain_name(name) not in queue_lengths(project):
        raise _unknown(project, name)
    remove_queue(project, plain_name(name))


def _unknown(project: Project, name: str) -> UsageError:
    names = ", ".join(queue_lengths(project))
    hint = f"queues: {names}" if names else "no queue is saved; sciextract queue make makes one"
    return UsageError(f"no queue is called {name!r}", hint)
