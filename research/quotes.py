"""How exactly changed quotes are located, and how often quotes of other abstracts are located where they are not.

Usage: ``python -m research.quotes scierc/dev.jsonl genia/dev.jsonl --limits 0 0.1 0.2``. Every mention of gold is quoted
after one change of each kind; located right is one of the places where the unchanged mention stands. As many mentions of
other abstracts, which do not stand in the text in any spelling that counts as equal, are to be located nowhere.
Then all mentions are quoted unchanged, without offsets in three orders, and with offsets that are wrong by up to 15
characters: located right is the place of each.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from research.scirex_entities import read_all
from sciextract.documents.annotations import Entity
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.base import Place
from sciextract.text.english import singular
from sciextract.text.quotes import Fit, QuoteFinder, fold
from sciextract.workflows.quotes import LocatedQuotes, Quote, QuotedRecord

SEEDS = range(3)
_ORDERS = ("in text order", "by label", "at random", "offset")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

Change = Callable[[str, random.Random], str]


def respace(quote: str, rng: random.Random) -> str:
    """Other blanks, and none around signs."""
    return fold(quote).text.replace(" ", rng.choice(["  ", "\u00a0", "\n"]))


def remark(quote: str, rng: random.Random) -> str:
    """Other hyphens and quotation marks."""
    dash = rng.choice("\u2010\u2011\u2013\u2212")
    return quote.replace("-", dash).replace("'", "\u2019").replace('"', "\u201d")


def recase(quote: str, rng: random.Random) -> str:
    """A capital first, or all in lower case."""
    return rng.choice([quote[:1].upper() + quote[1:], quote.lower()])


def mistype(quote: str, rng: random.Random) -> str:
    """One letter added, lost or changed."""
    places = [at for at, letter in enumerate(quote) if letter.isalpha()]
    if not places:
        return quote
    at = rng.choice(places)
    new = rng.choice(["", rng.choice(_LETTERS), quote[at] + rng.choice(_LETTERS)])
    return quote[:at] + new + quote[at + 1 :]


def mistype_twice(quote: str, rng: random.Random) -> str:
    """Two such changes."""
    return mistype(mistype(quote, rng), rng)


def renumber(quote: str, rng: random.Random) -> str:
    """Plural for singular, and the reverse."""
    if not quote[-1].isalpha():
        return quote
    return quote[:-1] if quote.endswith("s") else f"{quote}s"


def rejoin(quote: str, rng: random.Random) -> str:
    """A blank or nothing for a hyphen, else a hyphen for a blank."""
    if "-" in quote:
        return quote.replace("-", rng.choice(["", " "]), 1)
    return quote.replace(" ", "-", 1)


CHANGES: Mapping[str, Change] = {
    "none": lambda quote, rng: quote,
    "blanks": respace,
    "marks": remark,
    "case": recase,
    "hyphen": rejoin,
    "plural": renumber,
    "one letter": mistype,
    "two letters": mistype_twice,
}


def main(words: Sequence[str] | None = None) -> int:
    """Prints a table for every file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--limits", type=float, nargs="*", required=True)
    parser.add_argument("--documents", type=int, help="only the first ones of each file")
    options = parser.parse_args(words)
    for path in options.data:
        gold = read_all([path])[: options.documents]
        print(f"{path.parent.name}/{path.stem}: located right / located elsewhere, % of the quotes")
        for limit in options.limits:
            rows = [measure(gold, limit, seed) for seed in SEEDS]
            cells = []
            for name in (*CHANGES, "absent"):
                right, wrong = ([row[name][at] for row in rows] for at in (0, 1))
                spread = statistics.stdev(wrong)
                cells.append(
                    f"{name} {statistics.mean(right):.1f}/{statistics.mean(wrong):.2f}±{spread:.2f}"
                )
            print(f"  {limit:.2f}: " + ", ".join(cells), flush=True)
        shares = [f"{order} {share_in_place(gold, order):.1f}" for order in _ORDERS]
        print("  at their own places: " + ", ".join(shares), flush=True)
    return 0


def measure(
    gold: Sequence[AnnotatedDocument], limit: float, seed: int
) -> dict[str, tuple[float, float]]:
    """Per change, and for absent quotes, the shares located right and located elsewhere, in per cent."""
    rng = random.Random(seed)
    everything = sorted({mention for document in gold for mention in mentions_of(document)})
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for annotated in gold:
        text, table = annotated.document.text, annotated.document.tokens
        finder = QuoteFinder(text, [table.char_span(part) for part in table.sentences], limit)
        whole = f" {words_of(text)} "
        for mention in sorted(set(mentions_of(annotated))):
            places = [span for span, _ in finder.find(mention)]
            for name, change in CHANGES.items():
                changed = change(mention, rng)
                found = finder.find(changed)
                exact = any(fit is Fit.EXACT for _, fit in found)
                if name != "none" and (changed == mention or exact):
                    continue  # nothing to change, or it became another string of the text
                asked[name] += 1
                right[name] += bool(found) and found[0].span in places
                wrong[name] += bool(found) and found[0].span not in places
            absent = rng.choice(everything)
            if f" {words_of(absent)} " not in whole:
                asked["absent"] += 1
                wrong["absent"] += bool(finder.find(absent))
    return {
        name: (100 * right[name] / max(1, count), 100 * wrong[name] / max(1, count))
        for name, count in asked.items()
    }


def share_in_place(gold: Sequence[AnnotatedDocument], order: str) -> float:
    """The share of mentions, quoted in an order, that are located where they are, in per cent."""
    rng = random.Random(0)
    right = count = 0
    for annotated in gold:
        text, mentions = (
            annotated.document.text,
            sorted(annotated.annotations.entities, key=lambda e: e.span),
        )
        groups = [mentions]
        if order == "by label":
            labels = sorted({mention.label for mention in mentions})
            groups = [[e for e in mentions if e.label == label] for label in labels]
        elif order != "in text order":
            rng.shuffle(mentions)
        quotes = [
            [
                Quote(e.text_of(text), e.label, starts_at(e, rng) if order == "offset" else None)
                for e in group
            ]
            for group in groups
        ]
        located = LocatedQuotes({e.label: e.label for e in mentions}, every=False)
        located.records[annotated.document.text_sha256] = [QuotedRecord(Place(""), [], quotes, [])]
        [found] = located([annotated.document])
        wanted = {(e.span, e.label) for e in mentions}
        right += len(wanted & {(e.span, e.label) for e in found.entities})
        count += len(wanted)
    return 100 * right / max(1, count)


def starts_at(entity: Entity, rng: random.Random) -> int:
    """Where an entity starts, wrong by up to 15 characters."""
    return max(0, entity.span.char_start + rng.randint(-15, 15))


def words_of(text: str) -> str:
    """The words in the singular: in another number, a quote is not absent."""
    return " ".join(map(singular, re.findall(r"\w+", text.lower())))


def mentions_of(annotated: AnnotatedDocument) -> list[str]:
    """The strings of an abstract's mentions."""
    return [entity.text_of(annotated.document.text) for entity in annotated.annotations.entities]


if __name__ == "__main__":
    sys.exit(main())
