"""The component: registration, configuration, whose tokens and sentences count."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

spacy = pytest.importorskip("spacy")

from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.tokens.underscore import Underscore

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation
from sciextract.documents.annotations import Span as CharSpan
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import ModelNotFoundError, UsageError, install_command
from sciextract.interop import spacy_pipe
from sciextract.interop.spacy_docs import from_doc, to_doc
from sciextract.interop.spacy_pipe import SciextractPipe
from sciextract.resources import bundled_models
from tests.unit.interop.builders import FakeAnnotator, sample

ROOT = Path(__file__).resolve().parents[3]
TEXT = "Our parser reads graphs. It is fast."


@pytest.fixture
def nlp(monkeypatch: pytest.MonkeyPatch) -> Language:
    """An empty pipeline in which any model is the fake one."""
    monkeypatch.setattr(spacy_pipe, "load_annotator", lambda model, threshold: FakeAnnotator())
    nlp: Language = spacy.blank("en")
    return nlp


def _seen(component: Any) -> list[Document]:
    [annotator] = component._annotators.values()
    seen: list[Document] = annotator.seen
    return seen


def test_the_component_annotates(nlp: Language) -> None:
    nlp.add_pipe("sciextract")
    doc = nlp(TEXT)
    assert [(ent.text, ent.label_) for ent in doc.ents] == [
        ("parser", "Method"),
        ("graphs", "Material"),
    ]
    assert [span._.score for span in doc.spans["sc"]] == [0.9, 0.8]
    [relation] = doc._.relations
    assert (relation.head.text, relation.label, relation.tail.text) == (
        "parser",
        "USED-FOR",
        "graphs",
    )
    assert doc._.clusters == ()
    assert str(from_doc(doc).model) == "fake@01234567"


def test_config_reaches_model_and_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[Any, ...]] = []

    def load(*arguments: Any) -> FakeAnnotator:
        made.append(arguments)
        return FakeAnnotator()

    monkeypatch.setattr(spacy_pipe, "load_annotator", load)
    nlp = spacy.blank("en")
    config = {"model": "bio", "threshold": {"entity": 0.3}, "span_key": "x", "set_ents": False}
    nlp.add_pipe("sciextract", config=config)
    doc = nlp(TEXT)
    assert made == [("bio", {"entity": 0.3})]
    assert len(doc.spans["x"]) == 2 and doc.ents == ()


def test_extensions_leave_those_of_other_libraries_alone(
    nlp: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Underscore, "doc_extensions", {})
    monkeypatch.setattr(Underscore, "span_extensions", {})
    Span.set_extension("score", default=7)
    with pytest.raises(UsageError, match=r"span\._\.score is already an extension") as refused:
        nlp.add_pipe("sciextract")
    assert '{"score_attr": "sciextract_score"}' in refused.value.hint
    assert not Doc.has_extension("relations")
    nlp.add_pipe("sciextract", config={"score_attr": "sciextract_score", "clusters_attr": ""})
    doc = nlp(TEXT)
    span = doc.spans["sc"][0]
    assert (span._.score, span._.sciextract_score, len(doc._.relations)) == (7, 0.9, 1)
    assert not Doc.has_extension("clusters")


def test_extensions_are_registered_by_the_component_only() -> None:
    script = (
        "import pickle, sys; from spacy.tokens import Doc; import sciextract.interop.spacy_docs\n"
        "from sciextract.interop.spacy_pipe import SciextractPipe\n"
        "before = Doc.has_extension('relations'); pickle.loads(sys.stdin.buffer.read())\n"
        "print(before, Doc.has_extension('relations'))"
    )
    sent = pickle.dumps(SciextractPipe(FakeAnnotator))
    result = subprocess.run(
        [sys.executable, "-c", script], input=sent, capture_output=True, check=True
    )
    assert result.stdout.split() == [b"False", b"True"]


def test_own_sentences_are_used(nlp: Language) -> None:
    sentencizer = nlp.add_pipe("sentencizer")
    sentencizer.punct_chars = {"s"}  # type: ignore[attr-defined]
    component = nlp.add_pipe("sciextract")
    doc = Doc(
        nlp.vocab, words=["a", "s", " ", "b", "c"], sent_starts=[True, False, True, False, True]
    )
    component(doc)
    [document] = _seen(component)
    assert [len(sentence) for sentence in document.tokens.sentences] == [2, 1, 1]
    assert document.tokens.slices(document.text) == ("a", "s", "b", "c")


def test_without_sentences_the_splitter_finds_them(nlp: Language) -> None:
    component = nlp.add_pipe("sciextract")
    doc = nlp("Results by Lee et al. hold. We agree.")
    [document] = _seen(component)
    assert len(document.tokens.sentences) == 2
    assert len(document.tokens) == len(doc)


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u200b"])
def test_empty_docs_are_no_error(nlp: Language, text: str) -> None:
    nlp.add_pipe("sciextract")
    doc = nlp(text)
    assert doc.text == text and doc.ents == () and doc._.relations == ()


@pytest.mark.parametrize(
    ("overwrite", "expected"),
    [
        (False, [("Our parser", "TOOL"), ("graphs", "Material"), ("fast", "SPEED")]),
        (True, [("parser", "Method"), ("graphs", "Material"), ("fast", "SPEED")]),
    ],
)
def test_entities_that_a_doc_has_already_stay_unless_overwritten(
    nlp: Language, overwrite: bool, expected: list[tuple[str, str]]
) -> None:
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns(  # type: ignore[attr-defined]
        [{"label": "TOOL", "pattern": "Our parser"}, {"label": "SPEED", "pattern": "fast"}]
    )
    nlp.add_pipe("sciextract", config={"overwrite_ents": overwrite})
    doc = nlp(TEXT)
    assert [(ent.text, ent.label_) for ent in doc.ents] == expected
    assert len(doc.spans["sc"]) == 2


def test_two_components_keep_their_own_annotations(
    nlp: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    nlp.add_pipe("sciextract")
    nlp.add_pipe(
        "sciextract", name="bio", config={"span_key": "bio", "relations_attr": "bio_relations"}
    )
    for name, label in (("sciextract", "Method"), ("bio", "Gene")):
        monkeypatch.setattr(nlp.get_pipe(name), "_annotators", {os.getpid(): Coreferent(label)})
    [doc] = DocBin(store_user_data=True, docs=[nlp("It eats it.")]).get_docs(nlp.vocab)
    for key, relations, label in (
        ("sc", doc._.relations, "Method"),
        ("bio", doc._.bio_relations, "Gene"),
    ):
        assert [relation.head.label_ for relation in relations] == [label]
        assert [span._.score for span in doc.spans[key]] == [0.5, 0.6]
        assert {entity.label for entity in from_doc(doc, span_key=key).annotations.entities} == {
            label
        }
    assert [cluster.mentions[0].label_ for cluster in doc._.clusters] == ["Method", "Gene"]
    groups = {key: group[0].label_ for key, group in doc.spans.items() if key not in ("sc", "bio")}
    assert groups == {"coref_clusters_1": "Method", "coref_clusters_2": "Gene"}
    with pytest.raises(UsageError, match="both fill"):
        nlp.add_pipe("sciextract", name="third")


class Coreferent:
    """Finds two mentions of one label that mean the same and are related."""

    def __init__(self, label: str) -> None:
        self._label = label

    def annotate(self, document: Document) -> AnnotatedDocument:
        first, second = (
            Entity(self._label + str(number), (CharSpan(*ends),), self._label, score)
            for number, (ends, score) in enumerate((((0, 2), 0.5), ((8, 10), 0.6)))
        )
        relation = Relation("R", first.id, second.id, "COMPARE", 0.7)
        cluster = Cluster("C", (first.id, second.id), 0.9, mention_scores=(0.9, 0.9))
        return AnnotatedDocument(document, Annotations((first, second), (relation,), (cluster,)))


def test_a_second_run_leaves_no_cluster_groups_of_the_first() -> None:
    doc = to_doc(sample(), spacy.blank("en").vocab)
    doc.spans["coref_clusters_notes"] = []
    assert "coref_clusters_1" in doc.spans
    SciextractPipe(FakeAnnotator)(doc)
    assert set(doc.spans) == {"sc", "coref_clusters_notes"}


def test_the_pipeline_can_be_saved_and_loaded(nlp: Language, tmp_path: Path) -> None:
    nlp.add_pipe("sciextract", config={"span_key": "x"})
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    assert len(again(TEXT).spans["x"]) == 2


def test_worker_processes_carry_all_layers(nlp: Language) -> None:
    nlp.add_pipe("sciextract")
    docs = list(nlp.pipe([TEXT, TEXT], n_process=2, batch_size=1))
    assert [len(doc._.relations) for doc in docs] == [1, 1]
    assert docs[1].spans["sc"][0]._.score == 0.9


def test_a_pickled_component_loads_its_model_again() -> None:
    component = pickle.loads(pickle.dumps(SciextractPipe(FakeAnnotator)))
    doc = component(spacy.blank("en")(TEXT))
    assert isinstance(doc.ents[0], Span)


@pytest.mark.parametrize(
    ("config", "error"),
    [
        ({"model": "no such model"}, ModelNotFoundError),
        ({"model": "a/b/c"}, ModelNotFoundError),
    ],
)
def test_a_wrong_model_is_said_at_once(config: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        spacy.blank("en").add_pipe("sciextract", config=config)


def test_the_installed_package_announces_the_component() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["spacy_factories"]["sciextract"].partition(":")
    assert module == spacy_pipe.__name__ and callable(getattr(spacy_pipe, name))


def test_the_bundled_model() -> None:
    if not (bundled_models() / "sci" / "manifest.json").is_file():
        pytest.skip("the bundled model is not built")
    nlp = spacy.blank("en")
    nlp.add_pipe("sciextract")
    doc = nlp("We train a neural parser for dependency parsing on two treebanks.")
    assert "dependency parsing" in {span.text for span in doc.spans["sc"]}
    assert all(0 <= span._.score <= 1 for span in doc.spans["sc"])
    with pytest.raises(UsageError):
        spacy.blank("en").add_pipe("sciextract", config={"threshold": {"entity": 7.0}})


def test_without_spacy_the_extra_is_named() -> None:
    script = (
        "import sys, json; sys.modules['spacy'] = None\n"
        "from sciextract.errors import MissingExtraError\n"
        "found = []\n"
        "for name in ('pipe', 'docs', 'layers'):\n"
        "    try: __import__(f'sciextract.interop.spacy_{name}')\n"
        "    except MissingExtraError as error: found.append([error.message, error.hint])\n"
        "print(json.dumps(found))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    found = json.loads(result.stdout)
    assert len(found) == 3
    assert {hint for _, hint in found} == {install_command("spacy")}


def test_the_core_does_not_load_spacy() -> None:
    script = "import sciextract.inference.extractor, sciextract.cli.main, sys; print('spacy' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "False"
