"""Of a folder, files that hold no abstract are listed instead of read."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.formats import BadRecord, read
from sciextract.formats.inputs import holds_no_abstract, single_sources

ABSTRACT = "A new parser is proposed. It uses beam search (beam = 8) and reaches 91.2 F1.\n"
PINS = "# pinned\nnumpy==1.26.4\ntyper>=0.26,<0.29 # comment\n-r other.txt\nx[a,b] ~= 2.0\n"


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    texts = {
        **dict.fromkeys(("a.txt", "requirements-engineering-study/b.txt"), ABSTRACT),
        **dict.fromkeys(("constraints.txt", "requirements-dev.txt"), PINS),
        **dict.fromkeys(("LICENSE.txt", "README.txt", "below/readme.TXT"), "Some words.\n"),
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_mixed_folder(mixed: Path) -> None:
    items = list(read([str(mixed)]))
    bad = [item for item in items if isinstance(item, BadRecord)]
    assert len(items) - len(bad) == 2
    names = {Path(str(item.error.path)).name for item in bad}
    assert names == {
        *("constraints.txt", "requirements-dev.txt"),
        *("LICENSE.txt", "README.txt", "readme.TXT"),
    }
    assert "name the file itself" in str(bad[0].error.hint)
    assert single_sources(str(mixed), None) == [str(mixed)]


def test_named_files_and_formats_are_read(mixed: Path) -> None:
    assert not isinstance(next(iter(read([str(mixed / "README.txt")]))), BadRecord)
    items = list(read([str(mixed)], "text"))
    assert len(items) == 7 and not any(isinstance(item, BadRecord) for item in items)


@pytest.mark.parametrize(
    "name", ["licence-plate-detection.txt", "safety-requirements.txt", "1.txt", "a.jsonl"]
)
def test_abstracts_are_kept(name: str) -> None:
    assert not holds_no_abstract(f"corpus/{name}")
