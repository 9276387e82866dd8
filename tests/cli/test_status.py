"""``sciextract status``, ``search`` and ``stats``; what only reads writes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sciextract.errors import ExitCode
from sciextract.store import EntityRef, open_project
from tests.cli.conftest import Command
from tests.cli.projects import everything, read_lines
from tests.shared_data import ROOT

HEAVY = {
    *("numpy", "pandas", "onnxruntime", "textual", "torch", "spacy", "rich"),
    *("tokenizers", "huggingface_hub", "pydantic", "pyarrow"),
}
SCRIPT = """
import sys
from sciextract.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as leaving:
    assert leaving.code in (0, None), leaving.code
print(" ".join(sorted({name.partition(".")[0] for name in sys.modules})), file=sys.stderr)
"""


@pytest.fixture
def predicted(command: Command, project: Path, fake: object) -> Path:
    """The project after a model run: three undecided entities in the plain abstract."""
    command("annotate")
    return project


def decide(project: Path) -> None:
    """Accepts the first, rejects the second, relabels the third prediction in the plain abstract."""
    with open_project(project, "ann") as opened:
        first, second, third = (
            EntityRef(entity.id) for entity in opened.document_state(2).entities
        )
        opened.actions.accept(2, first, seconds=2.0)
        opened.actions.reject(2, second, seconds=4.0)
        opened.actions.set_label(2, third, "Task")


def test_status(command: Command, predicted: Path) -> None:
    decide(predicted)
    with open_project(predicted, "ann") as opened:
        opened.actions.mark_done(1, undecided="reject")
        opened.actions.flag(2)
    command("backup")
    found = json.loads(command("status", "--json").out)
    assert (found["documents"], found["imported"], found["flagged"]) == (2, 6, 1)
    assert found["decided"] >= 3
    assert found["completeness"]["entities"] == {"untouched": 0, "in progress": 1, "done": 1}
    text = command("status").out
    for words in (
        "2 abstracts, labels scierc",
        "1 in progress, 1 done",
        "newest backup: ",
        "1 abstract flagged",
    ):
        assert words in text


def keys(command: Command, *words: str) -> list[str]:
    """The keys of what a search finds."""
    result = command("search", *words, "--json")
    found = read_lines(result.out)
    assert result.code == (ExitCode.DONE if found else ExitCode.FAILED)
    return [hit["doc_key"] for hit in found]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([], ["gold", "plain"]),
        (["lattice"], ["gold"]),
        (["LATTICE", "quick"], ["gold"]),
        (["lattice", "proteins"], []),
        (["kern*"], ["plain"]),
        (["kern"], []),
        (['"rank proteins"'], ["plain"]),
        (['"proteins rank"'], []),
        (["kernels", "--in", "title"], ["plain"]),
        (["proteins", "--in", "title"], []),
        (["parsing", "--in", "mentions"], ["gold"]),
        (["quick", "--in", "mentions"], []),
        (["proteins", "--in", "mentions"], ["plain"]),
        (["--label", "Task"], ["gold"]),
        (["--label", "USED-FOR"], ["gold", "plain"]),
        (["--label", "Method", "--state", "undecided"], ["gold", "plain"]),
        (["--label", "Task", "--state", "undecided"], []),
        (["--state", "imported"], ["gold"]),
        (["--score-below", "0.8"], ["gold", "plain"]),
        (["--score-below", "0.1"], []),
        (["--disagreement"], []),
        (["--flagged"], []),
        (["--limit", "1"], ["gold"]),
        (["proteins", "--label", "Method", "--state", "undecided"], ["plain"]),
    ],
)
def test_search(command: Command, predicted: Path, words: list[str], found: list[str]) -> None:
    assert sorted(keys(command, *words)) == found


def test_search_follows_decisions(command: Command, predicted: Path) -> None:
    decide(predicted)
    assert keys(command, "--state", "accepted") == ["plain"]
    assert keys(command, "--label", "Method", "--state", "rejected") == ["plain"]
    assert keys(command, "--label", "Task", "--state", "edited") == ["plain"]
    assert keys(command, "proteins", "--in", "mentions") == []  # it is rejected
    with open_project(predicted, "ann") as opened:
        opened.actions.flag(2)
    assert keys(command, "--flagged") == ["plain"]


def test_search_for_people(command: Command, predicted: Path) -> None:
    result = command("search", "rank")
    first, excerpt = result.out.splitlines()
    assert "plain  Kernels (2020)" in first and first.endswith("5 undecided")
    assert "We [rank] proteins" in excerpt
    assert result.err.split() == ["number", "key", "title"]
    nothing = command("search", "nosuchword")
    assert (nothing.code, nothing.out) == (ExitCode.FAILED, "")
    assert nothing.err == "nothing found\n"


def test_control_characters_of_a_key_are_shown_as_symbols(
    command: Command, project: Path, tmp_path: Path
) -> None:
    given = tmp_path / "escape.jsonl"
    given.write_text(json.dumps({"doc_key": "a\x1b[2Jb", "text": "An unforeseen whale."}))
    command("import", str(given))
    out = command("search", "whale").out
    assert "a␛[2Jb" in out and "\x1b" not in out
    assert keys(command, "whale") == ["a\x1b[2Jb"]


@pytest.mark.parametrize(
    "query",
    [
        *(
            '"',
            '""',
            '"unclosed phrase',
            "AND",
            "OR NOT",
            "NEAR(a b)",
            "*",
            "a*b",
            "^kernels",
            "(",
            "-kernels",
        ),
        *(
            "'; DROP TABLE document; --",
            "title:kernels",
            "{title}:",
            "[12]",
            "é",
            "漢字",
            "😀",
            " ",
            "\x00",
        ),
        *("kernels\x00", "\x1b[31m", "%", "_", "\\", "a" * 5000, "\udcff"),
    ],
)
@pytest.mark.parametrize("place", ["text", "mentions"])
def test_weird_queries(command: Command, project: Path, query: str, place: str) -> None:
    result = command("search", "--in", place, "--", query)
    assert result.code in (ExitCode.DONE, ExitCode.FAILED)
    assert result.err in (" number  key  title\n", "nothing found\n")


def test_wrong_filters(command: Command, project: Path) -> None:
    for words in (
        ["--state", "maybe"],
        ["--in", "abstract"],
        ["--score-below", "2"],
        ["--limit", "0"],
    ):
        assert command("search", *words).code == ExitCode.USAGE


def test_stats(command: Command, predicted: Path) -> None:
    assert "no decisions on the model's items yet" in command("stats").out
    decide(predicted)
    found = json.loads(command("stats", "--json").out)
    [method] = [label for label in found["labels"] if label["label"] == "Method"]
    assert (method["accepted"], method["edited"], method["rejected"]) == (1, 1, 1)
    assert method["acceptance"] == pytest.approx(1 / 3)
    assert found["seconds_per_abstract"] == 6.0
    text = command("stats").out
    assert "entity Method" in text and "33%" in text
    assert "score 0.9 to 1.0:      3 decided, claimed 0.90, accepted 0.33" in text
    assert "time: 6.0 s an abstract (1 timed)" in text
    assert "person:ann: " in text


READING = [
    *("status", "status --json", "search lattice", "log", "stats", "backup --list", "adjudicate"),
    "export --to jsonl",
]


@pytest.mark.parametrize("words", READING)
def test_what_reads_writes_nothing(
    command: Command, predicted: Path, work: Path, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCIEXTRACT_PROJECT", "p.sciextract")
    before = everything(work)
    result = command(*words.split())
    assert result.code == ExitCode.DONE, result.err
    assert everything(work) == before


@pytest.mark.parametrize("words", [["status"], ["search", "lattice"], ["log"]])
def test_looking_is_light(project: Path, work: Path, words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    )
    assert done.stdout
    assert not HEAVY & set(done.stderr.split())


def test_network_file_systems_are_told(
    command: Command, project: Path, fake: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "network" not in command("status").err
    monkeypatch.setenv("SCIEXTRACT_NETWORK_FS", "1")
    for words in ("init q.sciextract", "import -", "annotate", "status"):
        named = (
            words.split()
            if words.startswith("init")
            else [*words.split(), "--project", "p.sciextract"]
        )
        result = command(*named, stdin="An abstract.")
        assert "lies on a network file system" in result.err
    assert (
        "network"
        not in command("import", "-", "--quiet", "--project", "p.sciextract", stdin="More.").err
    )
