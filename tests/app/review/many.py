"""Very many abstracts quickly: rows as an import would make them, put straight into the tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from sciextract.store import Project
from sciextract.store.documents import encode_tokens
from sciextract.text.analyse import analyse

_WORDS = ("graph", "tagger", "lattice", "corpus", "parser", "window", "baseline", "speech")
_DONE = ("untouched", "in progress", "done")


def fill(project: Project, count: int) -> None:
    """So many short abstracts with counts and states that vary; the log knows nothing of them."""
    with project.writing() as connection:
        connection.executemany(
            "INSERT INTO document(id, sha256, doc_key, title, text, year) VALUES (?, ?, ?, ?, ?, ?)",
            _documents(count),
        )
        blob = encode_tokens(analyse(_text(1), []))
        numbers = range(1, count + 1)
        connection.executemany(
            "INSERT INTO token_table VALUES (?, ?)", ((number, blob) for number in numbers)
        )
        connection.executemany(
            "INSERT INTO progress VALUES (?, ?, ?, ?, ?, '', 0, '[]')",
            ((number, *[_DONE[number % 3]] * 3, number % 50 == 0) for number in numbers),
        )
        connection.executemany(
            """INSERT INTO summary(document_id, entities, relations, clusters, items, undecided, decided,
                uncertainty, least_score, disagreements) VALUES (?, ?, 9, 2, 30, ?, 0, ?, 0.5, ?)""",
            ((n, n % 20, n % 31, n * 7919 % 1000 / 1000, n % 5) for n in numbers),
        )


def _text(number: int) -> str:
    first, second = _WORDS[number % 8], _WORDS[number // 8 % 8]
    return f"A {first} {second} is tried on texts."


def _documents(count: int) -> Iterator[tuple[int, str, str, str, str, int | None]]:
    for number in range(1, count + 1):
        digest = hashlib.sha256(str(number).encode()).hexdigest()
        title = f"{_WORDS[number % 8].title()} {number}"
        year = None if number % 17 == 0 else 1990 + number % 36
        yield number, digest, f"d{number}", title, _text(number), year
