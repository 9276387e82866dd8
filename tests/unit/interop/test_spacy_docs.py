"""Annotated documents as Docs and back: exact text, nothing lost, later edits respected."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tiers import examples

spacy = pytest.importorskip("spacy")

from spacy.tokens import Doc, DocBin, Span

from sciextract.documents.annotations import (
    Annotations,
    Cluster,
    Entity,
    Relation,
    State,
    TokenRange,
)
from sciextract.documents.annotations import Span as CharSpan
from sciextract.documents.document import AnnotatedDocument, Document, TokenTable
from sciextract.errors import FormatError
from sciextract.interop.spacy_docs import SOURCE, from_doc, register_extensions, to_doc
from sciextract.text.analyse import make_document
from tests.unit.interop.builders import TEXT, sample

VOCAB = spacy.blank("en").vocab
register_extensions()

TEXTS = st.text(
    st.one_of(
        st.sampled_from(" \n\r\t.,-()[]abGxάé\u00a0\u200b\u202e\x00\x1b\x7f\u2028\ufeff😀🏽\u200d"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=60,
)


@settings(max_examples=examples(120), deadline=None)
@given(TEXTS)
def test_the_text_is_exact_and_tokens_come_back(text: str) -> None:
    annotated = AnnotatedDocument(make_document("a", text))
    doc = to_doc(annotated, VOCAB)
    assert doc.text == text
    assert from_doc(doc) == annotated


@settings(max_examples=examples(60), deadline=None)
@given(TEXTS.filter(bool), st.data())
def test_entities_of_any_range_come_back(text: str, data: st.DataObject) -> None:
    ranges = st.tuples(st.integers(0, len(text) - 1), st.integers(1, 9))
    entities = tuple(
        Entity(f"E{row}", (CharSpan(start, min(len(text), start + width)),), label, 0.5)
        for row, (start, width) in enumerate(data.draw(st.lists(ranges, max_size=5)))
        for label in [data.draw(st.sampled_from(["Task", "Method", ""]))]
    )
    annotated = AnnotatedDocument(make_document("a", text), Annotations(entities))
    doc = to_doc(annotated, VOCAB)
    assert doc.text == text
    assert from_doc(doc).annotations == annotated.annotations
    assert from_doc(Doc(VOCAB).from_bytes(doc.to_bytes())).annotations == annotated.annotations


def test_everything_comes_back() -> None:
    annotated = sample()
    assert from_doc(to_doc(annotated, VOCAB)) == annotated


def test_tokens_follow_the_convention_of_spacy() -> None:
    doc = to_doc(sample(), VOCAB)
    assert [token.text for token in doc][:6] == ["Graph", " ", "parsing", "\n", "Our", "parser"]
    assert [token.is_space for token in doc][:4] == [False, True, False, True]
    assert [sent.text for sent in doc.sents] == [
        "Graph  parsing\n",
        "Our parser for graph parsing beats it.",
        "It scans α-trees.",
    ]


def test_all_entities_are_in_the_span_group_and_the_longest_in_ents() -> None:
    doc = to_doc(sample(), VOCAB)
    assert [(span.text, span.label_, span._.score) for span in doc.spans["sc"]] == [
        ("Our parser for graph parsing", "Method", 0.6),
        ("parser", "Method", 0.8),
        ("graph parsing", "Task", 0.95),
        ("It", "Generic", None),
    ]
    assert [span.text for span in doc.ents] == ["Our parser for graph parsing", "It"]


def test_the_likelier_of_two_equally_long_entities_is_in_ents() -> None:
    text = "alpha beta gamma"
    entities = (
        Entity("E1", (CharSpan(0, 10),), "Task", 0.4),
        Entity("E2", (CharSpan(6, 16),), "Method", 0.6),
    )
    doc = to_doc(AnnotatedDocument(make_document("a", text), Annotations(entities)), VOCAB)
    assert [span.label_ for span in doc.ents] == ["Method"]


def test_relations_and_clusters_are_typed_objects_of_spans() -> None:
    doc = to_doc(sample(), VOCAB)
    [relation] = doc._.relations
    assert isinstance(relation.head, Span)
    assert (relation.head.text, relation.label, relation.tail.text, relation.score) == (
        "parser",
        "USED-FOR",
        "graph parsing",
        0.7,
    )
    [cluster] = doc._.clusters
    assert [span.text for span in cluster.mentions] == ["Our parser for graph parsing", "It"]
    assert (cluster.score, cluster.mention_scores) == (0.75, (0.7, 0.8))
    assert list(doc.spans["coref_clusters_1"]) == list(cluster.mentions)
    with pytest.raises(AttributeError):
        relation.label = "other"


def test_another_span_key_and_no_ents() -> None:
    doc = to_doc(sample(), VOCAB, span_key="mine", set_ents=False, cluster_prefix="")
    assert list(doc.spans) == ["mine"] and not doc.ents
    assert from_doc(doc) == sample()


def test_a_doc_that_sciextract_never_saw_has_empty_layers() -> None:
    doc = spacy.blank("en")("Nothing here.")
    assert doc._.relations == () and doc._.clusters == () and doc[0:1]._.score is None
    assert from_doc(doc, doc_key="x").document.doc_key == "x"
    assert from_doc(doc).annotations == Annotations()


def test_doc_bin_keeps_everything() -> None:
    stored = DocBin(store_user_data=True, docs=[to_doc(sample(), VOCAB)]).to_bytes()
    other = spacy.blank("en").vocab
    [doc] = DocBin().from_bytes(stored).get_docs(other)
    assert from_doc(doc) == sample()
    assert doc._.relations[0].head.text == "parser"


def test_a_removed_span_takes_its_relations_and_links_along() -> None:
    doc = to_doc(sample(), VOCAB)
    doc.spans["sc"] = [span for span in doc.spans["sc"] if span.text not in ("parser", "It")]
    annotations = from_doc(doc).annotations
    assert [entity.id for entity in annotations.entities] == ["E1", "E3", "E5"]
    assert annotations.relations == () and annotations.clusters == ()


def test_an_added_span_becomes_an_imported_entity() -> None:
    doc = to_doc(sample(), VOCAB)
    start = TEXT.index("α-trees")
    added = doc.char_span(start, start + 7, label="Material")
    assert added is not None
    doc.spans["sc"] = [*doc.spans["sc"], added]
    *_, entity = from_doc(doc).annotations.entities
    assert (entity.text_of(TEXT), entity.label) == ("α-trees", "Material")
    assert (entity.state, entity.source) == (State.IMPORTED, SOURCE)


def test_ents_of_any_doc_become_entities() -> None:
    doc = spacy.blank("en")("Parsers need trees.")
    doc.ents = [Span(doc, 0, 1, label="Method"), Span(doc, 2, 3, label="Material")]
    found = from_doc(doc)
    assert [entity.text_of(doc.text) for entity in found.annotations.entities] == [
        "Parsers",
        "trees",
    ]
    assert len(found.document.tokens.sentences) == 1


def test_two_equal_spans_are_two_entities() -> None:
    twins = tuple(Entity(f"E{row}", (CharSpan(0, 5),), "Task", 0.5) for row in range(2))
    annotated = AnnotatedDocument(make_document("a", "alpha beta"), Annotations(twins))
    doc = to_doc(annotated, VOCAB)
    assert from_doc(doc) == annotated
    doc.spans["sc"] = list(doc.spans["sc"])[:1]
    assert len(from_doc(doc).annotations.entities) == 1


def test_edges_inside_tokens_cut_them() -> None:
    text = "state-of-the-art"
    entities = (Entity("E1", (CharSpan(0, 5),), "Task"),)
    doc = to_doc(AnnotatedDocument(make_document("a", text), Annotations(entities)), VOCAB)
    assert [token.text for token in doc] == ["state", "-of-the-art"] and doc.text == text


def test_fragments_are_shown_as_one_span_and_come_back() -> None:
    entities = (Entity("E1", (CharSpan(0, 5), CharSpan(11, 16)), "Task", 0.5),)
    document = make_document("a", "alpha beta gamma")
    annotated = AnnotatedDocument(document, Annotations(entities))
    doc = to_doc(annotated, VOCAB)
    assert [span.text for span in doc.spans["sc"]] == ["alpha beta gamma"]
    assert from_doc(doc) == annotated


def test_given_forms_come_back_while_the_tokens_are_the_same() -> None:
    spans = (CharSpan(0, 1), CharSpan(1, 2), CharSpan(2, 3))
    table = TokenTable(spans, (TokenRange(0, 3),), ("-LRB-", "x", "-RRB-"))
    annotated = AnnotatedDocument(Document("a", "(x)", table))
    doc = to_doc(annotated, VOCAB)
    assert from_doc(doc) == annotated
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    assert from_doc(doc).document.tokens.forms is None


def test_layers_survive_retokenising() -> None:
    doc = to_doc(sample(), VOCAB)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[4:6])
    assert doc._.relations[0].head.text == "Our parser"


def test_another_text_does_not_get_the_annotations() -> None:
    doc = to_doc(sample(), VOCAB)
    other = spacy.blank("en")("Another text.")
    other.user_data.update(doc.user_data)
    assert other._.relations == () and from_doc(other).annotations == Annotations()


@pytest.mark.parametrize("where", ["text", "label"])
def test_lone_surrogates_are_refused_with_the_place(where: str) -> None:
    label = "Ta\ud800sk" if where == "label" else "Task"
    text = "alpha\ud800" if where == "text" else "alpha"
    entities = (Entity("E1", (CharSpan(0, 5),), label),)
    annotated = AnnotatedDocument(make_document("a", text), Annotations(entities))
    with pytest.raises(FormatError, match="lone surrogate U\\+D800 at character"):
        to_doc(annotated, VOCAB)


def test_lone_surrogates_elsewhere_do_no_harm() -> None:
    annotated = sample()
    document = replace(annotated.document, doc_key="k\ud800", fields={"note": "\ud800", "n": 2**90})
    annotated = replace(annotated, document=document)
    doc = Doc(VOCAB).from_bytes(to_doc(annotated, VOCAB).to_bytes())
    found = from_doc(doc)
    assert found == annotated and found.document.fields == document.fields


def test_singleton_clusters_and_scoreless_mentions() -> None:
    entities = (Entity("E1", (CharSpan(0, 5),), ""), Entity("E2", (CharSpan(6, 10),), ""))
    annotations = Annotations(
        entities, (Relation("R1", "E1", "E2", "COMPARE"),), (Cluster("C1", ("E1", "E2")),)
    )
    doc = to_doc(AnnotatedDocument(make_document("a", "alpha beta"), annotations), VOCAB)
    assert doc.ents == ()
    assert [span.text for span in doc._.clusters[0].mentions] == ["alpha", "beta"]
    assert doc._.clusters[0].mention_scores == ()
    assert from_doc(doc).annotations == annotations
