"""Recall and time of candidates for mentions: diseases (NCBI disease corpus, MEDIC) and habitats of bacteria (Bacteria Biotope 2016, OntoBiotope).

``python benchmarks/vocabularies.py --data FOLDER``. The folder has ``NCBIdevelopset_corpus.txt`` and ``NCBItestset_corpus.txt``,
``CTD_diseases.tsv.gz`` of the Comparative Toxicogenomics Database, ``ontobiotope.obo``, and ``habitats/`` with the files
``.txt``, ``.a1`` and ``.a2`` of the development part; what is missing is left out. Mentions of several concepts at once, and of
concepts that the vocabulary lacks, are left out and counted. Beside ours stand the nearest names by TF-IDF of character
trigrams, which is how scispaCy finds candidates, on the same words. Everything is kept in a temporary folder.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import NamedTuple

from sciextract.vocabulary.file import Vocabulary, _spell_out, import_vocabulary
from sciextract.vocabulary.reading import Entry, read_entries

DRAWS = 1000
NEAREST = 30
"""Names, as in scispaCy."""


class Gold(NamedTuple):
    """A mention, its abstract, the links that are right, and the key of the abstract."""

    mention: str
    text: str
    links: frozenset[str]
    key: str


def diseases(file: Path, former: dict[str, str]) -> Iterator[Gold | None]:
    """Mentions of the NCBI disease corpus; ``None`` for those of several concepts."""
    texts: dict[str, str] = defaultdict(str)
    for line in file.read_text("utf-8").splitlines():
        if passage := re.match(r"(\d+)\|[ta]\|(.*)", line):
            texts[passage[1]] += passage[2] + "\n"
        elif len(cells := line.split("\t")) > 5:
            link = cells[5].strip()
            link = link if ":" in link else f"MESH:{link}"
            several = "|" in link or "+" in link
            found = Gold(cells[3], texts[cells[0]], frozenset([former.get(link, link)]), cells[0])
            yield None if several else found


def habitats(folder: Path) -> Iterator[Gold | None]:
    """Mentions of the Bacteria Biotope corpus; each of several links of one is right."""
    for file in sorted(folder.glob("*.a1")):
        links: dict[str, set[str]] = defaultdict(set)
        for found in re.finditer(r"Annotation:(T\d+) Referent:(OBT:\S+)", file.with_suffix(".a2").read_text("utf-8")):  # fmt: skip
            links[found[1]].add(found[2])
        text = file.with_suffix(".txt").read_text("utf-8")
        for line in file.read_text("utf-8").splitlines():
            name, _, mention = line.split("\t")[:3]
            if name in links:
                yield Gold(mention, text, frozenset(links[name]), file.stem)


def by_trigrams(entries: list[Entry], name: str) -> Callable[[list[str]], list[list[str]]]:
    """Links by the nearest names, for many mentions at once."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    rows = [(entry.id, one) for entry in entries for one in (entry.name, *entry.synonyms)]
    vectors = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), min_df=10)
    names = vectors.fit_transform([one for _, one in rows]).T.tocsr()

    def find(mentions: list[str]) -> list[list[str]]:
        found = []
        for scores in vectors.transform(mentions) @ names:
            best = sorted(zip(-scores.data, scores.indices, strict=True))[:NEAREST]
            found.append(list(dict.fromkeys(rows[place][0] for _, place in best)))
        return found

    return find


def report(what: str, gold: list[Gold], found: list[list[str]]) -> None:
    """Print recall at 1 and 5 with intervals over abstracts."""
    by_key: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for one, links in zip(gold, found, strict=True):
        hits = [bool(one.links.intersection(links[:most])) for most in (1, 5)]
        by_key[one.key].append((hits[0], hits[1]))
    groups, chance = list(by_key.values()), random.Random(1)
    shown = []
    for place in range(2):
        shares = []
        for draw in range(DRAWS + 1):
            drawn = groups if not draw else chance.choices(groups, k=len(groups))
            hits = [pair[place] for group in drawn for pair in group]
            shares.append(100 * sum(hits) / len(hits))
        spread = sorted(shares[1:])
        shown.append(f"{shares[0]:.1f} ({spread[25]:.1f} to {spread[-26]:.1f})")
    print(f"  {what:24} recall at 1: {shown[0]}, at 5: {shown[1]}", flush=True)


def measure(name: str, vocabulary: Path, gold: list[Gold | None], of: str) -> None:
    """Print how candidates of a vocabulary do on some mentions."""
    with closing(Vocabulary(name)) as opened:
        single = [one for one in gold if one is not None]
        known = [one for one in single if any(opened.name_of(link) for link in one.links)]
        print(f"{of}: {len(known)} mentions; left out: {len(gold) - len(single)} of several concepts, "
              f"{len(single) - len(known)} of none in the vocabulary")  # fmt: skip
        ours, seconds = [], []
        for one in known:
            start = time.process_time()
            ours.append([candidate.link for candidate in opened.find(one.mention, one.text)])
            seconds.append(time.process_time() - start)
        report("sciextract", known, ours)
        bare = [[found.link for found in opened.find(one.mention)] for one in known]
        report("without the abstract", known, bare)
    nearest = by_trigrams(list(read_entries(str(vocabulary))), name)
    report("TF-IDF of trigrams", known, nearest([one.mention for one in known]))
    spelled = [_spell_out(one.mention, one.text) for one in known]
    report("the same, spelled out", known, nearest(spelled))
    seconds.sort()
    print(f"  a mention: median {1000 * median(seconds):.1f} ms, 95 % in {1000 * seconds[int(0.95 * len(seconds))]:.1f} ms")  # fmt: skip


def sizes(medic: Path, mentions: list[str], counts: tuple[int, ...]) -> None:
    """Print how import and candidates grow: MEDIC again and again, with another number behind its names."""
    entries = list(read_entries(str(medic)))
    for most in counts:
        file, names = medic.with_name("large.tsv"), 0
        with file.open("w", encoding="utf-8") as lines:
            for turn in range(1 + most // len(entries)):
                for entry in entries:
                    if names < most:
                        end = f" {turn}" if turn else ""
                        own = [one + end for one in (entry.name, *entry.synonyms)]
                        lines.write("\t".join([f"{entry.id}.{turn}", *own]) + "\n")
                        names += len(own)
        start = time.process_time()
        import_vocabulary(str(file), "LARGE")
        imported, seconds = time.process_time() - start, []
        with closing(Vocabulary("LARGE")) as opened:
            for mention in mentions:
                start = time.process_time()
                opened.find(mention)
                seconds.append(time.process_time() - start)
        seconds.sort()
        print(f"{names:,} names: import {imported:.0f} s, a mention: median {1000 * median(seconds):.1f} ms, "
              f"95 % in {1000 * seconds[int(0.95 * len(seconds))]:.1f} ms", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--names", type=int, nargs="*", default=(100_000, 1_000_000))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["SCIEXTRACT_HOME"] = home
        medic, former = Path(home) / "medic.tsv", dict[str, str]()
        with gzip.open(options.data / "CTD_diseases.tsv.gz", "rt", encoding="utf-8") as rows:
            lines = [line.rstrip("\n").split("\t") for line in rows if not line.startswith("#")]
        for cells in lines:
            former |= dict.fromkeys(filter(None, cells[2].split("|")), cells[1])
        table = [f"{cells[1]}\t{cells[0]}\t{cells[7]}\n" for cells in lines]
        medic.write_text("".join(table), "utf-8")
        import_vocabulary(str(medic), "MESH")
        mentions = []
        for part in ("develop", "test"):
            gold = list(diseases(options.data / f"NCBI{part}set_corpus.txt", former))
            measure("MESH", medic, gold, f"diseases, {part}")
            mentions = [one.mention for one in gold if one is not None][:200]
        ontology = options.data / "ontobiotope.obo"
        if ontology.exists():
            import_vocabulary(str(ontology), "OBT")
            measure("OBT", ontology, list(habitats(options.data / "habitats")), "habitats")
        sizes(medic, mentions, tuple(options.names))


if __name__ == "__main__":
    main()
