from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from sciextract.cli.evaluate import evaluate
from sciextract.documents.annotations import Annotations
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import ExitCode, InputMissingError, SchemaError, UsageError
from sciextract.inference.decoding import RelationLayout
from sciextract.resources import bundled_models
from sciextract.workflows.evaluate import DocumentMismatchError

SENTENCES = [
    ["A", "lattice", "parser", "beats", "a", "chart", "parser", "."],
    ["It", "reads", "noisy", "subtitles", "[12]", "."],
]
GOLD: dict[str, Any] = {
    "doc_key": "parsers",
    "sentences": SENTENCES,
    "ner": [[[1, 2, "Method"], [5, 6, "Method"]], [[8, 8, "Generic"], [10, 11, "Material"]]],
    "relations": [[[1, 2, 5, 6, "COMPARE"]], [[10, 11, 8, 8, "USED-FOR"]]],
    "clusters": [[[1, 2], [8, 8]]],
}
TURNED = GOLD | {"relations": [[[5, 6, 1, 2, "COMPARE"]], []]}


@pytest.fixture
def runner() -> CliRunner:
    return CliRunner()


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return written(tmp_path / "gold.jsonl", GOLD)


def written(path: Path, *records: dict[str, Any] | str) -> Path:
    lines = [line if isinstance(line, str) else json.dumps(line) for line in records]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def run(runner: CliRunner, *arguments: object, stdin: str | None = None) -> Result:
    app = typer.Typer()
    app.command()(evaluate)
    app.callback()(lambda: None)
    words = ["evaluate", *map(str, arguments)]
    return runner.invoke(app, words, input=stdin, env={"COLUMNS": "80", "NO_COLOR": "1"})


def test_gold_against_itself(runner: CliRunner, gold: Path) -> None:
    result = run(runner, gold, gold, "--json")
    assert (result.exit_code, result.stderr) == (ExitCode.DONE, "")
    values = json.loads(result.stdout)
    assert values["documents"] == 1
    assert values["counts"]["gold"] == {
        "entities": 4,
        "relations": 2,
        "clusters": 1,
        "mentions": 2,
    }
    assert values["ner"]["labels"]["Method"]["gold"] == 2
    assert values["relation"]["boundaries"]["doubled"]["gold"] == 3
    assert values["coreference"]["conll"]["f1"] == 100
    assert values["intervals"]["ner.all"] == {"low": 100, "high": 100}


def test_symmetric_labels_come_from_the_schema(
    runner: CliRunner, gold: Path, tmp_path: Path
) -> None:
    turned = written(tmp_path / "turned.jsonl", TURNED)
    scierc = json.loads(run(runner, gold, turned, "--json").stdout)["relation"]["boundaries"]
    assert [scierc[rule]["correct"] for rule in ("ordered", "unordered", "directed")] == [1, 1, 0]
    assert (scierc["doubled"]["correct"], scierc["doubled"]["gold"]) == (2, 3)
    genia = run(runner, gold, turned, "--json", "--schema", "genia")
    assert json.loads(genia.stdout)["relation"]["boundaries"]["unordered"]["correct"] == 0
    assert "'COMPARE'" in genia.stderr and "--schema" in genia.stderr


def test_tables_for_people(runner: CliRunner, gold: Path, tmp_path: Path) -> None:
    result = run(runner, gold, written(tmp_path / "turned.jsonl", TURNED))
    assert (
        result.exit_code == ExitCode.DONE and "1 symmetric relation the other way" in result.stderr
    )
    cells = [line.split() for line in result.stdout.splitlines()]
    rows = {" ".join(row[:-6]): row[-6:] for row in cells if len(row) > 6}
    assert rows["relations, unordered"] == ["100.0", "50.0", "66.7", "2", "1", "1"]
    assert rows["entity Method"] == ["100.0", "100.0", "100.0", "2", "2", "2"]
    assert any(row[:2] == ["relation", "USED-FOR"] for row in cells)
    assert "MUC, B3, CEAFe" in result.stdout


def test_no_interval_without_bootstrap(runner: CliRunner, gold: Path) -> None:
    result = run(runner, gold, gold, "--json", "--no-bootstrap")
    assert json.loads(result.stdout)["intervals"] == {}


def test_labels_are_shown_as_text(runner: CliRunner, tmp_path: Path) -> None:
    hostile = GOLD | {"ner": [[[1, 2, "[bold]x[/bold]"], [5, 6, "\x1b[31mred"]], []]}
    path = written(tmp_path / "hostile.jsonl", hostile | {"relations": [[], []], "clusters": []})
    result = run(runner, path, path)
    assert "[bold]x[/bold]" in result.stdout
    assert "␛[31mred" in result.stdout and "\x1b" not in result.stdout
    assert "entity [bold]x[/bold]" in run(runner, path, path).stdout


def test_bad_records_are_named_and_the_rest_is_scored(runner: CliRunner, tmp_path: Path) -> None:
    gold = written(tmp_path / "gold.jsonl", "{broken", GOLD)
    predicted = written(tmp_path / "predicted.jsonl", GOLD | {"doc_key": "lost"}, GOLD)
    result = run(runner, gold, predicted, "--json")
    assert result.exit_code == ExitCode.PARTIAL
    assert json.loads(result.stdout)["ner"]["all"]["f1"] == 100
    assert "gold.jsonl:1" in result.stderr
    assert "1 document predicted but not in gold, first 'lost'; left out" in result.stderr


def test_missing_predictions_are_a_warning(runner: CliRunner, gold: Path, tmp_path: Path) -> None:
    both = written(tmp_path / "both.jsonl", GOLD, GOLD | {"doc_key": "other"})
    result = run(runner, both, gold, "--json")
    assert result.exit_code == ExitCode.DONE
    assert json.loads(result.stdout)["ner"]["all"]["recall"] == 50
    assert "first 'other'" in result.stderr


def test_annotations_that_are_not_read_are_named(runner: CliRunner, tmp_path: Path) -> None:
    text = "We rank trees with tree kernels."
    gold = written(tmp_path / "gold.jsonl", {"id": "a", "text": text, "label": [[3, 7, "Task"]]})
    spans = [{"start": 3, "end": 7, "label": "Task"}]
    result = run(
        runner, gold, written(tmp_path / "p.jsonl", {"id": "a", "text": text, "spans": spans})
    )
    assert "'spans'" in result.stderr and "predicted" in result.stderr


def test_standard_input(runner: CliRunner, gold: Path) -> None:
    result = run(runner, gold, "-", "--json", stdin=json.dumps(GOLD) + "\n")
    assert json.loads(result.stdout)["ner"]["all"]["f1"] == 100


BESIDE = GOLD | {
    "predicted_ner": [[[1, 2, "Method"]], [[8, 8, "Task"]]],
    "predicted_relations": [[[1, 2, 5, 6, "COMPARE"]], []],
}


def test_predictions_beside_gold_are_the_predictions(
    runner: CliRunner, gold: Path, tmp_path: Path
) -> None:
    beside = written(tmp_path / "beside.jsonl", BESIDE)
    result = run(runner, beside, beside, "--json")
    values = json.loads(result.stdout)
    ner, relation = values["ner"]["all"], values["relation"]["boundaries"]["ordered"]
    assert (ner["gold"], ner["predicted"], ner["correct"]) == (4, 2, 1)
    assert (relation["gold"], relation["predicted"], relation["correct"]) == (2, 1, 1)
    assert values["counts"]["predicted"]["clusters"] == 0
    assert (
        "beside.jsonl: predicted_ner, predicted_relations read, ner, relations, clusters left"
        in result.stderr
    )
    chosen = run(runner, gold, beside, "--json", "--fields", "gold")
    assert json.loads(chosen.stdout)["ner"]["all"]["f1"] == 100
    error = run(runner, beside, gold, "--fields", "predicted").exception
    assert isinstance(error, UsageError)
    assert "gold.jsonl: --fields predicted" in str(error) and "ner, relations" in error.hint


@pytest.mark.parametrize(
    "relations",
    [
        {"predicted_rel": [[[1, 2, 5, 6, "COMPARE"]], [[10, 11, 8, 8, "USED-FOR"]]]},
        {
            "predicted_re": [
                [1, [[[10, 11], [8, 8], "USED-FOR"]]],
                [0, [[[1, 2], [5, 6], "COMPARE"]]],
            ]
        },
    ],
)
def test_relations_as_hgere_and_pl_marker_name_them(
    runner: CliRunner, gold: Path, tmp_path: Path, relations: dict[str, Any]
) -> None:
    record = GOLD | {"relations": [[], []], "predicted_ner": GOLD["ner"]} | relations
    result = run(runner, gold, written(tmp_path / "other.jsonl", record), "--json")
    assert json.loads(result.stdout)["relation"]["strict"]["ordered"]["f1"] == 100
    broken = record | {"predicted_rel": None, "predicted_re": [[2, []]]}
    error = run(runner, gold, written(tmp_path / "broken.jsonl", broken)).stderr
    assert "predicted_re[0]: 2 found; expected a sentence from 0 to 1" in error


def test_documents_without_keys_are_matched_by_text(runner: CliRunner, tmp_path: Path) -> None:
    other = {"sentences": [["Noise", "hurts", "."]], "ner": [[[0, 0, "Task"]]]}
    keyless = {name: value for name, value in GOLD.items() if name != "doc_key"}
    gold = written(tmp_path / "gold.jsonl", keyless, other)
    predicted = written(tmp_path / "predicted.jsonl", other, keyless)
    result = run(runner, gold, predicted, "--json")
    assert json.loads(result.stdout)["ner"]["all"]["f1"] == 100
    assert (
        "2 documents matched by text, because the doc_keys differ; "
        "first: gold 'gold:1', predicted 'predicted:2'" in result.stderr
    )


def test_white_space_may_differ(runner: CliRunner, gold: Path, tmp_path: Path) -> None:
    split = GOLD | {
        "sentences": [["A", "lat", "tice", *SENTENCES[0][2:]], SENTENCES[1]],
        "ner": [[[1, 3, "Method"], [7, 7, "Method"]], [[9, 9, "Generic"], [11, 12, "Material"]]],
        "relations": [[[1, 3, 6, 7, "COMPARE"]], []],
        "clusters": [[[1, 3], [9, 9]]],
    }
    result = run(runner, gold, written(tmp_path / "split.jsonl", split), "--json")
    values = json.loads(result.stdout)
    assert values["ner"]["all"]["correct"] == 3
    assert values["relation"]["boundaries"]["ordered"]["correct"] == 1
    assert values["coreference"]["conll"]["f1"] == 100
    assert "1 document with other white space than gold" in result.stderr


def test_labels_that_gold_and_predictions_name_differently_are_said(
    runner: CliRunner, gold: Path, tmp_path: Path
) -> None:
    loud = [
        [[start, end, label.upper()] for start, end, label in sentence] for sentence in GOLD["ner"]
    ]
    result = run(runner, gold, written(tmp_path / "loud.jsonl", GOLD | {"ner": loud}))
    assert result.exit_code == ExitCode.DONE
    assert "no label in common" in result.stderr and "METHOD=Method" in result.stderr


def test_the_format_of_both_files_can_be_named(runner: CliRunner, gold: Path) -> None:
    assert run(runner, gold, gold, "--from", "scierc").exit_code == ExitCode.DONE
    other = run(runner, gold, gold, "--from", "conll")
    assert isinstance(other.exception, DocumentMismatchError), "read as CoNLL it has no sentence"


def test_only_some_labels_count(runner: CliRunner, gold: Path, tmp_path: Path) -> None:
    turned = written(tmp_path / "turned.jsonl", TURNED)
    values = json.loads(run(runner, gold, turned, "--json", "--only", "Method").stdout)
    assert list(values["ner"]["labels"]) == ["Method"]
    assert values["counts"]["gold"] == {
        "entities": 2,
        "relations": 1,
        "clusters": 0,
        "mentions": 0,
    }
    error = run(runner, gold, turned, "--only", "Method,Metod").exception
    assert isinstance(error, UsageError)
    assert "--only 'Metod'" in str(error) and "Generic, Material, Method" in error.hint


def test_singletons_count_where_that_is_wanted(runner: CliRunner, tmp_path: Path) -> None:
    path = written(tmp_path / "single.jsonl", GOLD | {"clusters": [[[1, 2], [8, 8]], [[5, 6]]]})
    for words, mentions in (((), 2), (("--singletons",), 3)):
        values = json.loads(run(runner, path, path, "--json", *words).stdout)
        assert values["counts"]["gold"]["mentions"] == mentions
    assert "one mention" in run(runner, path, path, "--singletons").stdout


def test_errors_name_their_cause(runner: CliRunner, gold: Path, tmp_path: Path) -> None:
    extra = written(tmp_path / "extra.jsonl", GOLD, GOLD | {"doc_key": "other"})
    expected: list[tuple[type[Exception], str, tuple[object, ...]]] = [
        (InputMissingError, "absent.jsonl", (gold, tmp_path / "absent.jsonl")),
        (DocumentMismatchError, "not in gold, first 'other'", (gold, extra)),
        (UsageError, "cannot be combined", (gold, gold, "--model", "sci")),
        (UsageError, "both be standard input", ("-", "-")),
        (SchemaError, "nosuch", (gold, gold, "--schema", "nosuch")),
    ]
    for kind, message, arguments in expected:
        error = run(runner, *arguments).exception
        assert isinstance(error, kind)
        assert message in str(error)


class EchoExtractor:
    """Predicts the entities it was given for a document, no relations and no clusters."""

    loaded: object = None
    config = SimpleNamespace(
        name="echo",
        schema_name="scierc",
        labels=SimpleNamespace(relations=RelationLayout(("USED-FOR", "COMPARE"), frozenset())),
        given_entities=False,
    )
    known: AnnotatedDocument

    @classmethod
    def load(cls, model: object, *_: object) -> EchoExtractor:
        cls.loaded = model
        return cls()

    def with_settings(self, *_: object) -> EchoExtractor:
        return self

    def stream(self, documents: Iterable[Document]) -> Iterator[AnnotatedDocument]:
        items = Annotations(self.known.annotations.entities)
        for document in documents:
            yield replace(self.known, document=document, annotations=items)


@pytest.mark.parametrize("arguments", [(), ("--model", "sci")])
def test_a_model_predicts_when_there_is_no_file(
    runner: CliRunner, gold: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    from sciextract.formats import read

    (known,) = read([gold])
    assert isinstance(known, AnnotatedDocument)
    monkeypatch.setattr(EchoExtractor, "known", known, raising=False)
    module = ModuleType("sciextract.inference.extractor")
    monkeypatch.setattr(module, "Extractor", EchoExtractor, raising=False)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    result = run(runner, gold, *arguments, "--json")
    assert EchoExtractor.loaded == (arguments[1] if arguments else bundled_models() / "sci")
    values = json.loads(result.stdout)
    assert (values["ner"]["all"]["f1"], values["relation"]["strict"]["ordered"]["f1"]) == (100, 0)


def test_help_names_every_word(runner: CliRunner) -> None:
    text = run(runner, "--help").stdout
    for word in ("GOLD", "PREDICTED", "--model", "--schema", "--json", "--no-bootstrap"):
        assert word in text
