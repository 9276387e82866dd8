"""A project file of the released version, as SQL in ``tests/fixtures/projects``, and the state that it must have today.

``python -m tests.unit.store.released`` writes it where the version has none; a fixture is never written again.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from sciextract.store import EntityRef, Project, RelationRef
from sciextract.store.sqlite import VERSION
from tests.unit.store.projects import (
    all_state,
    cluster,
    entity,
    guess,
    guess_cluster,
    guess_relation,
    new_project,
    place,
    predict,
    put,
    relation,
)

OTHER = "Another net, another graph. Networks vary."
SCRIPT = Path(__file__).resolve().parents[2] / "fixtures" / "projects" / f"version_{VERSION}.sql"


def load(path: Path, script: Path = SCRIPT) -> Path:
    """Make the project file of a script."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script.read_text("utf-8"))
    return path


def state_of(project: Project) -> str:
    """All state rows as JSON, a row a line."""
    rows = [
        [number, table, values]
        for number, state in all_state(project).items()
        for (table, _), values in sorted(state.items())
    ]
    return "".join(f"{json.dumps(row, sort_keys=True)}\n" for row in rows)


def script_of(connection: sqlite3.Connection) -> Iterator[str]:
    """The statements that make a file anew; SQLite fills full-text indexes itself."""
    made = connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        " AND name NOT GLOB 'sqlite_*' ORDER BY rowid"
    ).fetchall()
    made = [row for row in made if "_words_" not in row[1] or row[0] == "trigger"]
    yield from (f"{sql};" for _, _, sql in made)
    for pragma in ("application_id", "user_version"):
        yield f"PRAGMA {pragma} = {connection.execute(f'PRAGMA {pragma}').fetchone()[0]};"
    yield "BEGIN;"
    for kind, name, sql in made:
        if kind == "table" and "VIRTUAL" not in sql:
            columns = [
                f'quote("{row[1]}")' for row in connection.execute(f"PRAGMA table_info({name})")
            ]
            for row in connection.execute(f"SELECT {', '.join(columns)} FROM {name}"):
                yield f"INSERT INTO {name} VALUES ({', '.join(row)});"
    yield "COMMIT;"


def fill(project: Project) -> None:
    """Imports, predictions and decisions of every kind, with an undo."""
    net, graph, again = place("net"), place("graph"), place("net", 1)
    gold = (entity("g1", net), entity("g2", graph, "Task"), entity("g3", again))
    put(project, *gold, relation("r1", "g1", "g2"), cluster("c1", "g1", "g3"), warnings=("odd",))
    put(project, text=OTHER, doc_key="other", source="import:other.jsonl")
    other = [place(word, text=OTHER) for word in ("net", "graph", "Networks")]
    labels = ("Method", "Task", "Method")
    guesses = [
        guess(f"p{row}", span, labels[row], 0.9 - row / 10) for row, span in enumerate(other)
    ]
    related = guess_relation("q1", "p0", "p1")
    predict(project, *guesses, related, guess_cluster("k1", "p0", "p2"), number=2)
    act = project.actions
    act.accept(2, EntityRef("p0"), 1.5)
    act.set_label(2, EntityRef("p1"), "Task", 0.25)
    act.reject(2, EntityRef("p2"))
    act.set_label(1, RelationRef("r1"), "Like")
    project.undo()
    act.add_entity(1, [place("learns")], "Task", 2.0)
    act.set_attribute(1, "g1", "negated", seconds=0.5)
    act.set_attribute(1, "", "design", "trial")
    act.set_attribute(1, "", "design", "review")
    act.accept_above(0.5, 2)
    act.note(2, "doubtful: \u03b1-tuned?")
    act.flag(1)
    act.mark_done(2)


def main() -> None:
    """Write the fixture of today's version and the state that it has."""
    if SCRIPT.exists():
        raise SystemExit(f"{SCRIPT} is there already")
    SCRIPT.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        with new_project(Path(folder)) as project:
            fill(project)
            state = state_of(project)
        with closing(sqlite3.connect(project.path)) as connection:
            SCRIPT.write_text("".join(f"{line}\n" for line in script_of(connection)), "utf-8")
        SCRIPT.with_suffix(".state.jsonl").write_text(state, "utf-8")


if __name__ == "__main__":
    main()
