"""Parts that the corpus formats share: token tables, file names, ids, characters of XML."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from sciextract.documents.annotations import Cluster, Span, State, TokenRange
from sciextract.errors import OutputError
from sciextract.formats.alignment import are_sound, token_table
from sciextract.formats.base import Place
from sciextract.formats.items import CorpusItems
from sciextract.formats.safe_xml import LOSS, xml_safe
from sciextract.formats.sink import FileNames, new_folder

TEXT = "One two. Three four. Five."


def test_given_tokens_and_sentences_stay() -> None:
    tokens = [Span(0, 3), Span(4, 8), Span(9, 14), Span(15, 20), Span(21, 26)]
    table = token_table(TEXT, tokens, [Span(0, 14), Span(15, 20)])
    assert table.spans == tuple(tokens)
    assert table.sentences == (TokenRange(0, 3), TokenRange(3, 4), TokenRange(4, 5))


def test_given_sentences_cut_derived_tokens() -> None:
    table = token_table(TEXT, [], [Span(0, 11), Span(11, 26)])
    assert table.problems(len(TEXT)) == []
    assert table.slices(TEXT)[3:5] == ("Th", "ree")
    assert [len(sentence) for sentence in table.sentences] == [4, 5]


def test_derived_sentences_for_given_tokens_never_cut_a_protected_span() -> None:
    tokens = [Span(0, 3), Span(4, 8), Span(9, 14), Span(15, 20), Span(21, 26)]
    assert len(token_table(TEXT, tokens, []).sentences) == 3
    assert len(token_table(TEXT, tokens, [], [Span(4, 14)]).sentences) == 2


@pytest.mark.parametrize("text", ["", " \n "])
def test_a_text_without_tokens(text: str) -> None:
    table = token_table(text, [], [Span(0, len(text))])
    assert (table.spans, table.sentences) == ((), ())


def test_sound_tokens() -> None:
    assert are_sound([]) and are_sound([Span(0, 2), Span(2, 3)])
    assert not are_sound([Span(0, 0)]) and not are_sound([Span(0, 2), Span(1, 3)])


def test_ids_are_stable_and_unique() -> None:
    def made() -> list[str]:
        items = CorpusItems(Place("f", None, "d"), "import:x")
        first, second = (items.entity([Span(0, 2)], "Task") for _ in range(2))
        items.relation(first, second, "Same", None)
        items.relation(first, second, "Same", None)
        items.cluster([second, first, second], None)
        found = items.annotations()
        assert (len(found.relations), len(found.clusters[0].mentions)) == (1, 2)
        return [entity.id for entity in found.entities]

    assert made() == made()
    assert len(set(made())) == 2


def test_a_mention_prefers_the_label_and_is_made_once() -> None:
    items = CorpusItems(Place("f", None, "d"), "import:x")
    task = items.entity([Span(0, 2)], "Task")
    method = items.entity([Span(0, 2)], "Method")
    assert items.mention(Span(0, 2), "Method") is method
    assert items.mention(Span(0, 2), "") is task
    assert items.mention(Span(3, 4), "Task") is items.mention(Span(3, 4), "")


def test_mentions_whose_membership_was_rejected_are_not_written() -> None:
    states = (State.ACCEPTED, State.REJECTED)
    assert Cluster("C", ("a", "b"), mention_states=states).live_mentions == ["a"]
    assert Cluster("C", ("a", "b")).live_mentions == ["a", "b"]
    assert Cluster("C", ("a",), state=State.REJECTED).live_mentions == []


def test_file_names() -> None:
    names = FileNames()
    keys = ["a/b", "A:b", "", "CON.txt", "..", "a\nb", "été", "é" * 100]
    made = [names.name_of(key) for key in keys]
    assert made[:6] == ["a_b", "A_b-2", "document", "CON.txt_", "document-2", "a_b-3"]
    assert made[6] == "été" and len(made[7].encode()) <= 120


def test_new_folder(tmp_path: Path) -> None:
    assert new_folder(tmp_path / "a" / "b").is_dir()
    with pytest.raises(OutputError, match="not empty"):
        new_folder(tmp_path / "a")


@pytest.mark.parametrize(
    ("text", "safe", "count"),
    [
        ("a\tb\r\nc", "a\tb\r\nc", 0),
        ("\x00\x1b\x0b", "␀␛␋", 3),
        ("\ud800\ufffe\uffff", "\ufffd" * 3, 3),
        ("\x85\u2028😀\x9b", "\x85\u2028😀\x9b", 0),
    ],
)
def test_characters_that_xml_cannot_hold(text: str, safe: str, count: int) -> None:
    losses: Counter[str] = Counter()
    assert xml_safe(text, losses) == safe
    assert losses[LOSS] == count
    assert len(safe) == len(text)
