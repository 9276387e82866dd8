"""The extractor as a library: what it takes, and how it goes to other processes."""

from __future__ import annotations

import pickle
import shutil
from multiprocessing import get_context
from pathlib import Path

import pytest

from sciextract.errors import ModelMismatchError, UsageError
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_folder import write_manifest
from sciextract.resources import bundled_models
from sciextract.text.analyse import make_document

TEXTS = ["We train a parser for dependency parsing.", "Kernels rank proteins."]


@pytest.fixture(scope="module")
def sci() -> Extractor:
    return Extractor.load(threads=1)


def test_one_string_is_one_text(sci: Extractor) -> None:
    [result] = sci(TEXTS[0])
    assert result.document.text == TEXTS[0]
    assert [result] == list(sci.stream(TEXTS[0])) == sci.annotate_batch(TEXTS[0])
    assert result == sci.annotate(TEXTS[0])


def test_texts_and_documents_are_taken_alike(sci: Extractor) -> None:
    found = list(sci.stream([TEXTS[0], make_document("mine", TEXTS[1])]))
    assert [result.document.doc_key for result in found] == ["0", "mine"]
    assert sci(TEXTS) == list(sci.stream(iter(TEXTS)))


def test_what_is_neither_is_told(sci: Extractor) -> None:
    with pytest.raises(UsageError, match="item 1 is bytes; expected str or Document"):
        sci([TEXTS[0], b"bytes"])  # type: ignore[list-item]


def test_another_process_loads_the_same_model(sci: Extractor) -> None:
    other = sci.with_settings({"entity": 0.2}, candidates=True, only=["Task"])
    with get_context("spawn").Pool(1) as pool:
        assert pool.apply(other, (TEXTS,)) == other(TEXTS)


def test_a_folder_that_holds_another_model_by_now(sci: Extractor, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(bundled_models() / "sci", folder)
    sent = pickle.dumps(Extractor.load(folder, threads=1))
    (folder / "README.md").write_text("Another card.", "utf-8")
    write_manifest(folder)
    with pytest.raises(ModelMismatchError, match=r"model now contains sci@\w+, not sci@"):
        pickle.loads(sent)
