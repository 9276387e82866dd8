"""A table as an SQLite database for Datasette and sqlite-utils: papers, what they mention and relate, and who decided it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sciextract.errors import MissingExtraError
from sciextract.table.papers import PaperFacts
from sciextract.text.characters import without_surrogates
from sciextract.text.quantities import Quantity, in_unit, symbol_of
from sciextract.workflows.output import OF_TABLES

_SAID = {"sentence": str, "standing": str, "score": float}
_QUANTITY = {"number": float, "upper": float, "tolerance": float, "comparator": str, "unit": str}
_WORDS = {"key": str, "title": str, "doi": str, "venue": str, "authors": str, "text": str}
_TABLES: dict[str, dict[str, type]] = {
    "papers": {"year": int, **_WORDS},
    "clusters": {"paper": int, "name": str},
    "mentions": {"paper": int, "type": str, "cluster": int, "words": str, "name": str, **_QUANTITY, "char_start": int, "char_end": int, **_SAID},
    "relations": {"paper": int, "type": str, "head": int, "tail": int, **_SAID},
    "attributes": {"paper": int, "mention": int, "relation": int, "label": str, "value": str, "standing": str},
    "decisions": {"paper": int, "kind": str, "item": str, "mention": int, "relation": int, "author": str, "at": str},
}  # fmt: skip
_POINTS_TO = {"head": "mentions", "tail": "mentions"} | {f"{name[:-1]}": name for name in _TABLES}


def write_database(
    papers: Sequence[PaperFacts], target: Path, values: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Write all tables, with foreign keys and full-text search.

    Raises:
        MissingExtraError: sqlite-utils is not installed.
    """
    try:
        from sqlite_utils import Database
    except ImportError as error:
        raise MissingExtraError("a database", "table") from error
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in _TABLES}
    for paper in papers:
        _add_paper(found, paper, values)
    database: Any = Database(target)
    for table, columns in _TABLES.items():
        keys = [(name, _POINTS_TO[name], "id") for name in columns if name in _POINTS_TO]
        database[table].create({"id": int, **columns}, pk="id", foreign_keys=keys)
        database[table].insert_all(found[table], batch_size=10_000)
        for column, *_ in keys:
            database[table].create_index([column])
    database["papers"].enable_fts(["title", "text"])
    database["mentions"].enable_fts(["words", "name", "sentence"])
    database.execute(f"PRAGMA application_id = {int.from_bytes(OF_TABLES)}")
    database.close()


def _add_paper(
    found: dict[str, list[dict[str, Any]]], paper: PaperFacts, values: Mapping[str, str]
) -> None:
    def add(table: str, *values: Any) -> int:
        number = len(found[table]) + 1
        plain = [without_surrogates(cell)[0] if isinstance(cell, str) else cell for cell in values]
        found[table].append({"id": number, **dict(zip(_TABLES[table], plain, strict=True))})
        return number

    about = {name: paper.about.get(name) for name in ("year", *_WORDS)}
    authors = "; ".join(map(str, about["authors"] or ()))
    own = about | {"key": paper.key, "authors": authors, "text": paper.text}
    number, numbers = add("papers", *own.values()), dict[str, int]()
    for thing in paper.things:
        cluster = add("clusters", number, thing[0].name) if len(thing) > 1 else None
        for mention in thing:
            entity, span = mention.entity, mention.entity.span
            unit = values.get(entity.label)
            measured = None if unit is None else in_unit(mention.words, unit)
            words = entity.label, cluster, mention.words, mention.name, *_numbers_of(measured)
            said = mention.sentence, str(mention.standing), entity.score
            numbers[entity.id] = add(
                "mentions", number, *words, span.char_start, span.char_end, *said
            )
    related = {}
    for link in paper.links:
        relation, ends = link.relation, [numbers[end.entity.id] for end in (link.head, link.tail)]
        said = link.sentence, str(link.standing), relation.score
        related[relation.id] = add("relations", number, relation.label, *ends, *said)
    for target, said_of in paper.attributes.items():
        place = numbers.get(target), related.get(target)
        for label, (value, standing) in said_of.items():
            add("attributes", number, *place, label, value, str(standing))
    for decided in paper.decisions:
        for kind, item, *linked in decided.items:
            places = numbers.get(linked[0] if linked else item), related.get(item)
            add("decisions", number, kind, item, *places, decided.author, str(decided.at))


def _numbers_of(found: Quantity | None) -> tuple[float | str | None, ...]:
    if found is None:
        return (None,) * len(_QUANTITY)
    upper = found.numbers[1] if found.is_range else None
    rest = found.tolerance, found.comparator, symbol_of(found.unit)
    return found.numbers[0], upper, *rest
