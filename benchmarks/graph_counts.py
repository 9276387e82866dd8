"""Document counts of a graph against a text search for the same terms.

    python -m benchmarks.graph_counts predictions.jsonl field.graph benchmarks/graph_terms.tsv

The terms are a TSV file: a name of the node, and a regular expression that a person wrote for the texts (in any case,
except where it says otherwise by ``(?-i:...)``). Graphs of earlier versions are read, too.
"""

from __future__ import annotations

import argparse
import re
import sqlite3
from pathlib import Path

from sciextract.formats import read
from sciextract.formats.base import BadRecord
from sciextract.graph.normalisation import normal_form

_NODE = """SELECT n.* FROM name m LEFT JOIN resolved r ON r.name = m.id JOIN node n ON n.id = coalesce(r.node, m.id)
WHERE m.key = ?"""
_CLOSE = 0.1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("predictions")
    parser.add_argument("graph", type=Path)
    parser.add_argument("terms", type=Path)
    arguments = parser.parse_args()
    records = [
        record for record in read([arguments.predictions]) if not isinstance(record, BadRecord)
    ]
    texts = [record.document.text for record in records]
    connection = sqlite3.connect(arguments.graph.absolute().as_uri() + "?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    close = 0
    lines = arguments.terms.read_text(encoding="utf-8").splitlines()
    print(f"{'term':32} {'text':>6} {'graph':>6} {'difference':>10}")
    for name, pattern in (line.split("\t") for line in lines if line):
        wanted = re.compile(pattern, re.IGNORECASE)
        searched = sum([wanted.search(text) is not None for text in texts])
        counted = _documents(connection, name)
        difference = (counted - searched) / searched if searched else float(counted > 0)
        close += abs(difference) <= _CLOSE
        print(f"{name:32} {searched:6,} {counted:6,} {100 * difference:9.1f} %")
    print(f"within {_CLOSE:.0%}: {close} of {len(lines)}")


def _documents(connection: sqlite3.Connection, name: str) -> int:
    form = normal_form(name)
    for key in (form.key, form.folded, form.key.upper()):
        row = connection.execute(_NODE, (key,)).fetchone()
        if row:
            return int(row["documents"])
    return 0


if __name__ == "__main__":
    main()
