"""Keys that mean something now: the footer, and the legend with the labels that keys set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from sciextract.documents.schema import EntityType, RelationType
from sciextract.inference.settings import SURE
from sciextract.store import LinkRow, RelationRow
from sciextract_app.review.model.bulk_decision import Phase
from sciextract_app.review.model.modes import (
    AttributeLetter,
    AttributeValue,
    Characters,
    ChoosingType,
    Confirming,
    GoingTo,
    Joining,
    Jumping,
    Merging,
    Offering,
    Pointing,
    Relating,
    Review,
    Selecting,
    TypeLetter,
)
from sciextract_app.review.model.state import ReviewState
from sciextract_app.review.model.targets import (
    SETTLED,
    alike_target,
    best_type,
    legal_types,
    offered_attributes,
    proposal,
    selected,
    suggestion,
    sure_items,
    sure_score,
    takes_out,
)
from sciextract_app.shared import document_view
from sciextract_app.shared.actions import EDGES, action_hint, key_of, keys_together, type_keys
from sciextract_app.shared.view_models import DIGITS, VALUE_KEYS, Hint, named

_MAIN = 6
"""Keys of the focus that stand out in the footer."""
_SHOWN_MENTIONS, _SHOWN_CLUSTERS = 2, 12  # more than a line has room for
_BACK = Hint("Esc", "back")
_HINTED = Hint("a-z", "the letters over the text")


def list_footer() -> tuple[Hint, ...]:
    """The keys of the list of abstracts, while it has the focus."""
    return (
        Hint("Enter", "open"),
        Hint("Esc", "back to the text"),
        Hint("↑ ↓ j k", "row"),
        Hint("PgUp PgDn Home End", "page"),
        action_hint("search"),
        Hint(key_of("app.save-queue"), "save as a queue"),
        action_hint("help"),
    )


def footer(state: ReviewState) -> tuple[Hint, ...]:
    """The most important keys first; in modes those that would be refused now are not live."""
    if state.view is None:
        return tuple(action_hint(action) for action in ("search", "help", "palette", "quit"))
    schema = state.view.schema
    match state.doing:
        case Offering(added=added):
            other = Hint(type_keys(schema.relation_labels), "another type", live=bool(added))
            return Hint("a-l", "add the one with the letter"), other, _BACK
        case Relating(any_type=any_type):
            return _HINTED, Hint("Space", "all mentions", not any_type), _BACK
        case Jumping():
            return _HINTED, _BACK
        case Selecting(offers=offers):
            best = suggestion(state)
            another = action_hint("candidate", words=f"next of {len(offers)}")
            return (
                action_hint("accept", best is not None, f"add as {best}" if best else "add"),
                Hint(type_keys(schema.entity_labels), "add as type"),
                *([another] if offers else []),
                Hint(_moves(), "move the end"),
                _BACK,
            )
        case Pointing(mention=mention, start=start):
            takes = "take this part out" if takes_out(state, mention) else "add this part"
            return (
                action_hint("fragment", words=takes),
                action_hint("select", start is None, "longer part"),
                Hint(_moves(), "move"),
                _BACK,
            )
        case Characters():
            starts, ends = keys_together(*EDGES[:2]), keys_together(*EDGES[2:])
            return Hint(starts, "start"), Hint(ends, "end"), action_hint("accept", words="leave")
        case ChoosingType() as relation:
            best = best_type(state, relation)
            return (
                *([Hint("Enter", best)] if best else []),
                Hint(type_keys(schema.relation_labels), "type"),
                Hint("Space", "turn around"),
                _BACK,
            )
        case TypeLetter():
            return Hint("a-z", "the type's letter"), _BACK
        case AttributeLetter():
            return Hint("a-z", "the attribute's letter"), _BACK
        case AttributeValue(kind=kind):
            keys = f"1-{VALUE_KEYS[len(kind.values) - 1]}"
            return Hint(keys, kind.label), action_hint("reject", words="take it back"), _BACK
        case Joining() | Merging():
            return *_cluster_keys(state), _BACK
        case Confirming():
            return Hint("Enter", "do it"), Hint("Esc", "do not")
        case GoingTo(typed=typed):
            return Hint("0-9", "number"), Hint("Enter", "open it", bool(typed)), _BACK
    return tuple(_review_keys(state))


def _moves() -> str:
    return f"arrows {keys_together('next-sentence', 'previous-sentence', 'jump')}"


def _review_keys(state: ReviewState) -> Iterator[Hint]:
    """What the focus needs, six keys at most, and after them what else would do something now."""
    if spread := _spread_hint(state):
        yield spread
    main = [hint for hint in _keys_of_focus(state) if hint.live][:_MAIN]
    yield from main
    shown = {hint.key for hint in main}
    yield from (
        replace(hint, seldom=True)
        for hint in _other_keys(state)
        if hint.live and hint.key not in shown
    )


def _keys_of_focus(state: ReviewState) -> Iterator[Hint]:
    view = state.open_view
    item = view.row(state.focus)
    if not state.undecided_count():
        yield action_hint("done")
    if item is None:
        yield Hint(type_keys(view.schema.entity_labels), "make a mention")
        yield from (action_hint(name) for name in ("select", "jump", "next-in-text", "undo"))
        return
    accept, reject = "next" if item.state in SETTLED else "accept", "reject"
    if isinstance(item, LinkRow):  # accepting says that its mention means the same as the others
        others = [link.entity_id for link in view.members[item.cluster_id]]
        other = next((name for name in others if name != item.entity_id), item.entity_id)
        if item.state not in SETTLED:
            accept = f"same as {named(view.surface(other), 16)}"
        reject = "not the same"
    yield action_hint("accept", state.undecided_count() > 0, accept)
    yield action_hint("reject", words=reject)
    # Accepting a relation accepts its ends: most of the keys of an abstract are saved at its beginning.
    relations_first = view.progress.is_untouched and bool(view.relations)
    if isinstance(item, RelationRow):
        yield from (action_hint("invert"), action_hint("relate"))
        yield action_hint("join", view.schema.coreference)
        yield action_hint("relations", words="relations first" if relations_first else "")
    elif isinstance(item, LinkRow):
        yield from (action_hint(name) for name in ("leave", "merge", "split"))
    else:
        yield Hint(keys_together(*EDGES[::2]), "grow")
        yield Hint(keys_together(*EDGES[1::2]), "shrink")
        yield action_hint("relations", relations_first, "relations first")
        yield action_hint("relate")
        yield action_hint("join", view.schema.coreference)


def _other_keys(state: ReviewState) -> Iterator[Hint]:
    """The most useful first: the last ones go where there is no room, but for the very last."""
    view, known = state.open_view, state.candidates
    item, undecided = view.row(state.focus), state.undecided_count()
    mention = view.mention_of(state.focus)
    yield from (action_hint("done"), action_hint("undo"))
    least, sure = f"accept ≥ {state.threshold:.2f}", sure_items(state)
    if any(sure):
        tasks = [task for task, items in zip(SURE, sure, strict=True) if items]
        numbers = "+".join(str(len(items)) for items in sure if items)
        scores = " ".join(f"≥ {sure_score(state, task):.2f}" for task in tasks)
        least = f"accept {numbers}, {state.share * 100:.0f} % right, {scores}"
    yield action_hint("accept-above", undecided > 0, least)
    yield action_hint("attribute", bool(view.schema.attributes and offered_attributes(state)))
    target = alike_target(state)
    yield action_hint(
        "alike", target is not None, f"all {named(view.surface(target), 16)}" if target else ""
    )
    yield action_hint("accept", undecided > 0, "next")
    yield from (action_hint(name) for name in ("jump", "select", "next-abstract", "relations"))
    # Of a relation nobody could say which end leaves its cluster.
    at_home = not isinstance(item, RelationRow) and bool(view.homes.get(mention or ""))
    yield from (action_hint(name, at_home) for name in ("leave", "merge", "split", "next-mention"))
    yield action_hint("relate", item is not None)
    yield action_hint("join", item is not None and view.schema.coreference)
    yield action_hint("candidate", bool(known and known.spans))
    yield action_hint("offers", item is not None and bool(known and (known.pairs or known.links)))
    yield action_hint("fragment", item is not None)
    yield from (action_hint(name) for name in ("note", "help"))


def _cluster_keys(state: ReviewState) -> Iterator[Hint]:
    if state.doing.hints is not None:
        yield _HINTED
        return
    members = state.open_view.members
    yield Hint("a-Z", "the cluster's letter", bool(members))
    if isinstance(state.doing, Joining):
        yield Hint("c", "the last one", state.last_cluster in members)
        proposed = proposal(state, state.doing.mention)
        if proposed:
            yield Hint("Enter", proposed.words)
        yield Hint("Space" if proposed else "Enter", "new, with another mention")


def legend(state: ReviewState) -> tuple[Hint, ...]:
    """The labels of the focus with the keys that set them; in modes of letters what the letters mean."""
    if state.view is None:
        return ()
    schema, row = state.view.schema, state.view.row(state.focus)
    match state.doing:
        case ChoosingType() as relation:
            allowed, best = legal_types(state, relation), best_type(state, relation)
            return tuple(_types(schema.relations, best, allowed, letters=True))
        case Offering() as doing:
            return tuple(_offers(state, doing))
        case Joining() | Merging() if state.doing.hints is None:
            return tuple(_clusters(state))
        case AttributeLetter():
            offered = offered_attributes(state)
            return tuple(Hint(key, kind.label) for key, (kind, _) in offered.items())
        case AttributeValue(kind=kind, target=target, names=names):
            said = state.view.attribute_of(target, kind.label)
            values = zip(VALUE_KEYS, kind.values, names or kind.values, strict=False)
            chosen = said.value if said else ""
            return tuple(Hint(key, name, current=value == chosen) for key, value, name in values)
        case TypeLetter():
            mentions = selected(state) or not isinstance(row, RelationRow)
            types = schema.entities if mentions else schema.relations
            return tuple(Hint(type_.key, type_.label, label=type_.label) for type_ in types)
        case Review() if isinstance(row, RelationRow):
            by_id = state.view.by_id
            allowed = document_view.legal(schema, by_id[row.head], by_id[row.tail])
            return tuple(_types(schema.relations, row.label, allowed))
        case Review():
            mention = state.view.by_id.get(state.view.mention_of(state.focus) or "")
            return tuple(_types(schema.entities, mention.label if mention else None))
        case Selecting():
            return tuple(_types(schema.entities, None))
    return ()  # digits mean no label


def _types(
    types: Sequence[EntityType | RelationType],
    current: str | None,
    allowed: Sequence[str] | None = None,
    *,
    letters: bool = False,
) -> Iterator[Hint]:
    """Types with their digits, and with ``;`` and their letters where digits have run out."""
    for place, type_ in enumerate(types, start=1):
        more = ("" if letters else key_of("letter")) + type_.key
        key = key_of(f"type-{place}") if place <= DIGITS else more
        yield Hint(
            f"{key} {type_.key}" if letters and place <= DIGITS else key,
            type_.label,
            live=allowed is None or type_.label in allowed,
            label=type_.label,
            current=type_.label == current,
        )


def _offers(state: ReviewState, doing: Offering) -> Iterator[Hint]:
    """The letters of what the model considered, each with its type, the other mention and its score."""
    view = state.open_view
    for letter, choice in doing.considered.items():
        leads_on = choice.head == doing.mention
        other = named(view.surface(choice.tail if leads_on else choice.head), 16)
        arrow = "──" if choice.label in view.schema.symmetric_labels else "─▶"
        if not choice.label:
            words = f"same as {other}"
        else:
            words = (
                f"{choice.label} {arrow} {other}" if leads_on else f"{other} {choice.label} {arrow}"
            )
        yield Hint(letter, f"{words} {choice.score:.2f}")


def _clusters(state: ReviewState) -> Iterator[Hint]:
    """The letters of the first clusters, each with its first mentions."""
    view = state.open_view
    for cluster_id, links in islice(view.members.items(), _SHOWN_CLUSTERS):
        names = [view.surface(link.entity_id) for link in links]
        more = f" +{len(names) - _SHOWN_MENTIONS}" if len(names) > _SHOWN_MENTIONS else ""
        words = ", ".join(named(name, 16) for name in names[:_SHOWN_MENTIONS]) + more
        yield Hint(state.letters.of(cluster_id), words)


def _spread_hint(state: ReviewState) -> Hint | None:
    """The key that speaks of it now."""
    if state.bulk is None:
        return None
    if state.bulk.phase is Phase.COUNTED:
        return action_hint("alike-everywhere", words=f"decide {state.bulk.name} everywhere")
    return Hint("Esc", f"stop {state.bulk.phase}")
