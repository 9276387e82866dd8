"""Learns the stems by which ``--model auto`` separates biomedicine from computer science, and measures the rule.

``python -m research.domain_stems --data DATA`` prints which share of several kinds of text is sent where; with
``--output stems.json`` it learns the weights anew first, from the half of the abstracts that is not measured; ``--entities`` says instead what
``sci`` predicts in each field. The stems
of life science (``life_stems.txt``) were chosen by hand among stems that are frequent in PubMed and rare in computer
science.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from research.unlabelled import unlabelled_texts
from sciextract.inference.domain.words import Domain, domain_of_stems, stems_of
from sciextract.inference.extractor import Extractor
from sciextract.resources import data_root
from sciextract.text.analyse import join_title

BIOMEDICAL, COMPUTING = ("pubmed", "pubmed-lower"), "cs"
OTHER_SHARDS = ("cs-001", "cs-002")
DEV_SETS = ("scierc", "genia", "chemprot", "s800", "ncbi-disease", "bc5cdr")
MOST_STEMS = 1500
LEAST_TEXTS = 30
NUMBER = "<dig>"
"""What one source has instead of numbers."""

Texts = list[frozenset[str]]


def learned(
    positive: Sequence[frozenset[str]], negative: Sequence[frozenset[str]]
) -> dict[str, float]:
    """The stems that tell most, with the log-odds that a text of the first kind has them (add-one smoothed).

    Args:
        positive: Stems of the texts of one kind.
        negative: Stems of the texts of the other.
    """
    with_it, without = _counts(positive), _counts(negative)
    common = {s for s in with_it.keys() | without.keys() if with_it[s] + without[s] >= LEAST_TEXTS}
    odds = {
        stem: math.log((with_it[stem] + 1) / (len(positive) + 2))
        - math.log((without[stem] + 1) / (len(negative) + 2))
        for stem in common
    }
    telling = {
        stem: abs(odds[stem]) * (with_it[stem] / len(positive) + without[stem] / len(negative))
        for stem in common
    }
    best = sorted(common, key=lambda stem: (-telling[stem], stem))[:MOST_STEMS]
    return {stem: round(odds[stem], 2) for stem in sorted(best)}


def shares(texts: Sequence[frozenset[str]]) -> dict[str, float]:
    """Number of texts, and the share (0 to 1) of each domain."""
    votes = Counter(map(domain_of_stems, texts))
    return {"texts": len(texts)} | {
        str(domain): round(votes[domain] / len(texts), 4) for domain in Domain
    }


def fields_of(path: Path) -> dict[str, list[str]]:
    """Texts by ``field`` of abstracts in JSON Lines."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        text = record.get("text") or join_title(record["title"], record["abstract"])
        found[record["field"]].append(text)
    return dict(found)


def predicted_by_sci(texts: Sequence[str]) -> dict[str, float]:
    """What ``sci`` predicts in texts: entities by 100 words, their mean score, the share of its vaguest label."""
    annotated = Extractor.load("sci")(list(texts))
    entities = [entity for one in annotated for entity in one.annotations.entities]
    words = sum(len(one.document.tokens) for one in annotated)
    vague = sum(entity.label == "OtherScientificTerm" for entity in entities)
    return {
        "texts": len(texts),
        "entities by 100 words": round(100 * len(entities) / words, 1),
        "mean score": round(sum(entity.score or 0 for entity in entities) / len(entities), 2),
        "OtherScientificTerm": round(vague / len(entities), 2),
    }


def _counts(texts: Iterable[frozenset[str]]) -> Counter[str]:
    return Counter(stem for stems in texts for stem in stems)


def _stems(shard: Path, most: int) -> Texts:
    return [stems_of(text.replace(NUMBER, " ")) for text in unlabelled_texts([shard], most)]


def _halves(shard: Path, most: int) -> tuple[Texts, Texts]:
    """Half of a shard to learn from, half held out; of two in a row one has its title, so pairs stay together."""
    found = _stems(shard, most)
    return [*found[::4], *found[1::4]], [*found[2::4], *found[3::4]]


def _documents(path: Path) -> Iterator[frozenset[str]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield stems_of(" ".join(" ".join(words) for words in json.loads(line)["sentences"]))


def main(words: Sequence[str] | None = None) -> None:
    """Measures on texts that were not learned from; learns and writes first where that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="folder with unlabelled/"
    )
    parser.add_argument("--entities", action="store_true", help="what sci predicts by field")
    parser.add_argument("--output", type=Path, help="learn, and write this JSON file")
    parser.add_argument(
        "--fields", type=Path, default=Path("tests/fixtures/text/fields.jsonl"),
        help="abstracts of other sciences",
    )  # fmt: skip
    parser.add_argument("--most", type=int, default=24_000, help="abstracts of each kind")
    arguments = parser.parse_args(words)
    samples = Path(str(data_root() / "sample_data" / "abstracts.jsonl"))
    abstracts = {
        f"{field}, {source}": texts
        for source, path in (("sample", samples), ("fixture", arguments.fields))
        for field, texts in fields_of(path).items()
    }
    if arguments.entities:
        for field, texts in abstracts.items():
            print(json.dumps({"kind": field} | predicted_by_sci(texts)))
        return
    folder = arguments.data / "unlabelled"
    halves = {
        name: _halves(folder / f"{name}-000.jsonl.gz", arguments.most)
        for name in (*BIOMEDICAL, COMPUTING)
    }
    if arguments.output:
        positive = [text for name in BIOMEDICAL for text in halves[name][0]]
        known = learned(positive, halves[COMPUTING][0])
        arguments.output.write_text(json.dumps(known, indent=0) + "\n", encoding="utf-8")
    kinds = {f"{name}, held out": held for name, (_, held) in halves.items()}
    for name in OTHER_SHARDS:
        kinds[name] = _stems(folder / f"{name}.jsonl.gz", arguments.most // 4)
    for name in DEV_SETS:
        kinds[f"{name} dev"] = list(_documents(arguments.data / name / "dev.jsonl"))
    for field, texts in abstracts.items():
        kinds[field] = list(map(stems_of, texts))
    for name, stems in kinds.items():
        print(json.dumps({"kind": name} | shares(stems)))


if __name__ == "__main__":
    main()
