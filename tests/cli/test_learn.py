"""``sciextract learn``: a model of a project's decisions, used wherever a model is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from typer.testing import CliRunner

from sciextract import Extractor
from sciextract.cli.main import make_app
from sciextract.documents.annotations import Span
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import ModelDamagedError, ModelNotFoundError, UsageError
from sciextract.inference.adapter.states import EncoderStates
from sciextract.inference.held_out import FILE as HELD_OUT
from sciextract.inference.model_folder import CONFIG, HEADS, KEPT_BASES, STRINGS, write_manifest
from sciextract.inference.promise import NoPromiseError
from sciextract.learning.adapter import SUGGESTED, WRITTEN
from sciextract.learning.bases import BASES
from sciextract.resources import bundled_models, user_models
from sciextract.retraining.run import prepare
from sciextract.retraining.run_folder import RetrainRequest, StartModelRecord, new_run
from sciextract.retraining.status import StatusWriter
from sciextract.store import create_project, open_project
from sciextract.store.ingest import Import
from sciextract.store.label_changes import add_type
from sciextract.text.analyse import make_document
from sciextract.workflows.learn import Learner, learn_from_project
from sciextract.workflows.models.registry import register
from tests.unit.workflows.alloys import ALLOYS, OWN, finish, text


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six abstracts, of which five are done."""
    path = tmp_path_factory.mktemp("learn") / "metals.sciextract"
    with create_project(path, OWN, "ann") as project:
        documents = [make_document(alloy, text(alloy)) for alloy in ALLOYS]
        Import(project, "import:t", {}).add(
            [(AnnotatedDocument(document), ()) for document in documents]
        )
        for number in range(1, 6):
            finish(project, number)
    return path


@pytest.fixture(scope="module")
def learned(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "metals"
    result = CliRunner().invoke(
        make_app(), ["learn", "--project", str(project), "--output", str(folder), "--json"]
    )
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["learned_from"], found["gate"]) == (5, None)
    assert found["scores"]["documents"] == 5
    assert all(f"{base} " in found["bases"] for base in ("sci", "science", "bio"))
    assert found["scores"]["heads"]["ner"] > 50, "alloys and treatments stand in the same places"
    return folder


def test_types_that_came_after_the_finished_abstracts_are_named(
    project: Path, tmp_path: Path
) -> None:
    copy = shutil.copy(project, tmp_path / "later.sciextract")
    with open_project(copy, "ann") as opened:
        add_type(opened, "entity", "Furnace")
    learned = ["learn", "--project", str(copy), "--output", str(tmp_path / "model")]
    result = CliRunner().invoke(make_app(), learned)
    assert "no abstract has Furnace" in result.output


def test_a_type_that_came_later_is_learned_from_the_abstracts_finished_with_it(
    tmp_path: Path,
) -> None:
    """As well as from these abstracts alone: the others say nothing about it, and still teach their own types."""
    found = {}
    for name, numbers in (("both", range(1, 7)), ("late", range(4, 7))):
        path = tmp_path / f"{name}.sciextract"
        with create_project(path, OWN, "ann") as project:
            documents = [make_document(alloy, text(alloy)) for alloy in ALLOYS]
            Import(project, "import:t", {}).add([(AnnotatedDocument(doc), ()) for doc in documents])
            for number in numbers:
                if number == 4:
                    add_type(project, "entity", "Part")
                if number >= 4:
                    document = documents[number - 1]
                    start = document.text.index("grains")
                    span = Span(start, start + len("grains"))
                    project.actions.add_entity(number, (span,), "Part")
                finish(project, number)
            adapter = learn_from_project(project, EncoderStates(Extractor.load(threads=1)))
        items = adapter.annotate(text("zinc")).annotations.entities
        found[name] = {item.label for item in items}
    assert "Part" in found["late"]
    assert found["both"] >= {"Part", *(label for label in OWN.entity_labels)}


def test_it_scores_as_the_desk_does_and_writes_from_thresholds_of_its_own(
    project: Path, learned: Path
) -> None:
    model = Extractor.load(learned, threads=1)
    with open_project(project, read=True) as opened:
        states = EncoderStates(Extractor.load("sci", threads=1))
        adapter = learn_from_project(opened, states).with_settings()
    for found, wanted in ((model, WRITTEN), (adapter, SUGGESTED)):
        of = found.settings.thresholds
        assert (of.entity, of.relation) == (wanted.entity, wanted.relation)
    document = make_document("new", text("solder"))
    one, other = (predictor.annotate(document).annotations for predictor in (model, adapter))
    assert [(e.span, e.label, e.score) for e in one.entities] == [
        (e.span, e.label, e.score) for e in other.entities
    ]
    assert {(e.fragments[0].of(document.text), e.label) for e in one.entities} == {
        ("solder", "Alloy"), ("annealing", "Heat treatment"),
    }  # fmt: skip
    assert len(one.relations) == len(other.relations)


def test_it_is_a_model_for_every_command(learned: Path, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(
        "".join(json.dumps({"id": alloy, "abstract": text(alloy)}) + "\n" for alloy in ALLOYS)
    )
    alone, many = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    for output, more in ((alone, []), (many, ["--workers", "2"])):
        words = [
            "annotate",
            str(tmp_path / "in.jsonl"),
            "--model",
            str(learned),
            "--output",
            str(output),
            *more,
        ]
        result = CliRunner().invoke(make_app(), words)
        assert result.exit_code == 0, result.output
    assert alone.read_bytes() == many.read_bytes()
    result = CliRunner().invoke(
        make_app(), ["evaluate", str(alone), "--model", str(learned), "--json"]
    )
    assert json.loads(result.stdout)["ner"]["all"]["f1"] == 100


def test_it_is_a_component_of_spacy_that_is_saved_and_loaded(learned: Path, tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    import sciextract.interop.spacy_pipe  # noqa: F401  # registers the component

    nlp = spacy.blank("en")
    nlp.add_pipe("sciextract", config={"model": str(learned)})
    words = text(ALLOYS[0])
    document = nlp(words)
    found = [(span.text, span.label_, span._.score) for span in document.spans["sc"]]
    assert {label for _, label, _ in found} <= set(OWN.entity_labels)
    assert len(found) > 1
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    [document] = loaded.pipe([words])
    assert [(s.text, s.label_, s._.score) for s in document.spans["sc"]] == found


def test_it_travels_as_a_small_file_or_with_its_base(
    learned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "home"))
    for file, more, least, most in (("a.zip", [], 0, 4e6), ("b.zip", ["--with-base"], 2e7, 6e7)):
        result = CliRunner().invoke(
            make_app(), ["models", "export", str(learned), str(tmp_path / file), *more]
        )
        assert result.exit_code == 0, result.output
        assert least < (tmp_path / file).stat().st_size < most
    assert (
        CliRunner()
        .invoke(make_app(), ["models", "import", str(tmp_path / "b.zip"), "--name", "metals"])
        .exit_code
        == 0
    )
    # As on a machine with another edition of the base: only what travelled is there.
    monkeypatch.setattr("sciextract.inference.model_folder.bundled_folders", list)
    assert Extractor.load("metals", threads=1).annotate(text("invar")).annotations.entities
    with pytest.raises(ModelNotFoundError, match="is an adapter on sci-"):
        Extractor.load(learned)


def test_damaged_and_hostile_folders_are_refused(
    learned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "home"))
    about = json.loads((learned / CONFIG).read_text())

    def labelled(*entities: object) -> object:
        return settings(labels={**about["labels"], "entities": list(entities)})

    def changed(name: str, change: object) -> Path:
        folder = tmp_path / name
        shutil.copytree(learned, folder)
        change(folder)  # type: ignore[operator]
        write_manifest(folder)
        return folder

    def tensor(name: str, values: np.ndarray) -> object:
        def change(folder: Path) -> None:
            tensors = load_file(folder / HEADS)
            save_file({**tensors, name: values}, folder / HEADS)

        return change

    def settings(**values: object) -> object:
        def change(folder: Path) -> None:
            config = json.loads((folder / CONFIG).read_text())
            (folder / CONFIG).write_text(json.dumps({**config, **values}))

        return change

    wrong = {
        "shape": tensor("entities.outer", np.zeros((2, 2), np.float32)),
        "nan": tensor(
            "links.weights", load_file(learned / HEADS)["links.weights"] * np.float32("nan")
        ),
        "more": tensor("other", np.zeros(1, np.float32)),
        "pickle": lambda folder: (folder / HEADS).write_bytes(b"\x80\x04."),
        "strings": lambda folder: (folder / STRINGS).write_text('{"surfaces": [1], "heads": []}'),
        "wide": settings(max_span_width=10**9),
        "layer": settings(adapter={"name": "sci", "hash": "0", "layers": ["x"], "finished": 1}),
        "number": labelled(1, "Alloy"),
        "twice": labelled("Alloy", "Alloy"),
        "empty": labelled(" ", "Alloy"),
        "escape": labelled("\x1b[31m", "Alloy"),
        "many": labelled(*map(str, range(100_000))),
        "huge": settings(thresholds={**about["thresholds"], "entity": 10**400}),
    }
    for name, change in wrong.items():
        folder = changed(name, change)
        with pytest.raises(ModelDamagedError):
            Extractor.load(folder)
        assert CliRunner().invoke(make_app(), ["models", "import", str(folder)]).exit_code == 1
    baseless = changed("baseless", settings(adapter={**about["adapter"], "hash": "0" * 64}))
    assert CliRunner().invoke(make_app(), ["models", "import", str(baseless)]).exit_code
    assert not user_models().is_dir() or not any(user_models().iterdir())
    held = changed("held", lambda folder: (folder / HELD_OUT).write_text('{"source": 1}'))
    with pytest.raises(ModelDamagedError, match="source is 1"):
        Extractor.load(held, threads=1).promising({"entity": 0.5})


def test_too_little_to_learn_from(tmp_path: Path) -> None:
    path = tmp_path / "p.sciextract"
    with create_project(path, OWN, "ann") as opened:
        document = make_document("brass", text("brass"))
        Import(opened, "import:t", {}).add([(AnnotatedDocument(document), ())])
    words = ["learn", "--project", str(path), "--output", str(tmp_path / "m")]
    result = CliRunner().invoke(make_app(), words)
    assert result.exit_code == 1 and not (tmp_path / "m").exists()
    with open_project(path, "ann") as opened:
        opened.actions.add_entity(1, [Span(9, 14)], "Alloy")
        opened.actions.mark_done(1, undecided="reject")
    result = CliRunner().invoke(make_app(), words)
    assert result.exit_code == 0 and "takes 4 finished abstracts" in result.output
    refused = CliRunner().invoke(
        make_app(),
        ["annotate", "--sample", "--model", str(tmp_path / "m"), "--promise", "entity=0.9"],
    )
    assert isinstance(refused.exception, UsageError)


def test_a_retraining_starts_from_the_base(
    learned: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "home"))
    run = new_run(project)
    prepared = prepare(
        run,
        RetrainRequest(project=str(project), model=str(learned)),
        StatusWriter(run, lambda event: None),
    )
    assert prepared.start_model.config.name == "sci"
    assert run.record().start_model.id.startswith("sci-")  # type: ignore[union-attr]


def test_a_retraining_of_own_labels_starts_from_what_folds_or_learning_chose(
    learned: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "home"))

    def begin() -> StartModelRecord:
        run = new_run(project)
        prepare(run, RetrainRequest(project=str(project)), StatusWriter(run, lambda event: None))
        found = run.record().start_model
        assert found is not None
        return found

    chosen = begin()
    assert chosen.id.partition("-")[0] in BASES
    assert "folds over 5 finished abstracts" in chosen.why
    metals = register(learned, "metals")
    after = begin()
    assert after.hash == metals.open().base().hash and metals.id in after.why


def test_a_promise_that_no_label_keeps_ends_before_predicting(tmp_path: Path) -> None:
    output = tmp_path / "o.jsonl"
    words = ["annotate", "--sample", "--model", "sci", "--promise", "entity=0.99", "--quiet"]
    refused = CliRunner().invoke(make_app(), [*words, "--output", str(output)])
    assert isinstance(refused.exception, NoPromiseError) and not output.exists()


def test_another_edition_of_the_base_disables_nothing(
    learned: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "home"))
    copied = shutil.copy(project, tmp_path / "metals.sciextract")
    own = ["--project", str(copied)]
    runner, app = CliRunner(), make_app()
    registered = register(learned, "metals")
    runner.invoke(app, ["models", "use", registered.id, *own])
    annotate = ["annotate", "--to", "jsonl", "-", "--model", "metals"]
    before = runner.invoke(app, annotate, input=text("steel"))
    assert before.exit_code == 0, before.output

    editions = tmp_path / "editions"
    shutil.copytree(bundled_models(), editions)
    for name in ("sci", "science", "bio"):
        (editions / name / "README.md").write_text("the next edition")
        write_manifest(editions / name)
    for place in ("inference.model_folder", "workflows.models.choice", "workflows.models.registry"):
        monkeypatch.setattr(f"sciextract.{place}.bundled_models", lambda: editions)
    assert runner.invoke(app, annotate, input=text("steel")).stdout == before.stdout

    shutil.rmtree(user_models() / KEPT_BASES)
    lost = runner.invoke(app, annotate, input=text("steel")).exception
    assert isinstance(lost, ModelNotFoundError)
    assert registered.id not in lost.hint, "it is no model to learn again on"
    assert "sci, science" in lost.hint
    again = runner.invoke(app, ["learn", *own, "--output", str(tmp_path / "again")])
    assert again.exit_code == 0, again.output
    assert "is an adapter on" in again.stderr
    change = Learner(Path(copied), None).learn().change
    assert "instead" in change


@pytest.mark.parametrize("more", [[], ["--workers", "2"]])
def test_what_a_promise_holds_back_is_counted(more: list[str], tmp_path: Path) -> None:
    words = ["annotate", "--sample", "--to", "jsonl", "--candidates", "--json"]
    runs = []
    for name, promise in (("all", []), ("sure", ["--promise", "entity=0.8"])):
        output = tmp_path / f"{name}.jsonl"
        result = CliRunner().invoke(make_app(), [*words, "--output", str(output), *promise, *more])
        assert result.exit_code == 0, result.output
        runs.append(json.loads(result.stdout))
    every, sure = runs
    entities = sum(n for name, n in sure["held_back"].items() if name.startswith("entity "))
    assert 0 < entities == every["entities"] - sure["entities"]
    assert every["held_back"] == {}
    record = json.loads((tmp_path / "sure.jsonl").read_text("utf-8").splitlines()[0])
    assert len(record["candidates"]["spans"]) > len(record["entities"]), "candidates all the same"
