"""What is read is what was written, for every text that a file can hold."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import jsonschema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sciextract.documents.annotations import (
    Annotations,
    Attribute,
    Candidates,
    Cluster,
    Entity,
    LabelScore,
    LinkCandidate,
    PairCandidate,
    Relation,
    Span,
    SpanCandidate,
    State,
)
from sciextract.documents.document import AnnotatedDocument, ModelId
from sciextract.formats import open_writer, read
from sciextract.formats.base import Source
from sciextract.formats.exchange import encode
from sciextract.formats.json_values import parse_object
from sciextract.formats.jsonl import parse_record
from sciextract.text.analyse import make_document
from tests.shared_data import ROOT, shared_path
from tests.tiers import examples

PIECES = st.sampled_from(
    [
        "graph",
        " ",
        "\r\n",
        "\n",
        "\u00a0",
        "e\u0301",
        "α-β",
        "😀",
        "\x1b[31m",
        "\x00",
        "\u2028",
        "\x85",
        "[12]",
        "i.e.",
        ". ",
        "(",
        "\ud800 ",
        '"',
        "\\",
        "-LRB-",
        "10.5%",
        "\u202e",
        "\x9b",
    ]
)
TEXTS = st.lists(PIECES, max_size=12).map("".join)
LABELS = st.sampled_from(["Task", "Method", "Ω type", "a\tb"])
SCORES = st.none() | st.floats(0, 1)
PLACE = Source("made.jsonl")
VALIDATOR = jsonschema.Draft202012Validator(
    json.loads((ROOT / "schemas" / "export.schema.json").read_text("utf-8"))
)
FEW = settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))


def spans(text: str) -> st.SearchStrategy[Span]:
    return st.tuples(st.integers(0, len(text) - 1), st.integers(1, 9)).map(
        lambda pair: Span(pair[0], min(pair[0] + pair[1], len(text)))
    )


def alternatives() -> st.SearchStrategy[tuple[LabelScore, ...]]:
    one = st.builds(LabelScore, LABELS, st.floats(0, 1))
    return st.lists(one, max_size=2).map(tuple)


@st.composite
def made(draw: st.DrawFn) -> tuple[float | None, State, str]:
    source = draw(st.sampled_from(["person:Ada", "model:sci@1/2", "import:α.jsonl", ""]))
    return draw(SCORES), draw(st.sampled_from(State)), source


@st.composite
def entities(draw: st.DrawFn, text: str) -> tuple[Entity, ...]:
    if not text:
        return ()
    found = []
    for index, span in enumerate(draw(st.lists(spans(text), max_size=5))):
        middle = span.char_start + 1
        whole = span.char_end - span.char_start < 3 or draw(st.booleans())
        fragments = (
            (span,) if whole else (Span(span.char_start, middle), Span(middle + 1, span.char_end))
        )
        label = draw(LABELS | st.just(""))
        found.append(Entity(f"E{index}", fragments, label, *draw(made()), draw(alternatives())))
    return tuple(found)


@st.composite
def candidates(draw: st.DrawFn, text: str) -> Candidates | None:
    if not text or draw(st.booleans()):
        return None
    one = spans(text)
    return Candidates(
        tuple(draw(st.lists(st.builds(SpanCandidate, one, alternatives()), max_size=2))),
        tuple(draw(st.lists(st.builds(PairCandidate, one, one, alternatives()), max_size=2))),
        tuple(draw(st.lists(st.builds(LinkCandidate, one, one, st.floats(0, 1)), max_size=2))),
    )


@st.composite
def annotated(draw: st.DrawFn) -> AnnotatedDocument:
    text = draw(TEXTS)
    items = draw(entities(text))
    relations, clusters = [], []
    if items:
        ids = st.sampled_from([item.id for item in items])
        for index, pair in enumerate(draw(st.lists(st.tuples(ids, ids), max_size=3))):
            head, tail = pair
            relations.append(Relation(f"R{index}", head, tail, draw(LABELS), *draw(made())))
        for index, mentions in enumerate(draw(st.lists(st.lists(ids, min_size=1), max_size=2))):
            scores = draw(st.just(()) | st.just((0.5,) * len(mentions)))
            clusters.append(Cluster(f"C{index}", tuple(mentions), *draw(made()), scores))
    targets = st.sampled_from(["", *(item.id for item in items), *(item.id for item in relations)])
    attributes = [
        Attribute(
            f"A{index}", target, draw(LABELS), draw(TEXTS), *draw(made()), draw(alternatives())
        )
        for index, target in enumerate(draw(st.lists(targets, max_size=3)))
    ]
    fields = draw(
        st.dictionaries(st.sampled_from(["year", "tokens", "attributes", "α"]), SCORES | TEXTS)
    )
    document = make_document(draw(st.sampled_from(["d", "α 1", "\x1b"])), text, fields)
    model = draw(st.none() | st.just(ModelId("sci", "0" * 64)))
    found = Annotations(
        *(tuple(items), tuple(relations), tuple(clusters), draw(candidates(text))),
        attributes=tuple(attributes),
    )
    return AnnotatedDocument(document, found, model, draw(st.sampled_from([(), ("a", "b")])))


def decode(line: str) -> AnnotatedDocument:
    return parse_record(parse_object(line, "made.jsonl", 1), PLACE, 1)


@FEW
@given(annotated())
def test_jsonl_gives_back_every_item_state_score_and_candidate(document: AnnotatedDocument) -> None:
    line = encode(document, candidates=True)
    back = decode(line)
    assert back.annotations == document.annotations
    assert (back.model, back.warnings) == (document.model, document.warnings)
    assert back.document.text == document.document.text
    assert back.document.doc_key == document.document.doc_key
    assert back.document.tokens.problems(len(back.document.text)) == []


@FEW
@given(annotated())
def test_jsonl_written_twice_is_the_same_line_and_valid(document: AnnotatedDocument) -> None:
    line = encode(document, candidates=True)
    assert encode(decode(line), candidates=True) == line
    assert len(line.encode("utf-8").decode("utf-8").splitlines()) == 1
    VALIDATOR.validate(json.loads(line))


@FEW
@given(annotated())
def test_input_fields_are_kept(document: AnnotatedDocument) -> None:
    fields = document.document.fields
    expected = {f"input_{k}" if k in ("tokens", "attributes") else k: v for k, v in fields.items()}
    assert decode(encode(document)).document.fields == expected


@FEW
@given(annotated())
def test_token_offsets_of_an_export_agree_with_its_characters(document: AnnotatedDocument) -> None:
    record = json.loads(encode(document))
    ranges, text = record["token_ranges"], record["text"]
    wanted = {
        (entity.span.of(text).strip(), entity.label)
        for entity in document.annotations.entities
        if len(entity.fragments) == 1 and entity.label and entity.state is not State.REJECTED
    }
    for first, last, label in (triple for sentence in record["ner"] for triple in sentence):
        cut = text[ranges[first][0] : ranges[last][1]]
        assert any(cut in mention and label == wanted_label for mention, wanted_label in wanted)


TOKENS = st.sampled_from(
    [
        "graph",
        "-LRB-",
        "-RRB-",
        "``",
        "''",
        "α",
        "😀",
        "e\u0301",
        "\u00a0",
        "\r\n",
        ",",
        r"1\/2",
        "\x1b[0m",
        "\u2028",
        "\ud83d",
    ]
)


@st.composite
def token_spans(draw: st.DrawFn, first: int, last: int) -> list[int]:
    start = draw(st.integers(first, last))
    return [start, draw(st.integers(start, last))]


@st.composite
def scierc_records(draw: st.DrawFn) -> dict[str, Any]:
    sentences = draw(st.lists(st.lists(TOKENS, min_size=1, max_size=6), max_size=3))
    total = sum(map(len, sentences))
    record: dict[str, Any] = {"doc_key": "made", "sentences": sentences, "ner": []}
    record |= {"relations": [], "clusters": []}
    first = 0
    for sentence in sentences:
        inside = token_spans(first, first + len(sentence) - 1)
        anywhere = token_spans(0, total - 1)
        entity = st.tuples(inside, LABELS).map(lambda pair: [*pair[0], pair[1]])
        relation = st.tuples(inside, anywhere, LABELS).map(lambda t: [*t[0], *t[1], t[2]])
        record["ner"].append(draw(st.lists(entity, max_size=4, unique_by=tuple)))
        record["relations"].append(draw(st.lists(relation, max_size=3, unique_by=tuple)))
        first += len(sentence)
    if total:
        cluster = st.lists(token_spans(0, total - 1), min_size=1, max_size=3, unique_by=tuple)
        several = st.lists(cluster.map(sorted), max_size=2, unique_by=str)
        record["clusters"] = draw(several)
    if draw(st.booleans()):
        record["dataset"] = "made"
    return record


def rewritten(path: Path, format_id: str | None = None) -> list[Any]:
    stream = io.StringIO()
    writer = open_writer("scierc", stream)
    for item in read([path], format_id):
        assert isinstance(item, AnnotatedDocument), item
        writer.write(item)
    writer.close()
    assert not writer.losses
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@FEW
@given(record=scierc_records())
def test_scierc_comes_back_equal(record: dict[str, Any], tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("scierc") / "made.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    assert rewritten(path) == [record]
    assert rewritten(path, "scierc") == [record]


@FEW
@given(record=scierc_records())
def test_scierc_survives_the_exchange_format(record: dict[str, Any]) -> None:
    document = parse_record(record, PLACE, 1)
    again = decode(encode(document))
    assert again == document
    exported = json.loads(encode(again))
    layers = ("sentences", "ner", "relations", "clusters")
    assert {name: exported[name] for name in layers} == {name: record[name] for name in layers}


def without_repeats(record: dict[str, Any]) -> dict[str, Any]:
    """Equal items collapse on reading: the only change that a round trip makes."""
    for layer in ("ner", "relations", "clusters"):
        record[layer] = [
            [*map(list, dict.fromkeys(map(tuple, sentence)))] for sentence in record[layer]
        ]
    return record


def test_every_scierc_record_comes_back_equal() -> None:
    for name in ("train", "dev"):
        path = shared_path(f"scierc/{name}.jsonl")
        with open(path, encoding="utf-8") as lines:
            records = [without_repeats(json.loads(line)) for line in lines]
        assert rewritten(path) == records
