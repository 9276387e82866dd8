"""Write the sample files in every format from their two sources, abstracts.jsonl and gold.txt.

    python sample_data/build.py [FOLDER]

writes into FOLDER, or beside the sources. Only the standard library is needed.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import textwrap
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SCHEMA = HERE.parent / "schemas" / "labels" / "scierc.toml"
JOURNAL = "Journal of Invented Results"
TEXTS_PER_FIELD = 3
CSV_COLUMNS = ("id", "title", "abstract", "year", "doi", "field")

Row = dict[str, Any]


def read_abstracts() -> list[Row]:
    """The records of abstracts.jsonl."""
    lines = (HERE / "abstracts.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def build(folder: Path) -> None:
    """Write every derived file into ``folder``."""
    rows = read_abstracts()
    for name, content in {**_files(rows), **_texts(rows)}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", newline="")


def _files(rows: list[Row]) -> dict[str, str]:
    biomedical = [row for row in rows if row["field"] == "biomedicine"]
    return {
        "library.bib": "\n".join(map(_bibtex, rows)),
        "library.ris": "\n".join(map(_ris, rows)),
        "pubmed.nbib": "\n".join(
            _nbib(row, pmid) for pmid, row in enumerate(biomedical, 99_000_001)
        ),
        "abstracts.csv": _csv(rows),
        "gold.jsonl": _gold(rows),
    }


def _texts(rows: list[Row]) -> dict[str, str]:
    """The first abstracts of every field, title on the first line."""
    chosen = [row for row in rows if int(row["id"].rsplit("-", 1)[1]) <= TEXTS_PER_FIELD]
    return {f"text/{row['id']}.txt": f"{row['title']}\n{row['abstract']}\n" for row in chosen}


def _csv(rows: list[Row]) -> str:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, CSV_COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


# Bibliographies


def _bibtex(row: Row) -> str:
    fields = {
        "author": " and ".join(row["authors"]),
        "title": _protect_capitals(_latex(row["title"])),
        "journal": JOURNAL,
        "year": row["year"],
        "doi": row["doi"],
        "abstract": _latex(row["abstract"]),
    }
    body = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@article{{{row['id']},\n{body}}}\n"


def _latex(text: str) -> str:
    """The characters that TeX would swallow, escaped; the rest stays Unicode."""
    return re.sub(r"[%&#$_]", r"\\\g<0>", text)


def _protect_capitals(title: str) -> str:
    """Braces around words with capitals after their first letter, as bibliography styles need."""
    return re.sub(r"\b\w+[A-Z]\w*", r"{\g<0>}", title)


def _ris(row: Row) -> str:
    tags = [
        ("TY", "JOUR"),
        *(("AU", author) for author in row["authors"]),
        ("TI", row["title"]),
        ("T2", JOURNAL),
        ("PY", row["year"]),
        ("DO", row["doi"]),
        ("AB", row["abstract"]),
        ("ID", row["id"]),
        ("ER", ""),
    ]
    return "".join(f"{tag}  - {value}\n" for tag, value in tags)


def _nbib(row: Row, pmid: int) -> str:
    tags = [
        ("PMID", str(pmid)),
        ("OWN", "NLM"),
        ("DP", str(row["year"])),
        ("TI", row["title"] + "."),
        ("LID", row["doi"] + " [doi]"),
        ("AB", row["abstract"]),
        *(pair for author in row["authors"] for pair in _nbib_author(author)),
        ("LA", "eng"),
        ("PT", "Journal Article"),
        ("JT", JOURNAL),
        ("AID", row["doi"] + " [doi]"),
    ]
    return "".join(f"{tag:<4}- {_folded(value)}\n" for tag, value in tags)


def _nbib_author(author: str) -> list[tuple[str, str]]:
    family, given = author.split(", ")
    initials = "".join(name[0] for name in given.split())
    return [("FAU", author), ("AU", f"{family} {initials}")]


def _folded(value: str) -> str:
    """A value on lines of at most 88 characters with the tag, continued after six blanks."""
    return textwrap.fill(
        value, 82, break_long_words=False, break_on_hyphens=False, subsequent_indent=" " * 6
    )


# Gold annotations

_TOKEN = re.compile(
    r"""
      (?:e\.g\.|i\.e\.|et\ al\.|al\.|Fig\.)     # abbreviations keep their full stop
    | '[sS]\b                                   # the possessive is a token
    | \w+(?:[-.'\u2019]\w+)*                    # words with inner hyphens, decimals
    | \S\ufe0f?                                 # one sign, with its emoji selector
    """,
    re.VERBOSE,
)
_MENTION = re.compile(r"\{(\w+) |\}")
_ESCAPES = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}


@dataclass(slots=True)
class GoldAbstract:
    """What gold.txt says about one abstract.

    Attributes:
        sentences: Plain sentences.
        mentions: By name: sentence index and character range in that sentence.
        relations: Head, label and tail, the arguments by name.
        clusters: Names of mentions.
    """

    doc_key: str
    sentences: list[str] = field(default_factory=list)
    mentions: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    relations: list[tuple[str, str, str]] = field(default_factory=list)
    clusters: list[list[str]] = field(default_factory=list)


def read_gold(path: Path = HERE / "gold.txt") -> list[GoldAbstract]:
    """The abstracts of gold.txt; its first lines describe the notation."""
    abstracts: list[GoldAbstract] = []
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("=="):
            abstracts.append(GoldAbstract(line.removeprefix("==").strip()))
        elif line.startswith(">"):
            head, label, tail = line[1:].split()
            abstracts[-1].relations.append((head, label, tail))
        elif line.startswith("~"):
            abstracts[-1].clusters.append(line[1:].split())
        elif line and not line.startswith("#"):
            _add_sentence(abstracts[-1], line)
    return abstracts


def _add_sentence(abstract: GoldAbstract, marked: str) -> None:
    plain, position, open_mentions = "", 0, list[tuple[str, int]]()
    for mark in _MENTION.finditer(marked):
        plain += marked[position : mark.start()]
        position = mark.end()
        if mark[1]:
            open_mentions.append((mark[1], len(plain)))
        else:
            name, start = open_mentions.pop()
            if name in abstract.mentions:
                raise ValueError(f"{abstract.doc_key}: mention {name} a second time")
            abstract.mentions[name] = (len(abstract.sentences), start, len(plain))
    if open_mentions:
        raise ValueError(f"{abstract.doc_key}: mention {open_mentions[-1][0]} is not closed")
    abstract.sentences.append(plain + marked[position:])


def _gold(rows: list[Row]) -> str:
    texts = {row["id"]: row["abstract"] for row in rows}
    labels = {entity["key"]: entity["label"] for entity in _schema()["entities"]}
    lines = []
    for abstract in read_gold():
        if " ".join(abstract.sentences) != texts[abstract.doc_key]:
            raise ValueError(
                f"{abstract.doc_key}: gold.txt and abstracts.jsonl have different texts"
            )
        lines.append(json.dumps(_scierc(abstract, labels), ensure_ascii=False) + "\n")
    return "".join(lines)


def _schema() -> Row:
    return tomllib.loads(SCHEMA.read_text("utf-8"))


def _scierc(abstract: GoldAbstract, labels: dict[str, str]) -> Row:
    """The five SciERC fields; token offsets count over the document, both ends inclusive."""
    tokens = [list(_TOKEN.finditer(sentence)) for sentence in abstract.sentences]
    spans = {name: _token_span(abstract, tokens, name) for name in abstract.mentions}
    sentence_of = {name: mention[0] for name, mention in abstract.mentions.items()}
    ner: list[list[list[int | str]]] = [[] for _ in tokens]
    relations: list[list[list[int | str]]] = [[] for _ in tokens]
    for name in sorted(spans, key=lambda name: spans[name]):
        ner[sentence_of[name]].append([*spans[name], labels[name[0]]])
    for head, label, tail in abstract.relations:
        if sentence_of[head] != sentence_of[tail]:
            raise ValueError(f"{abstract.doc_key}: {head} {label} {tail} crosses sentences")
        relations[sentence_of[head]].append([*spans[head], *spans[tail], label])
    return {
        "doc_key": abstract.doc_key,
        "sentences": [[_ESCAPES.get(token[0], token[0]) for token in line] for line in tokens],
        "ner": ner,
        "relations": relations,
        "clusters": [[list(spans[name]) for name in cluster] for cluster in abstract.clusters],
    }


def _token_span(
    abstract: GoldAbstract, tokens: list[list[re.Match[str]]], name: str
) -> tuple[int, int]:
    """First and last document token of a mention."""
    sentence, char_start, char_end = abstract.mentions[name]
    before = sum(map(len, tokens[:sentence]))
    starts = [token.start() for token in tokens[sentence]]
    ends = [token.end() for token in tokens[sentence]]
    if char_start not in starts or char_end not in ends:
        raise ValueError(f"{abstract.doc_key}: mention {name} cuts a token")
    return before + starts.index(char_start), before + ends.index(char_end)


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
