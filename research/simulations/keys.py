"""Keys that correct suggestions after some finished abstracts, by rules for what is suggested and what is accepted at once.

``python -m research.simulations.keys --data FOLDER [--seeds 6] [--finished 10]``. In per cent of the keys without suggestions,
means and standard deviations over draws of finished and of 20 other abstracts: decisions alone, counted as
``benchmarks.learning`` does, and decisions with the moves between them.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

from benchmarks.learning import SETS, Simulation
from sciextract import Extractor
from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.adapter.states import EncoderStates
from sciextract.inference.held_out import held_out
from sciextract.inference.promise import ANY, keep_promise, make_promise
from sciextract.inference.settings import PROMISED, SURE
from sciextract.learning.adapter import learn
from sciextract.metrics.counts import Mention, Scorable, mention_of, scorable
from sciextract.snapshot.documents import TrainingDocument
from sciextract.workflows.learning_curve import CONFIDENCE, correction_keys

LOWEST = 0.03
SHARES, SCORES = (1.0, 0.5), (0.5, 0.7, 0.8)
"""Of the thresholds of suggestions, and scores from which everything is accepted at once."""

MOVE = 2
"""Keys to a mention that is not the next one: f and its letter."""

Documents = Sequence[AnnotatedDocument]
Thresholds = Sequence[tuple[str, str, float]]


class Keys(NamedTuple):
    """Keys of an abstract, or of some.

    Attributes:
        decisions: Those that decide.
        moves: Those that lead to what is decided and are no decision themselves.
    """

    decisions: int
    moves: int


class _Suggestion(NamedTuple):
    """A suggested mention or relation: its id, and whether it is better decided than rejected with all that is left."""

    id: str
    score: float
    useful: bool


def keys(gold: AnnotatedDocument, shown: AnnotatedDocument, sure: Thresholds) -> Keys:
    """Keys that make the gold of what is shown: **A** accepts what reaches ``sure``, **D** twice rejects what is left."""
    accepted = keep_promise(shown, sure)
    every = held_out("", [gold], [accepted]).items.values()
    right = sum(item.right for items in every for item in items)
    found = accepted.annotations
    at_once = {entity.id for entity in found.entities} | {
        relation.id for relation in found.relations
    }
    waiting = [
        suggestion for suggestion in _suggestions(gold, shown) if suggestion.id not in at_once
    ]
    left = {proposal.id for proposal in waiting if not proposal.useful}
    # Each that is rejected with the rest would have cost one.
    own = correction_keys(scorable(gold), scorable(shown)) - right - len(left)
    # After A the desk goes from the least certain one on; who sees that only wrong ones follow stops there.
    waiting.sort(key=lambda proposal: abs(proposal.score - 0.5))
    walks = (
        sum(not proposal.useful for proposal in waiting[:end])
        + MOVE * sum(proposal.useful for proposal in waiting[end:])
        for end in range(len(waiting) + 1)
    )
    moves = MOVE * (len(at_once) - right) + min(walks)
    return Keys(own + bool(at_once) + bool(left), moves)


def _suggestions(gold: AnnotatedDocument, shown: AnnotatedDocument) -> list[_Suggestion]:
    """Mentions are useful on the place of a gold one or overlapping one that is missing, relations between the right places."""
    wanted = {mention_of(entity) for entity in gold.annotations.entities}
    places = {entity.id: mention_of(entity) for entity in shown.annotations.entities}
    missed = sorted(wanted - set(places.values()))
    found = []
    for entity in sorted(shown.annotations.entities, key=lambda entity: places[entity.id]):
        place = places[entity.id]
        near = next((m for m in missed if m[0] < place[-1] and place[0] < m[-1]), None)
        if place not in wanted and near is not None:
            missed.remove(near)
        found.append(
            _Suggestion(entity.id, entity.score or 0.0, place in wanted or near is not None)
        )
    related = {_ends(gold, relation.head, relation.tail) for relation in gold.annotations.relations}
    for link in shown.annotations.relations:
        useful = _ends(shown, link.head, link.tail) in related
        found.append(_Suggestion(link.id, link.score or 0.0, useful))
    return found


def _ends(document: AnnotatedDocument, head: str, tail: str) -> frozenset[Mention]:
    places = {entity.id: mention_of(entity) for entity in document.annotations.entities}
    return frozenset((places[head], places[tail]))


def cut(found: Documents, usual: dict[str, float], share: float) -> list[AnnotatedDocument]:
    """What reaches so large a share of the usual thresholds."""
    least = [(task, ANY, share * score) for task, score in usual.items()]
    return [keep_promise(document, least) for document in found]


def measure(simulation: Simulation, finished: int) -> dict[str, Keys]:
    """Keys of each rule for all abstracts that are not finished."""
    schema, states = simulation.schema, simulation.states
    done = [TrainingDocument(e, simulation.data.layers) for e in simulation.pool[:finished]]
    own, lowest = [document.annotated for document in done], dict.fromkeys(PROMISED, LOWEST)
    # What stood in each abstract when it was finished: suggestions by those before it.
    log = [
        learn(done[:number], schema, states).with_settings(lowest).annotate(annotated.document)
        for number, annotated in enumerate(own)
    ]
    adapter, gold = learn(done, schema, states), simulation.test
    low = [adapter.with_settings(lowest).annotate(annotated.document) for annotated in gold]
    usual = {task: getattr(adapter.settings.thresholds, task) for task in PROMISED}
    found: dict[str, Keys] = {}
    for share in SHARES:
        shown, before = cut(low, usual, share), cut(log, usual, share)
        pairs = [*zip(gold, shown, strict=True)]
        singly = sum(correction_keys(scorable(one), scorable(other)) for one, other in pairs)
        found[f"one by one, thresholds x {share}"] = Keys(singly, 0)
        promise = make_promise(held_out("", own, before), SURE, CONFIDENCE)
        nothing = dict.fromkeys(PROMISED, 2.0)
        promised = nothing | {task: score for task, _, score in promise.thresholds}
        at_once = {"D twice": nothing, "A as promised, D twice": promised}
        at_once |= {f"A from {score}, D twice": dict.fromkeys(PROMISED, score) for score in SCORES}
        for name, scores in at_once.items():
            sure = [(task, ANY, score) for task, score in scores.items()]
            counts = [keys(one, other, sure) for one, other in pairs]
            found[f"{name}, thresholds x {share}"] = Keys(*map(sum, zip(*counts, strict=True)))
    return found


def main() -> None:
    """Print one line for each data set and rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--finished", type=int, default=10)
    parser.set_defaults(test=20, written=False, results=Path("build/keys"))
    options = parser.parse_args()
    options.results.parent.mkdir(parents=True, exist_ok=True)
    states = EncoderStates(Extractor.load("sci", threads=1), limit_mib=512)
    for data in SETS:
        rules = defaultdict[str, list[tuple[float, float]]](list)
        for seed in range(options.seeds):
            simulation = Simulation(data, seed, states, options)
            manual = sum(correction_keys(scorable(e), Scorable("")) for e in simulation.test)
            for name, figure in measure(simulation, options.finished).items():
                rules[name].append((100 * figure.decisions / manual, 100 * sum(figure) / manual))
        for name, shares in rules.items():
            columns = zip(*shares, strict=True)
            decisions, moves = (f"{mean(column):5.1f} ± {stdev(column):.1f}" for column in columns)
            print(f"{data.name:14} {name:40} {decisions}  with moves {moves}", flush=True)


if __name__ == "__main__":
    main()
