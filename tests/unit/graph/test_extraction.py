from __future__ import annotations

from dataclasses import replace

import pytest

from sciextract.documents.annotations import State
from sciextract.documents.document import AnnotatedDocument
from sciextract.graph.extraction import Extraction, extract
from sciextract.graph.normalisation import MergeRule
from tests.graph_samples import abstract


def keys(extraction: Extraction) -> dict[str, str]:
    """The key that each mention means."""
    return {naming.surface: naming.key for naming in extraction.namings}


def said(document: AnnotatedDocument) -> list[tuple[str, str, str]]:
    return [
        (relation.head, relation.label, relation.tail) for relation in extract(document).evidence
    ]


def test_acronyms_mean_what_the_text_says() -> None:
    found = extract(
        abstract(
            "a", "A support vector machine (SVM). SVMs win.",
            {"support vector machine (SVM)": "Method", "SVMs": "Method"},
        )
    )  # fmt: skip
    assert set(keys(found).values()) == {"supportvectormachine"}
    assert all(naming.rules & MergeRule.ACRONYM for naming in found.namings)
    assert found.expansions == (("SVM", "supportvectormachine", "support vector machine"),)


def test_an_acronym_without_expansion_keeps_its_name() -> None:
    found = extract(abstract("a", "SVMs win.", {"SVMs": "Method"}))
    assert keys(found) == {"SVMs": "SVM"}


def test_coreference_joins_names_of_which_one_holds_the_other() -> None:
    text = "A graph parser beats DyGIE++, and parsers beat the chart tagger. The WildCD corpus is WildCD."
    mentions = dict.fromkeys(
        ["graph parser", "DyGIE++", "parsers", "chart tagger", "WildCD corpus", "WildCD#2"],
        "Method",
    )
    groups = [["graph parser", "parsers", "chart tagger", "DyGIE++"], ["WildCD corpus", "WildCD#2"]]
    found = extract(abstract("a", text, mentions, groups=groups))
    assert keys(found)["parsers"] == "parser"
    assert set(found.coreferents) == {("WildCD", "wildcdcorpus", "WildCD")}
    without = extract(abstract("a", text, mentions, groups=[groups[0][:3]]))
    assert without.coreferents == (("parser", "graphparser", "parser"),)


def test_generic_mentions_mean_the_best_name_of_their_cluster() -> None:
    text = "DyGIE++ is a span model. The model is fast. The model finds names."
    mentions = {"DyGIE++": "Method", "span model": "Method", "model#3": "Generic", "names": "Task"}
    groups = [["span model", "DyGIE++", "model#3"]]
    document = abstract("a", text, mentions, [("model#3", "USED-FOR", "names")], groups)
    assert said(document) == [("DyGIE++", "USED-FOR", "name")]


def test_what_the_text_spells_out_as_two_things_is_two() -> None:
    text = "A hidden Markov model (HMM) and a support vector machine (SVM). The HMM and the SVM."
    document = abstract(
        "a", text, {"HMM#2": "Method", "SVM#2": "Method"}, groups=[["HMM#2", "SVM#2"]]
    )
    assert set(keys(extract(document)).values()) == {
        "hiddenmarkovmodel",
        "supportvectormachine",
    }


def test_two_expansions_of_which_one_holds_the_other_are_two() -> None:
    text = "Lazy tree search (LTS) follows tree search (TS). LTS and TS halt."
    document = abstract(
        "a", text, {"LTS#2": "Method", "TS#4": "Method"}, groups=[["LTS#2", "TS#4"]]
    )
    assert set(keys(extract(document)).values()) == {"lazytreesearch", "treesearch"}


def test_an_acronym_in_brackets_does_not_make_another_name() -> None:
    text = "A vision transformer (VT) architecture. Vision transformer architectures win."
    mentions = {"vision transformer (VT) architecture": "Method",
                "Vision transformer architectures": "Method"}  # fmt: skip
    found = extract(abstract("a", text, mentions))
    assert set(keys(found).values()) == {"visiontransformerarchitecture"}


def test_generic_mentions_carry_relations_but_are_no_things() -> None:
    text = "Lattice parsing. The method helps translation."
    mentions = {"Lattice parsing": "Method", "method": "Generic", "translation": "Task"}
    links = [("method", "USED-FOR", "translation")]
    alone = extract(abstract("a", text, mentions, links))
    assert alone.evidence == ()
    assert alone.nameless == 1
    assert keys(alone) == {"Lattice parsing": "latticeparsing", "translation": "translation"}
    together = abstract("a", text, mentions, links, [["Lattice parsing", "method"]])
    assert said(together) == [("latticeparsing", "USED-FOR", "translation")]


@pytest.mark.parametrize(("link", "state", "carries"), [
    (0.7, State.UNDECIDED, True), (0.69, State.UNDECIDED, False), (0.1, State.ACCEPTED, True),
])  # fmt: skip
def test_a_doubtful_link_of_a_cluster_carries_no_relation(
    link: float, state: State, carries: bool
) -> None:
    text = "Lattice parsing. The method helps translation."
    mentions = {"Lattice parsing": "Method", "method": "Generic", "translation": "Task"}
    links = [("method", "USED-FOR", "translation")]
    document = abstract("a", text, mentions, links, [["Lattice parsing", "method"]])
    (cluster,) = document.annotations.clusters
    scored = replace(cluster, mention_scores=(0.9, link), state=state)
    document = replace(document, annotations=replace(document.annotations, clusters=(scored,)))
    found = extract(document)
    assert (len(found.evidence), found.nameless) == (int(carries), int(not carries))


def test_a_thing_is_not_related_to_itself() -> None:
    document = abstract(
        "a", "A parser is a parser.", {"parser": "Method", "parser#2": "Method"},
        [("parser", "HYPONYM-OF", "parser#2")],
    )  # fmt: skip
    found = extract(document)
    assert found.evidence == ()
    assert found.loops == 1


def test_what_is_rejected_does_not_count() -> None:
    document = abstract(
        "a", "A parser for speech.", {"parser": "Method", "speech": "Task"},
        [("parser", "USED-FOR", "speech")], rejected=["speech"],
    )  # fmt: skip
    found = extract(document)
    assert keys(found) == {"parser": "parser"}
    assert found.evidence == ()


def test_evidence_is_the_sentences_of_both_arguments() -> None:
    text = "First one. A parser is here. Speech is there. Last one."
    document = abstract(
        "a", text, {"parser": "Method", "Speech": "Task"}, [("parser", "USED-FOR", "Speech")]
    )
    (found,) = extract(document).evidence
    assert text[found.char_start : found.char_end] == "A parser is here. Speech is there."


def test_the_fingerprint_changes_with_what_is_said() -> None:
    one, same, other = (
        extract(abstract("a", "A parser.", {"parser": label}))
        for label in ("Method", "Method", "Task")
    )
    assert one.fingerprint == same.fingerprint != other.fingerprint


def test_lone_surrogates_do_no_harm() -> None:
    found = extract(abstract("a\ud800", "Odd \ud800 name.", {"Odd \ud800 name": "Method\ud800"}))
    ((naming, _),) = found.namings.items()
    assert naming.surface == "Odd ? name"
    assert found.doc_key == "a?"
