"""What readers decide about nodes: merged, split, hidden, renamed; kept by names, and applied again at every build."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from typing import Literal, cast, get_args

from sciextract.errors import FormatError, as_command
from sciextract.formats.base import Source, decode_content
from sciextract.formats.table_rows import guard_cell, unguard_cell
from sciextract.graph.database import GraphError
from sciextract.graph.normalisation import MergeRule, normal_form
from sciextract.graph.queries.nodes import find_node, name_keys

Kind = Literal["merge", "split", "hide", "rename"]


@dataclass(frozen=True, slots=True)
class Repair:
    """A decision about a node.

    Attributes:
        kind: What is done.
        name: Any name of the node; of a split, the one that becomes a node of its own.
        other: The node it is merged into, or its new name; else empty.
        number: Its number in the graph, 0 before it is there.
    """

    kind: Kind
    name: str
    other: str = ""
    number: int = 0


def repairs_of(connection: Connection) -> list[Repair]:
    """All repairs of a graph, in the order in which they are applied; the first versions had none."""
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'repair'").fetchone():
        return []
    rows = connection.execute("SELECT kind, name, other, id FROM repair ORDER BY id")
    return [Repair(*row) for row in rows]


def add_repair(connection: Connection, repair: Repair) -> bool:
    """Check a repair against the graph, keep it, and apply it to names; tells whether nodes have to be made anew.

    Args:
        connection: The graph, in a transaction.
        repair: The repair.

    Raises:
        UnknownNodeError: A node is unknown; the hint lists names that are like it.
        GraphError: It would change nothing, make a circle, or give a name that another node has.
    """
    name, other = repair.name, repair.other
    own, node = _numbers(connection, name)
    taken = _numbers(connection, other)[1] if other else None
    for number, wanted in ((node, name), (taken, other)):
        if number is None and (wanted is name or repair.kind == "merge"):
            find_node(connection, wanted)  # says which names are like it
    known = [earlier for earlier in repairs_of(connection) if earlier.kind == "rename"]
    given = {normal_form(renaming.other).key for renaming in known}
    merged = "SELECT 1 FROM resolved WHERE name = ?1 UNION SELECT 1 FROM joined WHERE name = ?1"
    problem = hint = ""
    if repair.kind == "merge" and taken == node:
        problem = f"{name!r} and {other!r} are one node already: to merge them would make a circle"
        hint = "sciextract graph repairs lists what was merged; --undo N takes it back"
    elif repair.kind == "split" and normal_form(name).key in given:
        problem = f"{name!r} was given to a node by a reader: no abstract has it"
        hint = "sciextract graph repairs lists the renaming; --undo N takes it back"
    elif repair.kind == "split" and not connection.execute(merged, (own,)).fetchone():
        problem = f"{name!r} was not merged into another name, or only where an abstract expands it"
        listing = as_command("sciextract", "graph", "neighbours", name)
        hint = f"{listing} lists names with the rules that merged them"
    elif repair.kind == "rename" and taken not in (None, node):
        problem = f"{other!r} is another node"
        hint = f"merge them: {as_command('sciextract', 'graph', 'merge', name, other)}"
    elif repair.kind == "rename" and not normal_form(other).key:
        problem, hint = f"{other!r} is no name: its normal form is empty", "choose another one"
    if problem:
        raise GraphError(problem, hint)
    change_names(connection, repair)
    keep_repair(connection, repair)
    return repair.kind in ("merge", "split")


def keep_repair(connection: Connection, repair: Repair) -> None:
    """Write a repair down, for the next time that nodes are made."""
    row = (repair.kind, repair.name, repair.other)
    connection.execute("INSERT INTO repair (kind, name, other) VALUES (?, ?, ?)", row)


def undo_repair(connection: Connection, number: int) -> bool:
    """Forget a repair; nodes have to be made anew.

    Raises:
        GraphError: There is none of this number.
    """
    known = [repair.number for repair in repairs_of(connection)]
    if number not in known:
        listed = ", ".join(map(str, known)) or "none"
        raise GraphError(f"the graph has no repair {number}", f"it has {listed}")
    connection.execute("DELETE FROM repair WHERE id = ?", (number,))
    return True


def repair_nodes(connection: Connection) -> None:
    """Apply hidden nodes and new names to ``node``; the caller holds a transaction."""
    for repair in repairs_of(connection):
        # By its new name: the earlier one may have been split off since.
        number = _numbers(connection, repair.other or repair.name)[1]
        if repair.kind == "hide":
            connection.execute("UPDATE node SET generic = 1 WHERE id = ?", (number,))
        elif repair.kind == "rename":
            connection.execute("UPDATE node SET name = ? WHERE id = ?", (repair.other, number))


def _numbers(connection: Connection, name: str) -> tuple[int | None, int | None]:
    """The number of a name, and that of the node that it means; also before nodes are made."""
    for key in name_keys(normal_form(name)):
        query = "SELECT name, node FROM meaning WHERE key = ?"
        if row := connection.execute(query, (key,)).fetchone():
            return int(row[0]), int(row[1])
    return None, None


def change_names(connection: Connection, repair: Repair) -> None:
    """Apply a merge, a split or a new name to ``resolved`` and ``joined``; the caller holds a transaction.

    What cannot be applied, because the graph has no such names any more, changes nothing.
    """
    execute = connection.execute
    own, node = _numbers(connection, repair.name)
    if repair.kind == "split":
        execute("DELETE FROM resolved WHERE name = ?", (own,))
        execute("DELETE FROM joined WHERE name = ?", (own,))
    if repair.kind in ("split", "hide") or node is None:
        return
    if repair.kind == "rename":
        execute("INSERT OR IGNORE INTO name (key) VALUES (?)", (normal_form(repair.other).key,))
    into = _numbers(connection, repair.other)[1]
    if repair.kind == "rename":
        # The new name is one more name of the node.
        node, into = into, node
    if into not in (None, node):
        _join(connection, node, into, MergeRule.READER)


def _join(connection: Connection, node: int | None, into: int | None, rule: MergeRule) -> None:
    values = {"into": into, "rule": int(rule), "node": node}
    change = "UPDATE resolved SET node = :into, rules = rules | :rule WHERE node = :node"
    connection.execute(change, values)
    connection.execute("INSERT INTO resolved VALUES (:node, :into, :rule)", values)


def merge_synonyms(connection: Connection) -> None:
    """Merge the names that a line of the tables in ``synonyms`` lists; the caller holds a transaction.

    An acronym that abstracts of the graph expand means what they say.
    """
    expanded = "SELECT 1 FROM expansion e JOIN name n ON n.id = e.short WHERE n.key = ?"
    for table in sorted(Path(__file__).with_name("synonyms").glob("*.tsv")):
        for _, row in _tsv_rows(table):
            first = None
            for name in (row["name"] or "", *(row["synonyms"] or "").split("|")):
                form = normal_form(name)
                if form.is_acronym and connection.execute(expanded, (form.key,)).fetchone():
                    continue
                node = _numbers(connection, name)[1]
                if first is None:
                    first = node
                elif node not in (None, first):
                    _join(connection, node, first, MergeRule.SYNONYM)


def write_repairs(repairs: Iterable[Repair]) -> Iterator[str]:
    """Lines of a vocabulary: see :func:`read_repairs`. A merged name is a synonym."""
    yield "id\tname\tsynonyms\trepair"
    for number, repair in enumerate(repairs, start=1):
        name, synonym = (repair.other, repair.name) if repair.other else (repair.name, "")
        cells = [guard_cell(" ".join(cell.replace("|", " ").split())) for cell in (name, synonym)]
        yield "\t".join([f"repair:{number}", *cells, repair.kind])


def read_repairs(path: Path) -> list[Repair]:
    """The repairs of a file: a vocabulary in TSV with a column ``repair``; without one, synonyms are merged.

    Raises:
        InputMissingError: There is no such file.
        FormatError: It has no columns ``id`` and ``name``, or another repair.
    """
    found = []
    for line, row in _tsv_rows(path):
        kind, name = row.get("repair") or "merge", unguard_cell(row["name"] or "")
        if kind not in get_args(Kind):
            problem = f"repair {kind!r} found; expected {', '.join(get_args(Kind))}"
            raise FormatError(problem, path=path, line=line)
        synonyms = filter(str.strip, (row.get("synonyms") or "").split("|"))
        if kind in ("split", "hide"):
            found.append(Repair(cast("Kind", kind), name))
        else:
            found += [Repair(cast("Kind", kind), unguard_cell(one), name) for one in synonyms]
    return found


def _tsv_rows(path: Path) -> Iterator[tuple[int, dict[str, str | None]]]:
    """Lines with their numbers; names may be empty."""
    lines = decode_content(Source(str(path))).splitlines()
    rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    columns = rows.fieldnames or ()
    if not {"id", "name"} <= set(columns):
        problem = f"columns {', '.join(columns) or 'none'} found, needed are id and name"
        raise FormatError(problem, path=path, line=1)
    for row in rows:
        yield rows.line_num, row
