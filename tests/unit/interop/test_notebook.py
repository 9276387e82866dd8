"""Results in notebooks: records, frames and HTML."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from sciextract import AnnotatedDocument, Annotations, Entity, to_frames
from sciextract.documents.annotations import Span
from sciextract.errors import FormatError, MissingExtraError, install_command
from sciextract.formats.exchange import encode
from sciextract.text.analyse import make_document
from tests.unit.interop.builders import entity, sample


def test_a_result_as_a_record_and_back() -> None:
    record = sample().to_dict()
    assert record == json.loads(encode(sample()))
    assert AnnotatedDocument.from_dict(record) == sample()
    record["entities"][0]["fragments"] = [[5, 1]]
    with pytest.raises(FormatError, match=r"entities\[0\]\.fragments"):
        AnnotatedDocument.from_dict(record)


def test_frames_have_a_row_for_each_item_that_is_not_rejected() -> None:
    pytest.importorskip("pandas")
    entities, relations, mentions = to_frames([sample(), sample()])
    assert entities["mention_text"].tolist()[:4] == [
        "Our parser for graph parsing",
        "parser",
        "graph parsing",
        "It",
    ]
    text = sample().document.text
    for row in entities.itertuples():
        assert text[row.char_start : row.char_end] == row.mention_text
    assert entities["score"].isna().tolist()[:4] == [False, False, False, True]
    assert relations[["head_text", "label", "tail_text", "score"]].values.tolist() == [
        ["parser", "USED-FOR", "graph parsing", 0.7],
        ["parser", "USED-FOR", "graph parsing", 0.7],
    ]
    assert mentions["cluster_id"].tolist() == ["C1"] * 4
    assert mentions["score"].tolist()[:2] == [0.7, 0.8]


def test_frames_without_items_keep_their_columns_and_types() -> None:
    pytest.importorskip("pandas")
    frames = to_frames(AnnotatedDocument(make_document("a", "Nothing.")))
    assert [len(frame) for frame in frames] == [0, 0, 0]
    assert str(frames.entities["char_start"].dtype) == "int64"
    assert list(frames.relations)[:4] == ["doc_key", "id", "label", "head_id"]


def test_without_pandas_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError) as refused:
        to_frames([])
    assert refused.value.hint == install_command("pandas")


def test_html_is_escaped_and_shows_nested_mentions() -> None:
    text = "We <script>alert(1)</script> parse\x1b graphs."
    outer = entity("E1", "<script>alert(1)</script> parse", "<Task onclick='x'>", text=text)
    inner = Entity("E2", (Span(text.index("alert"), text.index("(1)")),), "Method")
    document = make_document("<key>", text)
    markup = AnnotatedDocument(document, Annotations((outer, inner)))._repr_html_()
    assert "<script" not in markup and "<Task" not in markup and "<key>" not in markup
    assert "\x1b" not in markup
    assert "[alert|Method]" in markup and "parse|&lt;Task onclick=&#x27;x&#x27;&gt;]" in markup

    shown = sample()._repr_html_()
    assert shown.count("<li>") == 2 and "USED-FOR" in shown and "PART-OF" not in shown
    assert "<small>0.70</small>" in shown


@pytest.mark.full
def test_the_notebook_of_the_docs_runs_and_prints_what_it_shows() -> None:
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    import nbformat

    from tools.run_notebook import NOTEBOOK, executed

    def outputs(notebook: Any) -> Iterator[tuple[str, Any]]:
        for cell in notebook.cells:
            for output in cell.get(
                "outputs", []
            ):  # scores differ in the last digit between machines
                yield output.output_type, output.get("text") or sorted(output.data)

    stored = list(outputs(nbformat.read(NOTEBOOK, as_version=4)))
    assert len(stored) >= 6
    assert list(outputs(executed())) == stored
