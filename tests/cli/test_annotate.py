"""``sciextract annotate`` on good input."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sciextract.cli.main import main
from sciextract.errors import ExitCode
from sciextract.resources import data_root
from tests.cli.conftest import Command
from tests.cli.fakes import MODEL, RuleExtractor

pytestmark = pytest.mark.usefixtures("fake")
RECORDS: list[dict[str, Any]] = [
    {"id": "a", "text": "Lattice parsing helps lattice decoding [12].", "year": 2020},
    {"id": "b", "title": "Kernels", "abstract": "We rank proteins."},
    {"id": "c", "text": ""},
]


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    path = tmp_path / "papers.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS), encoding="utf-8")
    return path


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_export_is_data_only_and_valid(command: Command, papers: Path) -> None:
    result = command("annotate", papers, "--export", "jsonl", "--candidates")
    assert result.code == ExitCode.DONE
    records = lines(result.out)
    schema = json.loads((data_root() / "schemas" / "export.schema.json").read_text("utf-8"))
    for record in records:
        Draft202012Validator(schema).validate(record)
    assert [record["doc_key"] for record in records] == ["a", "b", "c"]
    assert records[0]["ner"][0][0] == [0, 0, "Method"]
    assert records[0]["year"] == 2020
    assert records[0]["model"] == {"name": MODEL.name, "hash": MODEL.hash}
    assert records[0]["candidates"]["spans"]
    assert "3 abstracts: 6 entities, 4 relations, 0 clusters" in result.err


def test_without_candidates_none_are_written(command: Command, papers: Path) -> None:
    records = lines(command("annotate", papers, "--export", "jsonl").out)
    assert not any("candidates" in record for record in records)


def test_scierc_has_the_original_fields(command: Command, papers: Path) -> None:
    [first, *_] = lines(command("annotate", papers, "--export", "scierc").out)
    assert set(first) == {"doc_key", "sentences", "ner", "relations", "clusters"}


def test_output_goes_to_the_file(command: Command, papers: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    result = command("annotate", papers, "--output", path, "--json", "--quiet")
    assert result.err == ""
    values = json.loads(result.out)
    assert (values["documents"], values["bad"], values["entities"]) == (3, 0, 6)
    assert (values["output"], values["export"]) == (str(path), "jsonl")
    assert values["model"]["name"] == "fake"
    assert path.read_text("utf-8") == command("annotate", papers, "--export", "jsonl").out


def test_the_summary_leaves_standard_output_to_the_data(command: Command, papers: Path) -> None:
    result = command("annotate", papers, "--export", "jsonl", "--output", "-", "--json")
    assert len(lines(result.out)) == 3
    assert json.loads(result.err)["output"] is None


def test_standard_input(command: Command) -> None:
    text = "Lattice parsing."
    assert lines(command("annotate", "--export", "jsonl", stdin=text).out)[0]["text"] == text
    assert lines(command("annotate", "-", "--export", "jsonl", stdin=text).out)[0]["text"] == text


def test_named_inputs_leave_standard_input_alone(
    papers: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe that never ends must not block, and a shell loop keeps its list of files."""
    read_end, write_end = os.pipe()
    os.write(write_end, b"next.txt")
    with open(read_end, encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(SystemExit) as leaving:
            main(["annotate", str(papers), "--output", str(work / "out.jsonl")])
        assert leaving.value.code == ExitCode.DONE
        os.close(write_end)
        assert os.read(read_end, 100) == b"next.txt"


def test_folders_files_and_pipes_keep_their_order(
    command: Command, papers: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("z.txt", "m.txt"):
        (folder / name).write_text("Kernels.", encoding="utf-8")
    result = command("annotate", folder, "-", papers, "--export", "jsonl", stdin="Piped.")
    keys = [record["doc_key"] for record in lines(result.out)]
    assert keys == ["m", "z", "stdin", "a", "b", "c"]


def test_tokenised_input_keeps_its_tokens(command: Command) -> None:
    record = {"doc_key": "t", "sentences": [["Lattice", "-LRB-", "x", "-RRB-"]]}
    result = command("annotate", "--export", "scierc", stdin=json.dumps(record))
    assert lines(result.out)[0]["sentences"] == record["sentences"]


def test_predictions_go_beside_the_gold_of_the_input(command: Command, papers: Path) -> None:
    gold = {
        "doc_key": "graphs",
        "sentences": [["Parsers", "rank", "proteins", "."]],
        "ner": [[[2, 2, "Material"]]],
        "predicted_ner": [[[3, 3, "Task"]]],
    }
    words = ("annotate", "--export", "scierc")
    plain = json.loads(command(*words, stdin=json.dumps(gold)).out)
    beside = json.loads(command(*words, "--predicted", stdin=json.dumps(gold)).out)
    assert beside["sentences"] == gold["sentences"]
    assert (beside["ner"], beside["relations"], beside["clusters"]) == (gold["ner"], [[]], [])
    assert plain["ner"] != gold["ner"]
    assert [beside[f"predicted_{name}"] for name in ("ner", "relations", "clusters")] == [
        plain[name] for name in ("ner", "relations", "clusters")
    ]
    for refused in (("--export", "jsonl"), ("--export", "scierc", "--workers", "2")):
        assert command("annotate", papers, "--predicted", *refused).code == ExitCode.USAGE


def test_options_reach_the_model(command: Command, papers: Path, fake: RuleExtractor) -> None:
    words = ("--threshold", "entity=0.6", "--threshold", "relation=0.4", "--threads", "1")
    more = ("--only", "Method,Task", "--batch-tokens", "4096")
    command("annotate", papers, "--model", "mine", "--precision", "fp32", *words, *more)
    assert fake.only == ("Method", "Task")
    assert fake.thresholds == {"entity": 0.6, "relation": 0.4}
    assert fake.loaded == {
        "model": "mine", "threads": 1, "precision": "fp32", "batch_size": None,
        "batch_tokens": 4096, "device": "cpu",
    }  # fmt: skip


def test_a_label_that_the_model_lacks_is_refused(command: Command, papers: Path) -> None:
    result = command("annotate", papers, "--only", "Method,Gene")
    assert result.code == ExitCode.USAGE
    assert "no entity label 'Gene'" in result.err


def test_a_schema_with_the_same_labels_is_welcome(command: Command, papers: Path) -> None:
    assert command("annotate", papers, "--schema", "scierc").code == ExitCode.DONE


def test_sample(command: Command) -> None:
    result = command("annotate", "--sample", "--export", "jsonl")
    assert (result.code, len(lines(result.out))) == (ExitCode.DONE, 26)


def test_other_languages_are_a_warning(command: Command, tmp_path: Path) -> None:
    german = "Wir zeigen die Ergebnisse einer Studie und vergleichen diese mit den Daten. " * 4
    path = tmp_path / "german.jsonl"
    records = [json.dumps({"id": f"de-{row}", "text": german}) for row in range(8)]
    path.write_text("\n".join(records), encoding="utf-8")
    result = command("annotate", path, "--export", "jsonl", "--json")
    assert result.code == ExitCode.DONE
    assert "does not look English" in lines(result.out)[7]["warnings"][0]
    assert "7 more abstracts like 'de-0'" in result.err
    assert json.loads(result.err.splitlines()[-1])["other_language"] == 8


def test_help_shows_examples_and_every_word(command: Command) -> None:
    text = command("annotate", "--help").out
    for word in ("INPUT", "--export", "--resume", "TASK=P", "--sample", "annotate papers.jsonl"):
        assert word in text
