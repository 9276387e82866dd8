"""Search: what people type means words, never FTS5's operators; filters by label, state, score and flag."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciextract.store import EntityRef, Project
from sciextract.store.search import Place, Query, documents_with, find, fts_phrase, fts_query
from tests.unit.store.projects import (
    document,
    entity,
    guess,
    guess_relation,
    place,
    predict,
    put,
    put_all,
)

TEXTS = {
    "graphs": "Graph Networks\nWe study graph nets [12], e.g. α-nets. AND so on.",
    "accents": "Cafe\u0301 society\nA re\u0301sume\u0301 of naïve methods for H₂O.",
    "odd": 'Odd\n😀 emoji \u202e nul\x00here, column: value* (NEAR) "quoted" it\'s 100%',
    "bytes": "Bytes\nA lone \ud800 surrogate and the word halogen.",
}


@pytest.fixture
def library(project: Project) -> Project:
    put_all(project, [(document(text, key), []) for key, text in TEXTS.items()])
    return project


def keys(project: Project, words: str = "", place: Place = "text") -> set[str]:
    return {hit.doc_key for hit in find(project.connection, Query(words=words, place=place))}


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("graph", {"graphs"}),
        ("GRAPH nets", {"graphs"}),
        ("nets graph", {"graphs"}),
        ('"graph nets"', {"graphs"}),
        ('"nets graph"', set()),
        ('"graph nets', {"graphs"}),
        ("gra", set()),
        ("gra*", {"graphs"}),
        ("surr* halo*", {"bytes"}),
        ("[12]", {"graphs"}),
        ("α-nets", {"graphs"}),
        ("α", {"graphs"}),
        ("Α", {"graphs"}),
        ("résumé", {"accents"}),
        ("re\u0301sume\u0301", {"accents"}),
        ("resume", {"accents"}),
        ("naive", {"accents"}),
        ("nai\u0308ve", {"accents"}),
        ("H₂O", {"accents"}),
        ("emoji 😀", {"odd"}),
        ("nul here", {"odd"}),
        ("it's", {"odd"}),
        ("e.g.", {"graphs"}),
        ("halogen", {"bytes"}),
    ],
)
def test_words(library: Project, words: str, found: set[str]) -> None:
    assert keys(library, words) == found


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("graph AND so", {"graphs"}),
        ("graph OR emoji", set()),
        ("graph NOT emoji", set()),
        ("(NEAR)", {"odd"}),
        ("NEAR(graph nets)", set()),
        ("text:graph", set()),
        ("title : graph", set()),
        ("column: value*", {"odd"}),
        ("^graph", {"graphs"}),
        ("graph + nets", {"graphs"}),
        ("-graph", {"graphs"}),
        ("graph)", {"graphs"}),
        ('"""graph"', {"graphs"}),
        ("graph\x00", {"graphs"}),
        ("graph\ud800", {"graphs"}),
        ("{graph nets}", {"graphs"}),
        ("graph'; DROP TABLE document; --", set()),
    ],
)
def test_operators_mean_nothing(library: Project, words: str, found: set[str]) -> None:
    assert keys(library, words) == found


@pytest.mark.parametrize("words", ["😀", '"', "*", "( )", ":", "\u0301", "--", "\x00", "\ud800"])
def test_no_word_at_all_finds_nothing(library: Project, words: str) -> None:
    assert keys(library, words) == set()


def test_an_empty_search_lists_everything_in_order(library: Project) -> None:
    hits = find(library.connection, Query())
    assert [hit.doc_key for hit in hits] == list(TEXTS)
    assert find(library.connection, Query(words="  ")) == hits
    assert find(library.connection, Query(), limit=2, offset=1) == hits[1:3]


@given(st.text(st.characters(exclude_categories=[]), max_size=12))
def test_nothing_that_is_typed_is_a_query_language(typed: str) -> None:
    import sqlite3

    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(title, text)")
    query = fts_query(typed)
    if query is not None:
        connection.execute("SELECT * FROM words WHERE words MATCH ?", (f"text : ({query})",))
    connection.close()


def test_phrases_keep_accents_and_have_a_letter_or_digit() -> None:
    assert fts_phrase("re\u0301sume\u0301 (2)") == '"re\u0301sume\u0301 2"'
    assert fts_phrase("\u0301 ()") is None
    assert fts_phrase("") is None


def test_titles(library: Project) -> None:
    assert keys(library, "networks", "title") == {"graphs"}
    assert keys(library, "emoji", "title") == set()


def test_excerpts_show_where_the_words_stand(library: Project) -> None:
    (hit,) = find(library.connection, Query(words="surrogate"))
    assert hit.title == "Bytes"
    (hit,) = find(library.connection, Query(words="naive"))
    assert "[naïve]" in hit.excerpt
    (hit,) = find(library.connection, Query(words="networks", place="title"))
    assert "[networks]" in hit.excerpt.lower()


def items(project: Project) -> None:
    put_all(project, [(document(doc_key="first"), []), (document("Nothing.", "second"), [])])
    predict(
        project,
        *(guess("E1", place("graph net"), score=0.9), guess("E2", place("network"), "Task", 0.3)),
        guess_relation("R1", "E1", "E2"),
    )


def test_mentions_are_found_by_their_words_unless_rejected(project: Project) -> None:
    items(project)
    assert keys(project, "net", "mentions") == {"first"}
    assert keys(project, "learns", "mentions") == set()
    project.actions.reject(1, EntityRef("E1"))
    assert keys(project, "net", "mentions") == set()
    project.actions.move_edge(1, "E2", "end", 1)
    assert keys(project, '"network of"', "mentions") == {"first"}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (Query(label="Task"), {"first"}),
        (Query(label="Uses"), {"first"}),
        (Query(label="Like"), set()),
        (Query(label="Task", state="undecided"), {"first"}),
        (Query(label="Task", state="accepted"), set()),
        (Query(label="Method", state="accepted"), {"first"}),
        (Query(state="accepted"), {"first"}),
        (Query(state="rejected"), set()),
        (Query(score_below=0.31), {"first"}),
        (Query(score_below=0.3), set()),
        (Query(flagged=True), {"second"}),
        (Query(disagreement=True), set()),
        (Query(words="net", label="Task", flagged=True), set()),
    ],
)
def test_filters(project: Project, query: Query, found: set[str]) -> None:
    items(project)
    project.actions.accept(1, EntityRef("E1"))
    project.actions.flag(2)
    assert {hit.doc_key for hit in find(project.connection, query)} == found


def test_hits_tell_what_waits(project: Project) -> None:
    items(project)
    assert [hit.undecided for hit in find(project.connection, Query())] == [3, 0]


def test_a_document_that_was_taken_back_is_not_found(library: Project) -> None:
    library.undo()
    assert keys(library) == keys(library, "graph") == set()
    assert library.documents_with("graph") == []


@pytest.mark.parametrize(
    ("surface", "found"),
    [
        ("graph nets", [1]),
        ("Graph nets", []),
        ("[12]", [1]),
        ("😀", [3]),
        ("re\u0301sume\u0301", [2]),
        ("résumé", []),
        ("nul\x00here", [3]),
        ("\ud800", [4]),
        ("a lone \ud800", []),
        ("lone \ud800 surrogate", [4]),
        ("(", [3]),
    ],
)
def test_documents_with_exactly_this_string(
    library: Project, surface: str, found: list[int]
) -> None:
    assert documents_with(library.connection, surface) == found


def test_the_title_comes_from_the_record_or_the_first_line(project: Project) -> None:
    put_all(project, [(document("A text.", "a", title="Its title"), [])])
    put(
        project,
        entity("E1", place("A", text="A first line\nand more")),
        text="A first line\nand more",
    )
    titles = [hit.title for hit in find(project.connection, Query())]
    assert titles == ["Its title", "A first line"]
