"""``--model bio`` and ``--model auto`` with the models in the package."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sciextract.inference.domain.auto import AutoExtractor
from sciextract.inference.extractor import Extractor
from sciextract.resources import bundled_models, data_root
from tests.cli.conftest import Command

pytestmark = pytest.mark.skipif(
    not (bundled_models() / "bio" / "manifest.json").is_file(), reason="no biomedical model yet"
)
SAMPLE = data_root() / "sample_data" / "biomedical.txt"
COMPUTING = (
    "We train a neural parser for dependency parsing and evaluate it on a benchmark dataset."
)


def found(line: str) -> dict[str, set[str]]:
    """Strings by label."""
    record = json.loads(line)
    words = record["tokens"]
    spans: dict[str, set[str]] = {}
    for sentence in record["ner"]:
        for first, last, label in sentence:
            spans.setdefault(label, set()).add(" ".join(words[first : last + 1]).lower())
    return spans


def test_the_sample_has_chemicals_genes_and_diseases(command: Command) -> None:
    result = command("annotate", SAMPLE, "--model", "bio", "--export", "jsonl", "-q")
    assert result.code == 0
    names = found(result.out)
    assert {"ketoconazole", "dexamethasone"} <= names["Chemical"]
    assert names["Gene"] & {"cyclooxygenase-2", "cyp3a4", "il-6", "interleukin-6"}
    assert any("colitis" in name for name in names["Disease"])


def test_names_inside_compounds_are_found(command: Command) -> None:
    text = "Aspirin-induced ulcers were seen in patients."
    result = command("annotate", "--model", "bio", "--export", "jsonl", "-q", stdin=text)
    record = json.loads(result.out)
    assert [0, 7] in [entity["fragments"][0] for entity in record["entities"]]
    assert record["text"] == text


def test_references_are_mentions_of_clusters_without_a_type() -> None:
    text = "We grew maize on sandy soil. We measured its yield, and we harvested the maize by hand."
    [found] = Extractor.load("science", threads=1)([text])
    said = {entity.id: entity.span.of(text) for entity in found.annotations.entities}
    untyped = {entity.id for entity in found.annotations.entities if not entity.label}
    clusters = [[said[mention] for mention in one.mentions] for one in found.annotations.clusters]
    assert any(cluster.count("We") == 2 and "we" in cluster for cluster in clusters)
    assert untyped <= {mention for one in found.annotations.clusters for mention in one.mentions}
    assert any("maize" in said[mention] for mention in said.keys() - untyped)


def test_auto_chooses_for_each_abstract_and_says_so(command: Command, tmp_path: Path) -> None:
    lines = [{"id": "a", "text": COMPUTING}, {"id": "b", "text": SAMPLE.read_text()}]
    path = tmp_path / "mixed.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = command("annotate", path, "--model", "auto", "--export", "jsonl")
    assert result.code == 0
    records = [json.loads(line) for line in result.out.splitlines()]
    assert [record["model"]["name"] for record in records] == ["sci", "bio"]
    assert "1 by bio@" in result.err and "1 by sci@" in result.err


def test_what_fits_neither_goes_to_science_with_a_remark(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "pulsar.txt"
    path.write_text((data_root() / "sample_data" / "text" / "phy-03.txt").read_text("utf-8"))
    result = command("annotate", path, "--model", "auto", "--export", "jsonl", "--json")
    assert result.code == 0
    record = json.loads(result.out)
    assert record["model"]["name"] == "science"
    assert {entity["label"] for entity in record["entities"]} <= {
        "",
        "Process",
        "Method",
        "Material",
        "Data",
    }
    assert len(record["warnings"]) == 1 and "fit neither" in record["warnings"][0]
    assert result.err.count("fit neither") == 1
    assert json.loads(result.err.splitlines()[-1])["fits_neither"] == 1
    in_workers = command("annotate", path, "--model", "auto", "--export", "jsonl", "--workers", "1")
    assert in_workers.out == result.out
    project = tmp_path / "stars.sciextract"
    assert command("init", project, "--schema", "science").code == 0
    predicted = command("annotate", path, "--project", project, "--model", "auto")
    assert predicted.code == 0
    assert "auto chose science" in predicted.err and "fit neither" in predicted.err


def test_auto_goes_on_where_it_stopped(command: Command, tmp_path: Path) -> None:
    path, output = tmp_path / "mixed.jsonl", tmp_path / "out.jsonl"
    lines = [{"id": "b", "text": SAMPLE.read_text()}, {"id": "a", "text": COMPUTING}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = ("annotate", path, "--model", "auto", "--output", output)
    assert command(*words).code == 0
    whole = output.read_bytes()
    output.write_bytes(whole[: whole.index(b"\n") + 5])
    assert command(*words, "--resume").code == 0
    assert output.read_bytes() == whole
    refused = command("annotate", path, "--model", "sci", "--output", output, "--resume")
    assert refused.code == 1 and "written by bio@" in refused.err


def test_auto_loads_what_it_needs_only() -> None:
    loaded: list[str] = []

    def load(name: str) -> Extractor:
        loaded.append(name)
        return Extractor.load(name, threads=1)

    auto = AutoExtractor(load, workers=1)
    [document] = Extractor.load("sci", threads=1)([COMPUTING])
    assert auto.annotate(document.document).model == document.model
    assert loaded == ["sci"]
    assert {"Task", "Chemical", "Process"} <= set(auto.config.labels.entities)


def test_auto_is_no_model_of_its_own(command: Command) -> None:
    result = command("models", "use", "auto")
    assert result.code == 2 and "sci" in result.err


def test_a_project_of_medicine_gets_the_biomedical_model(command: Command, tmp_path: Path) -> None:
    project = tmp_path / "gut.sciextract"
    assert command("init", project, "--schema", "bio").code == 0
    result = command("annotate", SAMPLE, "--project", project, "--model", "auto")
    assert result.code == 0 and "auto chose bio" in result.err
    other = tmp_path / "other.sciextract"
    assert command("init", other).code == 0
    refused = command("annotate", SAMPLE, "--project", other, "--model", "auto")
    assert refused.code == 1 and "--schema bio" in refused.err


def test_evaluate_takes_it(command: Command) -> None:
    gold = data_root() / "sample_data" / "gold.jsonl"
    words = ("evaluate", gold, "--no-bootstrap", "--json", "--model")
    auto, sci = (json.loads(command(*words, name).out) for name in ("auto", "sci"))
    assert auto == sci
