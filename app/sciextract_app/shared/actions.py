"""The registry of everything that a key can do, and the person's keys: footer, help, palette and messages read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sciextract_app.settings import AROUND as BINDINGS
from sciextract_app.shared.presenters import plain
from sciextract_app.shared.view_models import DIGITS, Hint

EDGES = ("grow-start", "shrink-start", "grow-end", "shrink-end")
DECISIONS, ENTITIES, RELATIONS, COREFERENCE = "decisions", "entities", "relations", "coreference"
MOVING, AROUND = "moving", "around the desk"


@dataclass(frozen=True, slots=True)
class Action:
    """Something that a key does at the desk.

    Attributes:
        id: Its name in key maps and in code; never changed.
        keys: Its keys, as Textual names them, printable ones as the character.
        words: What it does, for the footer.
        help: What it does, for help and palette.
        layer: Under which heading help lists it.
        request: What the app does for it, empty when the desk does it.
        argument: What the action takes: a step, an edge, a digit.
    """

    id: str
    keys: tuple[str, ...]
    words: str
    help: str
    layer: str = DECISIONS
    request: str = ""
    argument: str = ""


Bound = Action | None
"""What a key is bound to: the modes ask for more than that."""


def key_label(key: str) -> str:
    """A key as it is written for people: ``ctrl+l`` as ``Ctrl+L``."""
    if len(key) == 1:
        return key
    return "+".join(_WRITTEN.get(part, part.capitalize()) for part in key.split("+"))


_WRITTEN = {
    "escape": "Esc",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pagedown": "PgDn",
    "pageup": "PgUp",
}

# fmt: off
_NAVIGATION = (
    Action("next-undecided", ("tab",), "next", "next item that is still undecided"),
    Action("previous-undecided", ("shift+tab",), "back", "previous item that is still undecided"),
    Action("next-item", ("j", "down"), "next item", "next item, decided or not", argument="1"),
    Action(
        "previous-item", ("k", "up"), "previous item", "previous item, decided or not",
        argument="-1",
    ),
    Action("next-in-text", ("L",), "mention →", "next mention of the text", argument="1"),
    Action(
        "previous-in-text", ("H",), "← mention",
        "previous mention of the text; on a relation its end at the cursor", argument="-1",
    ),
    Action("next-token", ("l", "right"), "token →", "cursor one token on", argument="1"),
    Action("previous-token", ("h", "left"), "← token", "cursor one token back", argument="-1"),
    Action("next-sentence", ("w",), "sentence →", "cursor to the next sentence", argument="1"),
    Action(
        "previous-sentence", ("b",), "← sentence",
        "cursor to the beginning of this or the previous sentence",
        argument="-1",
    ),
    Action("jump", ("f",), "jump", "jump to a mention by its letter, to any other word by its two"),
    Action("next-abstract", ("n",), "next abstract", "open the next abstract", argument="1"),
    Action(
        "previous-abstract", ("p",), "previous abstract", "open the previous abstract",
        argument="-1",
    ),
    Action("first-abstract", ("<", "home"), "first abstract", "open the first abstract"),
    Action("last-abstract", (">", "end"), "last abstract", "open the last abstract"),
    Action(
        "next-finding", ("]",), "next finding", "next place that a check of consistency has found", argument="1"
    ),
    Action(
        "previous-finding", ("[",), "previous finding", "previous place that a check has found",
        argument="-1",
    ),
    Action(
        "intended", ("I",), "as it should be",
        "what a check has found here is intended: it leaves this place out from now on",
    ),
    Action("go-to", ("G",), "go to", "open an abstract by its number in the list: type it, then Enter"),
)
_DECIDING = (
    Action("accept", ("enter",), "accept", "accept the item and go to the next undecided one"),
    Action(
        "reject", ("x", "backspace"), "reject",
        "reject the item with everything that depends on it, and go on",
    ),
    Action("letter", (";",), "type by letter", "set the type by its letter: ; and the letter"),
    Action(
        "attribute", ("'",), "attribute",
        "say something of the item or the abstract: letter of the attribute, then its value",
    ),
    Action(
        "link", ("=",), "link",
        "list what the mention may mean in a vocabulary: again for the first, a digit for another, / for other words",
    ),
    Action("repeat", (".",), "repeat", "repeat the last action on this item"),
    Action(
        "alike", ("a",), "all alike",
        "apply the last decision on a mention to all identical strings in this abstract",
    ),
    Action(
        "alike-everywhere", ("&",), "everywhere",
        "the same in the whole project, after a preview",
    ),
    Action("accept-above", ("A",), "accept sure", "accept all that is as sure as promised, or above the threshold"),
    Action("undo", ("u",), "undo", "undo the last action, also from earlier sessions"),
    Action("redo", ("U", "ctrl+r"), "redo", "redo what was undone"),
    Action("done", ("D",), "done", "this abstract is done; go to the next one that is not"),
    Action("reopen", ("B",), "reopen", "open a finished abstract again; its items stay as they are"),
    Action("flag", ("F",), "flag", "set or clear the abstract's flag"),
)
_SET_TYPE = tuple(
    Action(
        f"type-{digit}", (str(digit),), f"type {digit}",
        "set the type by its number; on a selection or a free word make a mention of that type",
        argument=str(digit),
    )
    for digit in range(1, 10)
)
_ENTITIES = (
    Action("grow-start", ("s",), "start ←", "the start one token to the left", ENTITIES, argument="start -1"),
    Action("shrink-start", ("S",), "start →", "the start one token to the right", ENTITIES, argument="start 1"),
    Action("grow-end", ("e",), "end →", "the end one token to the right", ENTITIES, argument="end 1"),
    Action("shrink-end", ("E",), "← end", "the end one token to the left", ENTITIES, argument="end -1"),
    Action(
        "characters", ("z",), "by character",
        "the keys of edges move them by characters; for parts of a token", ENTITIES,
    ),
    Action("select", ("v",), "select", "select tokens from the cursor on, then type", ENTITIES),
    Action(
        "fragment", ("+",), "part",
        "add or remove a part of the mention: move to it or select it, then the same key",
        ENTITIES,
    ),
    Action(
        "candidate", ("y",), "other span",
        "other candidates of the model here: again for the next, type or Enter adds it",
        ENTITIES,
    ),
)
_RELATIONS = (
    Action(
        "relate", ("r",), "relate",
        "a relation from this mention: letter of the other one, then the type",
        RELATIONS,
    ),
    Action(
        "relate-anywhere", ("R",), "relate far",
        "the same across sentences; many models do not predict such relations",
        RELATIONS,
    ),
    Action(
        "offers", ("Y",), "offers",
        "relations and clusters that the model considered for this mention: letters add them",
        RELATIONS,
    ),
    Action("invert", ("i",), "invert", "invert the direction of the relation", RELATIONS),
)
_COREFERENCE = (
    Action(
        "join", ("c",), "cluster",
        "into a cluster: its letter, c for the last one, Enter and a mention for a new one",
        COREFERENCE,
    ),
    Action("leave", ("C",), "uncluster", "take the mention out of its cluster", COREFERENCE),
    Action("merge", ("m",), "merge", "merge its cluster with another one: letter", COREFERENCE),
    Action(
        "split", ("X",), "split",
        "split the cluster: this mention and the later ones mean something else",
        COREFERENCE,
    ),
    Action("next-mention", ("o",), "next mention", "next mention of the cluster", COREFERENCE),
    Action(
        "previous-mention", ("O",), "previous mention", "previous mention of the cluster",
        COREFERENCE,
    ),
)
_APP_REQUESTS = (
    Action("note", ("t",), "note", "write a note on this abstract", request="note"),
    Action(
        "guideline", ("g",), "types",
        "the types with their definitions: add, rename, merge, split, remove, move, colour and describe them",
        request="guideline",
    ),
    Action(
        "finish", ("Z",), "what is finished",
        "choose the layers that finishing an abstract finishes in this project",
        request="finish",
    ),
    Action(
        "compare", ("d",), "compare", "predictions and your annotations side by side; differences can be decided", request="compare"
    ),
    Action(
        "adjudicate", ("W",), "adjudicate",
        "resolve differences from another person, a model or a file",
        request="adjudicate",
    ),
    Action(
        "checks", ("K",), "check consistency",
        "check for decisions that contradict each other, the schema or the model",
        request="checks",
    ),
    Action(
        "relations", ("M",), "all relations",
        "all relations of the abstract: by sentence, by type, or as a map with arcs",
        request="relations",
    ),
    Action(
        "questions", ("Q",), "one question at a time",
        "undecided items of all abstracts one by one in their sentences, the most uncertain first",
        request="questions",
    ),
    Action("search", ("/",), "search", "find abstracts", request="search"),
    Action("help", ("?",), "keys", "all keys", request="help"),
    Action("palette", (":",), "commands", "everything by name", request="palette"),
    Action("quit", ("q",), "quit", "leave; everything is saved already", request="quit"),
)
# fmt: on
ACTIONS: tuple[Action, ...] = (
    *_DECIDING,
    *_SET_TYPE,
    *_ENTITIES,
    *_RELATIONS,
    *_COREFERENCE,
    *(replace(moving, layer=MOVING) for moving in _NAVIGATION),
    *(replace(request, layer=AROUND) for request in _APP_REQUESTS),
)
BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}


class KeyTable:
    """What each key does, and the keys of each action.

    Args:
        changed: Keys by action id, several ones separated by commas, that replace the action's own.
    """

    def __init__(self, changed: Mapping[str, str]) -> None:
        bound = [(binding.id, binding.key) for binding in BINDINGS if binding.id]
        bound += [(known.id, ",".join(known.keys)) for known in ACTIONS]
        wanted = {name: changed.get(name, keys).split(",") for name, keys in bound}
        self.of = {name: [plain(key.strip()) for key in keys] for name, keys in wanted.items()}
        self.actions: dict[str, Action] = {}
        # Actions with keys of the person's own come last, so that they win over those that had the key.
        for action in sorted(ACTIONS, key=lambda known: known.id in changed):
            self.actions.update(dict.fromkeys(self.of[action.id], action))
        for action in ACTIONS:
            own = self.of[action.id]
            self.of[action.id] = [key for key in own if self.actions[key] is action]


_table = KeyTable({})


def use_keys(changed: Mapping[str, str]) -> None:
    """Take the person's key map; there is one in a process, as there is one keyboard."""
    global _table
    _table = KeyTable(changed)


def action_of(key: str) -> Action | None:
    """What a key does, ``None`` for nothing."""
    return _table.actions.get(plain(key))


def keys_of(action_id: str) -> list[str]:
    """The keys of an action or of a binding of the app; none where all of them do something else."""
    return _table.of.get(action_id, [])


def key_of(action_id: str) -> str:
    """The first of them as it is written for people; without one its name in the palette."""
    keys = keys_of(action_id)
    return key_label(keys[0]) if keys else f"‘{BY_ID[action_id].words}’"


def written(keys: Iterable[str]) -> str:
    """Keys as they are written for people."""
    return " ".join(map(key_label, keys)) or "none"


def undo_hint(what: str = "it") -> str:
    """The end of a message about something that can be taken back."""
    return f"{key_of('undo')} undoes {what}"


def focus_one() -> str:
    """How an item comes into focus, for a message that one is missing."""
    return f"focus one with {key_of('next-item')} and {key_of('previous-item')}"


def nothing_left() -> str:
    """What is said where nothing is undecided."""
    return f"Nothing is undecided here. {key_of('done')}: done, next abstract"


def keys_together(*action_ids: str) -> str:
    """The keys of actions of which one speaks together, such as those of edges."""
    return " ".join(map(key_of, action_ids))


def type_keys(labels: Sequence[str]) -> str:
    """The keys that pick a label, as the footer shows them; without labels the one that asks for the first."""
    numbers = range(1, max(1, min(len(labels), DIGITS)) + 1)
    keys = [key_of(f"type-{number}") for number in numbers]
    are_digits = len(keys) > 1 and keys == [str(number) for number in numbers]
    return f"1-{len(keys)}" if are_digits else " ".join(keys)


def action_hint(
    action_id: str, live: bool = True, words: str = "", *, seldom: bool = False
) -> Hint:
    """An action in the footer, with its own words or with others."""
    return Hint(key_of(action_id), words or BY_ID[action_id].words, live, seldom)
