"""The sample files agree with each other, can be read by others, and are safe to publish."""

from __future__ import annotations

import csv
import importlib.util
import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sciextract.documents.schema_file import load_schema
from sciextract.text.analyse import analyse
from tests.shared_data import ROOT

SAMPLES = ROOT / "sample_data"
FIELDS = ("computer science", "biomedicine", "materials", "physics")
PTB = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]"}

Record = dict[str, Any]


def jsonl(name: str) -> list[Record]:
    lines = (SAMPLES / name).read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


ABSTRACTS = jsonl("abstracts.jsonl")
GOLD = jsonl("gold.jsonl")
BY_ID = {row["id"]: row for row in ABSTRACTS}


def each_gold(test: Any) -> Any:
    return pytest.mark.parametrize("record", GOLD, ids=lambda record: record["doc_key"])(test)


@pytest.fixture(scope="module")
def build() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("sample_build", SAMPLES / "build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["sample_build"] = module  # dataclasses look their module up here
    spec.loader.exec_module(module)
    yield module
    del sys.modules["sample_build"]


def test_committed_files_are_what_the_script_writes(tmp_path: Path, build: ModuleType) -> None:
    build.build(tmp_path)
    built = {p.relative_to(tmp_path): p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert built == {path: (SAMPLES / path).read_bytes() for path in built}
    committed = {path.name for path in (SAMPLES / "text").iterdir()}
    assert committed == {path.name for path in built if path.parent.name == "text"}


class TestAbstracts:
    def test_every_field_has_six(self) -> None:
        counts = Counter(row["field"] for row in ABSTRACTS)
        assert set(counts) == set(FIELDS)
        assert min(counts.values()) >= 6

    def test_length_and_identifiers(self) -> None:
        for row in ABSTRACTS:
            assert 90 <= len(row["abstract"].split()) <= 190, row["id"]
            assert row["doi"].startswith("10.5555/")
            assert row["abstract"] == row["abstract"].strip()
            assert "\n" not in row["abstract"]

    def test_ids_and_dois_are_unique(self) -> None:
        for key in ("id", "doi", "title"):
            assert len({row[key] for row in ABSTRACTS}) == len(ABSTRACTS)

    def test_no_two_share_eight_words(self) -> None:
        runs = {row["id"]: set(word_runs(row["abstract"], 8)) for row in ABSTRACTS}
        for first, second in combinations(runs, 2):
            assert not runs[first] & runs[second], (first, second)

    def test_troublesome_text_occurs(self) -> None:
        text = "\n".join(row["abstract"] for row in ABSTRACTS)
        troubles = ("et al.", "Fig. 2", "[12]", "METHODS:", "α", "µ", "°C", "\u00a0", "\ufe0f", "⁺")
        assert [trouble for trouble in (*troubles, "https://") if trouble not in text] == []

    def test_one_has_combining_accents(self) -> None:
        assert any(any(map(unicodedata.combining, row["abstract"])) for row in ABSTRACTS)


def word_runs(text: str, length: int) -> Iterator[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return zip(*(words[start:] for start in range(length)), strict=False)


class TestOtherFormats:
    def test_csv(self) -> None:
        with (SAMPLES / "abstracts.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row["abstract"] for row in rows] == [row["abstract"] for row in ABSTRACTS]
        assert [int(row["year"]) for row in rows] == [row["year"] for row in ABSTRACTS]

    def test_ris(self) -> None:
        rispy = pytest.importorskip("rispy")
        entries = rispy.loads((SAMPLES / "library.ris").read_text("utf-8"))
        read = [(entry["title"], entry["abstract"], entry["doi"]) for entry in entries]
        assert read == [(row["title"], row["abstract"], row["doi"]) for row in ABSTRACTS]
        assert [entry["authors"] for entry in entries] == [row["authors"] for row in ABSTRACTS]

    def test_bibtex(self) -> None:
        bibtexparser = pytest.importorskip("bibtexparser", minversion="2")
        library = bibtexparser.parse_string((SAMPLES / "library.bib").read_text("utf-8"))
        assert library.failed_blocks == []
        assert [entry.key for entry in library.entries] == [row["id"] for row in ABSTRACTS]
        for entry, row in zip(library.entries, ABSTRACTS, strict=True):
            assert plain(entry["abstract"]) == row["abstract"]
            assert plain(entry["title"]) == row["title"]

    def test_nbib(self) -> None:
        read = list(nbib_records((SAMPLES / "pubmed.nbib").read_text("utf-8")))
        biomedical = [row for row in ABSTRACTS if row["field"] == "biomedicine"]
        assert [record["AB"] for record in read] == [row["abstract"] for row in biomedical]
        assert [record["TI"] for record in read] == [row["title"] + "." for row in biomedical]

    def test_text_files_hold_title_and_abstract(self) -> None:
        paths = sorted((SAMPLES / "text").glob("*.txt"))
        assert len(paths) >= 8
        for path in paths:
            row = BY_ID[path.stem]
            assert path.read_text("utf-8") == f"{row['title']}\n{row['abstract']}\n"


def plain(latex: str) -> str:
    """LaTeX source without the escapes and braces that the sample uses."""
    return re.sub(r"\\([%&#$_])", r"\1", latex.replace("{", "").replace("}", ""))


def nbib_records(text: str) -> Iterator[dict[str, str]]:
    """A second, simple reading of the format: unfold, then split at the tags."""
    for block in text.strip().split("\n\n"):
        unfolded = re.sub(r"\n {6}", " ", block)
        yield {line[:4].strip(): line[6:] for line in unfolded.split("\n")}


class TestGold:
    def test_eight_computer_science_abstracts(self) -> None:
        assert [record["doc_key"] for record in GOLD] == [
            row["id"] for row in ABSTRACTS if row["field"] == "computer science"
        ]

    @each_gold
    def test_offsets_lie_inside_their_sentence(self, record: Record) -> None:
        start = 0
        layers = (record["sentences"], record["ner"], record["relations"])
        for sentence, entities, relations in zip(*layers, strict=True):
            end = start + len(sentence)
            spans = [entity[:2] for entity in entities]
            spans += [pair for relation in relations for pair in (relation[:2], relation[2:4])]
            assert all(start <= first <= last < end for first, last in spans)
            start = end

    @each_gold
    def test_arguments_and_mentions_are_entities(self, record: Record) -> None:
        entities = {tuple(entity[:2]) for sentence in record["ner"] for entity in sentence}
        for relation in (r for sentence in record["relations"] for r in sentence):
            assert {tuple(relation[:2]), tuple(relation[2:4])} <= entities
        for cluster in record["clusters"]:
            assert len(cluster) > 1
            assert {tuple(mention) for mention in cluster} <= entities

    @each_gold
    def test_no_span_relation_or_mention_twice(self, record: Record) -> None:
        pairs = [frozenset({tuple(r[:2]), tuple(r[2:4])}) for s in record["relations"] for r in s]
        mentions = [tuple(mention) for cluster in record["clusters"] for mention in cluster]
        spans = [tuple(entity[:2]) for sentence in record["ner"] for entity in sentence]
        for items in (pairs, mentions, spans):
            assert len(set(items)) == len(items)

    @each_gold
    def test_generic_mentions_take_part_in_something(self, record: Record) -> None:
        used = {tuple(mention) for cluster in record["clusters"] for mention in cluster}
        for relation in (r for sentence in record["relations"] for r in sentence):
            used |= {tuple(relation[:2]), tuple(relation[2:4])}
        generic = {
            tuple(e[:2]) for sentence in record["ner"] for e in sentence if e[2] == "Generic"
        }
        assert generic <= used

    @each_gold
    def test_tokens_spell_the_abstract(self, record: Record) -> None:
        tokens = [PTB.get(token, token) for sentence in record["sentences"] for token in sentence]
        abstract: str = BY_ID[record["doc_key"]]["abstract"]
        assert "".join(tokens).replace(" ", "") == re.sub(r"\s", "", abstract)

    @each_gold
    def test_no_mention_starts_with_a_determiner(self, record: Record) -> None:
        tokens = [token for sentence in record["sentences"] for token in sentence]
        starts = {tokens[e[0]].lower() for sentence in record["ner"] for e in sentence}
        assert not starts & {"a", "an", "the", "this", "these", "our", "its", "their"}

    def test_every_type_occurs_and_pairs_are_legal(self) -> None:
        schema = load_schema("scierc")
        entities, relations = Counter[str](), Counter[str]()
        for record in GOLD:
            types = {tuple(e[:2]): e[2] for sentence in record["ner"] for e in sentence}
            entities.update(types.values())
            for relation in (r for sentence in record["relations"] for r in sentence):
                relations[relation[4]] += 1
                head, tail = types[tuple(relation[:2])], types[tuple(relation[2:4])]
                assert schema.relation(relation[4]).allows(head, tail)
        assert set(entities) == set(schema.entity_labels)
        assert set(relations) == set(schema.relation_labels)

    def test_our_tokens_keep_every_boundary(self, build: ModuleType) -> None:
        for abstract in build.read_gold():
            for sentence, start, end in abstract.mentions.values():
                text = abstract.sentences[sentence]
                table = analyse(text)
                assert start in {span.char_start for span in table.spans}, text[start:end]
                assert end in {span.char_end for span in table.spans}, text[start:end]


def test_readme_counts_are_right() -> None:
    readme = (SAMPLES / "README.md").read_text("utf-8")
    entities = sum(len(sentence) for record in GOLD for sentence in record["ner"])
    relations = sum(len(sentence) for record in GOLD for sentence in record["relations"])
    clusters = sum(len(record["clusters"]) for record in GOLD)
    expected = f"{entities} entities, {relations} relations and {clusters} coreference clusters"
    assert expected in readme
    assert f"{len(ABSTRACTS)} abstracts" in readme


@pytest.mark.parametrize("mistake", ["{t1 never closed", "{t1 twice} and {t1 twice}"])
def test_a_mistake_in_the_notation_stops_the_build(
    tmp_path: Path, build: ModuleType, mistake: str
) -> None:
    path = tmp_path / "gold.txt"
    path.write_text(f"== x-1\n{mistake}\n", "utf-8")
    with pytest.raises(ValueError, match="t1"):
        build.read_gold(path)
