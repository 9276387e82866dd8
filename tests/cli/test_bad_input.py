"""Every mistake that ``annotate`` meets: message, exit code, and nothing lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sciextract.errors import ExitCode
from tests.cli.conftest import Command
from tests.cli.fakes import RuleExtractor

pytestmark = pytest.mark.usefixtures("fake")
GOOD = '{"id": "a", "text": "Lattice parsing."}\n'


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_bad_records_are_named_and_the_others_done(command: Command, tmp_path: Path) -> None:
    path = written(tmp_path / "p.jsonl", '{"id": 1 "x"}\n' + GOOD + '{"id": "b", "year": 1}\n')
    result = command("annotate", path, "--export", "jsonl", "--json")
    assert result.code == ExitCode.PARTIAL
    assert len(result.out.splitlines()) == 1
    assert "p.jsonl:1:10: broken JSON" in result.err
    assert "p.jsonl:3: doc_key 'b': no text" in result.err
    assert json.loads(result.err.splitlines()[-1])["bad"] == 2


def test_nothing_usable(command: Command, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    result = command("annotate", written(tmp_path / "p.jsonl", "{broken\n"), "--output", target)
    assert (result.code, target.exists()) == (ExitCode.FAILED, False)
    assert "p.jsonl:1:2" in result.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"caf\xe9 on ice", "byte 0xe9 at position 3 is not UTF-8"),
        (b"%PDF-1.4 ...", "this is a PDF file"),
    ],
)
def test_unusable_files(command: Command, tmp_path: Path, content: bytes, message: str) -> None:
    path = written(tmp_path / "p.txt", content)
    alone = command("annotate", path, "--export", "jsonl")
    assert (alone.code, alone.out) == (ExitCode.FAILED, "")
    assert message in alone.err
    beside = command("annotate", path, written(tmp_path / "q.jsonl", GOOD), "--export", "jsonl")
    assert (beside.code, len(beside.out.splitlines())) == (ExitCode.PARTIAL, 1)
    assert message in beside.err


def test_missing_input_before_any_output(
    command: Command, tmp_path: Path, fake: RuleExtractor
) -> None:
    target = tmp_path / "out.jsonl"
    good = written(tmp_path / "q.jsonl", GOOD)
    result = command("annotate", good, tmp_path / "no\x1b.jsonl", "--output", target)
    assert (result.code, result.out, target.exists()) == (ExitCode.MISSING, "", False)
    assert "no␛.jsonl: no such file" in result.err and "\x1b" not in result.err
    assert not fake.loaded


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--threshold", "entity"), "TASK=P"),
        (("--threshold", "entity=1.5"), "between 0 and 1"),
        (("--threshold", "entity=0.5,entity=0.6"), "given twice"),
        (("--promise", ""), "TASK=P"),
        (("--promise", "entity=0.5", "--promise", "entity=0.9"), "given twice"),
        (("--threshold", "entity=nan"), "between 0 and 1"),
        (("--threshold", "speed=0.5"), "tasks are entity, relation, coreference"),
        (("--export", "xml"), "formats to write: bioc, "),
        (("--from", "xml"), "formats to read: arxiv, "),
        (("--candidates",), "--to jsonl"),
        (("--resume",), "--output"),
        (("--resume", "--force", "--output", "x"), "cannot be combined"),
        (("--sample",), "cannot be combined"),
        (("--batch-size", "0"), "x>=1"),
        (("--precision", "int2"), "int8"),
        (("--nosuch",), "--nosuch"),
    ],
)
def test_wrong_use(
    command: Command, tmp_path: Path, words: tuple[str, ...], message: str, fake: RuleExtractor
) -> None:
    result = command("annotate", written(tmp_path / "p.jsonl", GOOD), *words)
    assert (result.code, result.out) == (ExitCode.USAGE, "")
    assert message in result.err
    assert not fake.loaded


LONG = "x" * 300


@pytest.mark.parametrize(
    "words",
    [
        ("init", f"{LONG}.sciextract"),
        ("status", "--project", LONG),
        ("import", f"{LONG}.jsonl", "--project", "p.sciextract"),
        ("export", "--to", "brat", "--output", LONG, "--project", "p.sciextract"),
        ("graph", "top", "--graph", LONG),
        ("models", "show", LONG),
    ],
)
def test_names_that_are_too_long(command: Command, work: Path, words: tuple[str, ...]) -> None:
    assert command("init", "p.sciextract").code == ExitCode.DONE
    outcome = command(*words)
    assert outcome.code in (ExitCode.USAGE, ExitCode.MISSING)
    assert LONG in outcome.err and "unexpectedly" not in outcome.err


def test_numbers_that_are_too_large(command: Command, work: Path) -> None:
    assert command("init", "p.sciextract").code == ExitCode.DONE
    for words in (("--limit", 10**20), (f"--limit={10**20}",)):
        outcome = command("search", "x", *words, "--project", "p.sciextract")
        assert outcome.code == ExitCode.USAGE
        assert f"{10**20}: too large a number" in outcome.err
    assert command("search", 10**20, "--project", "p.sciextract").code == ExitCode.FAILED


def test_a_schema_with_other_labels(command: Command, tmp_path: Path) -> None:
    path = written(tmp_path / "p.jsonl", GOOD)
    result = command("annotate", path, "--schema", "genia", "--export", "jsonl")
    assert (result.code, result.out) == (ExitCode.FAILED, "")
    for word in ("'fake'", "'genia'", "Method", "protein"):
        assert word in result.err


def test_an_existing_output_is_kept(command: Command, tmp_path: Path) -> None:
    path, target = written(tmp_path / "p.jsonl", GOOD), written(tmp_path / "o.jsonl", "precious\n")
    result = command("annotate", path, "--output", target)
    assert (result.code, target.read_text()) == (ExitCode.FAILED, "precious\n")
    assert "o.jsonl exists already" in result.err and "--force" in result.err
    assert command("annotate", path, "--output", target, "--force").code == ExitCode.DONE
    assert target.read_text().startswith('{"schema_version"')


@pytest.mark.parametrize("words", [(), ("--force",), ("--resume",)])
def test_the_input_is_never_the_output(
    command: Command, tmp_path: Path, words: tuple[str, ...]
) -> None:
    path = written(tmp_path / "p.jsonl", GOOD)
    for source, target in ((path, path), (tmp_path, tmp_path / "new.jsonl")):
        result = command("annotate", source, "--output", target, *words)
        assert result.code == ExitCode.USAGE
        assert "would be read" in result.err
    assert [file.name for file in tmp_path.iterdir()] == ["p.jsonl"]
    assert path.read_text() == GOOD


def test_output_places_that_cannot_be(command: Command, tmp_path: Path) -> None:
    path = written(tmp_path / "p.jsonl", GOOD)
    folder = command("annotate", path, "--output", tmp_path)
    assert folder.code == ExitCode.FAILED and "is a folder" in folder.err
    lost = command("annotate", path, "--output", tmp_path / "no" / "o.jsonl")
    assert lost.code == ExitCode.FAILED and "mkdir -p" in lost.err
    below = command("annotate", path, "--output", path / "o.jsonl")
    assert below.code == ExitCode.FAILED and "no such folder" in below.err


def test_a_read_only_output(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    path = written(tmp_path / "p.jsonl", GOOD)
    result = command("annotate", path, "--output", tmp_path / "o.jsonl")
    assert result.code == ExitCode.FAILED and "o.jsonl: cannot be written: read-only" in result.err


full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")


@full
def test_a_full_disk(command: Command, tmp_path: Path) -> None:
    path = written(tmp_path / "p.jsonl", GOOD)
    result = command("annotate", path, "--output", "/dev/full")
    assert result.code == ExitCode.FAILED
    assert "/dev/full: the disk is full" in result.err


@full
@pytest.mark.parametrize("words", [("--export", "jsonl"), (), ("--help",)])
def test_a_full_standard_output(tmp_path: Path, words: tuple[str, ...]) -> None:
    path = written(tmp_path / "p.jsonl", GOOD)
    with open("/dev/full", "wb") as out:
        result = subprocess.run(
            [sys.executable, "-m", "tests.cli.fake_main", "annotate", str(path), *words],
            stdout=out,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert result.returncode == ExitCode.FAILED
    assert b"standard output: the disk is full" in result.stderr
    assert b"Traceback" not in result.stderr and b"Exception ignored" not in result.stderr


def test_a_reader_that_leaves(tmp_path: Path) -> None:
    path = written(tmp_path / "p.jsonl", GOOD * 2000)
    line = f"{sys.executable} -m tests.cli.fake_main annotate {path} --export jsonl | head -n 1"
    script = f"set -o pipefail; {line}"
    result = subprocess.run(["bash", "-c", script], capture_output=True, check=False)
    assert (result.returncode, result.stderr) == (ExitCode.DONE, b"")
    assert result.stdout.count(b"\n") == 1


def test_nothing_to_read() -> None:
    words = [sys.executable, "-m", "tests.cli.fake_main", "annotate"]
    result = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert (result.returncode, result.stdout) == (ExitCode.USAGE, b"")
    assert b"annotate --sample" in result.stderr


def test_no_model(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sciextract.inference.extractor import Extractor
    from sciextract.inference.model_folder import locate_model

    monkeypatch.setattr(Extractor, "load", lambda model, *_: locate_model(model))
    path = written(tmp_path / "p.jsonl", GOOD)
    result = command("annotate", path, "--model", "nosuch", "--export", "jsonl")
    assert (result.code, result.out) == (ExitCode.MISSING, "")
    assert "no model is called 'nosuch'" in result.err
    (tmp_path / "encoder").mkdir()
    for name in ("config.json", "model.safetensors"):
        (tmp_path / "encoder" / name).write_text("{}")
    bare = command("annotate", path, "--model", tmp_path / "encoder")
    assert bare.code == ExitCode.USAGE and "sciextract retrain --encoder" in bare.err
