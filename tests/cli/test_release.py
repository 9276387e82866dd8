"""``sciextract export --release``: a corpus that others load, check and cite; and its texts filled in again."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.document import AnnotatedDocument, text_hash
from sciextract.errors import ExitCode
from sciextract.formats import read
from sciextract.snapshot.documents import Split, split_of
from sciextract.store import EntityRef, open_project
from tests.cli.conftest import Command
from tests.cli.projects import everything, read_lines, view, write_lines
from tests.cli.test_teams import ben  # noqa: F401 - a fixture

EVIL = 'x|<b>*_[a](javascript:b)_*</b>\u202e"'
COUNT = 40


def abstract(number: int) -> dict[str, Any]:
    """A finished abstract in which a method, named once more as a task, is used for a material."""
    words = f"Kernel {number} ranks proteins of yeast".split()
    return {
        "doc_key": f"a{number}",
        "sentences": [words],
        "ner": [[[0, 1, "Method"], [3, 3, "Material"], [5, 5, EVIL.split("\u202e")[0]]]],
        "relations": [[[0, 1, 3, 3, "USED-FOR"]]],
        "clusters": [[[0, 1], [3, 3]]],
    }


@pytest.fixture
def corpus(command: Command, work: Path) -> Path:
    """A project with finished abstracts and one that nobody has touched."""
    path = work / "kernels.sciextract"
    command("init", path)
    write_lines(work / "in.jsonl", *map(abstract, range(COUNT)), {"id": "new", "text": "Unread."})
    assert command("import", "in.jsonl", "--add-labels").code == ExitCode.DONE
    (work / "in.jsonl").unlink()
    return path


def release(command: Command, *words: str) -> dict[str, Any]:
    done = command("export", "--release", "out", "--licence", "CC-BY-4.0", "--json", *words)
    assert done.code == ExitCode.DONE, done.err
    summary: dict[str, Any] = json.loads(done.out)
    return summary


def records(folder: str, split: str) -> list[dict[str, Any]]:
    return read_lines(Path(folder, "data", f"{split}.jsonl").read_text("utf-8"))


def test_datasets_loads_it_by_its_card(
    command: Command, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets")
    assert release(command)["documents"] == COUNT
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    loaded = datasets.load_dataset(str(Path("out").resolve()), cache_dir=str(tmp_path / "cache"))
    assert list(loaded) == ["train", "dev", "test"]
    assert sum(map(len, loaded.values())) == COUNT
    assert {len(row["entities"]) for split in loaded.values() for row in split} == {3}
    assert loaded["dev"][0]["links"][0]["label"] == "USED-FOR"
    card = Path("out/README.md").read_text("utf-8")
    counts = [str(len(loaded[split])) for split in loaded]
    assert f"| documents | {' | '.join(counts)} |" in card
    assert f"| relations | {' | '.join(counts)} |" in card


@pytest.mark.full
@pytest.mark.parametrize("words", [(), ("--no-text",)])
def test_mlcroissant_loads_it(command: Command, corpus: Path, words: tuple[str, ...]) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    release(command, *words)
    described = mlcroissant.Dataset(jsonld="out/croissant.json")
    for split in ("train", "dev", "test"):
        rows = list(described.records(record_set=split))
        labels = [
            [entity[f"{split}/entities/label"].decode() for entity in row[f"{split}/entities"]]
            for row in rows
        ]
        expected = [
            [entity["label"] for entity in row["entities"]] for row in records("out", split)
        ]
        assert labels == expected


def test_every_file_has_a_checksum_and_equal_projects_give_equal_bytes(
    command: Command, corpus: Path
) -> None:
    release(command)
    first = everything(Path("out"))
    listed = [line.split("  ")[1] for line in first.pop("SHA256SUMS").decode().splitlines()]
    assert listed == sorted(first)
    assert {"README.md", "brat/dev/annotation.conf", "croissant.json", "schema.toml"} <= {*listed}
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd="out", check=True)
    refused = command("export", "--release", "out")
    assert (refused.code, "--force" in refused.err) == (ExitCode.FAILED, True)
    release(command, "--force")
    assert {**everything(Path("out")), "SHA256SUMS": b""} == {**first, "SHA256SUMS": b""}


def test_a_release_is_imported_like_any_file(command: Command, corpus: Path) -> None:
    release(command, "--to", "scierc")
    strict = ("--release", "s", "--licence", "MIT", "--to", "conll", "--strict", "--json")
    failed = command("export", *strict)
    assert (failed.code, json.loads(failed.out)["documents"]) == (ExitCode.FAILED, 0)
    assert not Path("s").exists()
    command("init", "again.sciextract")
    words = ("--project", "again.sciextract", "--add-labels")
    command("import", *sorted(map(str, Path("out/data").iterdir())), *words)
    again = view(Path("again.sciextract"))
    assert len(again) == COUNT
    assert again.items() <= view(corpus).items()
    assert sum(len(path.read_text().splitlines()) for path in Path("out/scierc").iterdir()) == COUNT


def test_an_abstract_stays_in_its_split(command: Command, corpus: Path) -> None:
    def split_of() -> dict[str, str]:
        splits = ("train", "dev", "test")
        return {row["doc_key"]: split for split in splits for row in records("out", split)}

    release(command)
    before = split_of()
    write_lines(Path("more.jsonl"), *map(abstract, range(COUNT, 2 * COUNT)))
    command("import", "more.jsonl")
    release(command, "--force")
    after = split_of()
    assert len(after) == 2 * COUNT
    assert after.items() >= before.items()


def test_texts_that_were_left_out_are_filled_in_again(command: Command, corpus: Path) -> None:
    def read_all(folder: str, **options: Any) -> list[AnnotatedDocument]:
        found = read([folder], "jsonl", **options)
        return [item for item in found if isinstance(item, AnnotatedDocument)]

    release(command)
    shutil.move("out", "whole")
    assert "examples" in Path("whole/schema.toml").read_text()
    release(command, "--no-text")
    written = b"".join(everything(Path("out")).values())
    assert b"Kernel" not in written and b"yeast" not in written
    assert "examples" not in Path("out/schema.toml").read_text(), (
        "schema from takes them from texts"
    )
    assert not Path("out/brat").exists()
    command("export", "--to", "jsonl", "--output", "texts.jsonl")
    lines = Path("texts.jsonl").read_text("utf-8").splitlines()
    Path("texts.jsonl").write_text("\n".join([*lines[1:], json.dumps({"id": 1, "text": "other"})]))
    out, filled = str(Path("out/data")), ("--to", "jsonl", "--output", "filled.jsonl")
    done = command("convert", out, "--texts", "texts.jsonl", *filled)
    assert (done.code, "none of those given has the SHA-256" in done.err) == (
        ExitCode.PARTIAL,
        True,
    )
    whole = [document for document in read_all("whole/data") if document.document.doc_key != "a0"]
    again = read_all("filled.jsonl")
    assert len(again) == COUNT - 1
    assert again == whole
    assert [document.document.tokens for document in again] == [
        document.document.tokens for document in whole
    ]
    assert "--texts FILE" in command("convert", out, *filled, "--force").err


def test_nothing_in_a_text_becomes_markup(command: Command, work: Path) -> None:
    text = f"# {EVIL} ``` $x$ &lt; \x1b[31m ![i](http://a) ranks proteins.\n---\n| a |"
    end = text.index(" ranks")
    item = {"id": "E1", "fragments": [[0, end]], "label": "Method", "state": "accepted"}
    # Only examples of the train split are shown: the text gets blanks until it belongs there.
    while split_of(text_hash(text)) is not Split.TRAIN:
        text += " "
    sure = {"schema_version": 1, "doc_key": f"../{EVIL}\n", "text": text, "entities": [item]}
    write_lines(work / "in.jsonl", sure)
    name = f"a{EVIL[:5]}<i>\x07.sciextract"
    command("init", name)
    command("import", "in.jsonl", "--project", name)
    citation = "```\n<script>alert(1)</script>\n@misc{a}"
    licence = "Ask us: *please* <b>"
    words = ("--project", name, "--licence", licence, "--citation", citation)
    assert command("export", "--release", "out", *words).code == ExitCode.DONE
    card, guide = (Path("out", page).read_text("utf-8") for page in ("README.md", "guideline.md"))
    for page in (card.partition("\n---\n")[2], guide):
        plain = [line for line in page.splitlines() if not line.startswith("    ")]
        for sign in ("<", "[i]", "[a]", "*please"):
            assert f"{sign}" not in "\n".join(plain).replace(f"\\{sign}", "").replace("\\[", "")
    assert "\x1b" not in card + guide and "\u202e" not in card + guide
    assert "Accepted:" in guide
    yaml = pytest.importorskip("yaml")
    meta = yaml.safe_load(card.split("\n---\n")[0].removeprefix("---\n"))
    assert (meta["license"], meta["license_name"]) == ("other", licence)
    assert meta["pretty_name"].startswith("a") and "\n    <script>" in card
    json.loads(Path("out/croissant.json").read_text("utf-8"))
    words = ("--release", "b", "--project", name, "--citation", "a\x1b[0m")
    assert command("export", *words).code == ExitCode.DONE
    assert "    a␛[0m" in Path("b/README.md").read_text("utf-8")


def test_terms_are_asked_for_once(command: Command, corpus: Path) -> None:
    refused = command("export", "--release", "out")
    assert (refused.code, "--licence CC-BY-4.0" in refused.err) == (ExitCode.USAGE, True)
    assert not Path("out").exists()
    release(command, "--citation", "Ann (2026)")
    assert command("export", "--release", "out", "--force").code == ExitCode.DONE
    card = Path("out/README.md").read_text("utf-8")
    assert 'license: "cc-by-4.0"' in card and "    Ann (2026)" in card


@pytest.mark.parametrize(
    "words",
    [
        ("--to", "jsonl", "--no-text"),
        ("--release", "out", "--undecided"),
        ("--release", "out", "--to", "brat", "--no-text"),
        ("--release", "out", "--to", "bibtex"),
        (),
    ],
)
def test_words_that_do_not_go_together(
    command: Command, corpus: Path, words: tuple[str, ...]
) -> None:
    assert command("export", *words).code == ExitCode.USAGE
    assert not Path("out").exists()


def test_only_finished_abstracts_are_released(command: Command, corpus: Path) -> None:
    assert release(command)["unfinished"] == 1
    assert release(command, "--all", "--force")["documents"] == COUNT + 1
    command("init", "empty.sciextract")
    words = ("--release", "b", "--licence", "MIT", "--project", "empty.sciextract")
    refused = command("export", *words)
    assert (refused.code, "none of the 0 abstracts is finished" in refused.err) == (2, True)
    assert not Path("b").exists()


def test_the_guideline_shows_what_was_rejected(command: Command, corpus: Path) -> None:
    release(command)
    number = records("out", "train")[0]["doc_key"][1:]
    with open_project(corpus, "ann") as project:
        entity = project.document_state(int(number) + 1).entities[1]
        project.actions.reject(int(number) + 1, EntityRef(entity.id))
    release(command, "--all", "--force")
    guide = Path("out/guideline.md").read_text("utf-8")
    material = guide.partition("### Material")[2].partition("###")[0]
    accepted, _, rejected = material.partition("Rejected:")
    assert "**proteins**" in accepted and f"Kernel {number} ranks **proteins**" in rejected


def test_agreement_is_that_of_before_the_differences_were_decided(
    command: Command,
    ben: Path,  # noqa: F811
) -> None:
    words = ("--project", "p.sciextract")
    agreed = json.loads(command("agree", "p.sciextract", ben, "--json").out)
    command("merge", ben, *words)
    assert command("adjudicate", "--take", "theirs", *words).code in (0, ExitCode.PARTIAL)
    release(command, "--all", *words)
    told = json.loads(Path("out/agreement.json").read_text("utf-8"))
    assert told["spans"]["exact"]["f1"] == pytest.approx(agreed["spans"]["exact"]["f1"])
    assert told["relations"] == agreed["relations"]
    card = Path("out/README.md").read_text("utf-8")
    assert re.search(rf"    spans exact f1 +{agreed['spans']['exact']['f1']:.1f}  \[", card)
