"""What works beside the keys: imports and predictions in threads, and how they end."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from textual.widgets import Input

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.schema_file import load_schema
from sciextract.errors import ModelNotFoundError
from sciextract.resources import bundled_models
from sciextract.store import create_project, open_project
from sciextract.store.maintenance.checks import Severity
from sciextract.store.maintenance.doctor import examine
from sciextract.workflows.import_files import import_files
from sciextract.workflows.model_choice import ModelChoice
from sciextract.workflows.models.registry import register
from sciextract_app.opening import recent_projects
from sciextract_app.start import StartScreen
from sciextract_app.widgets.dialogs import TextDialog
from tests.app.screens_support import (
    desk_of,
    made_project,
    opened,
    shown,
    states,
    until,
    until_shown,
)
from tests.cli.fakes import RuleExtractor
from tests.cli.test_installed_models import distribution
from tests.unit.workflows.models.builders import model_folder

pytestmark = pytest.mark.asyncio

BIB = """@article{good, title={Parsers}, abstract={A parser learns grammars.}, year={2020}}
@article{bad, title={Broken, abstract={Never closed, year={2021}
"""


class SlowExtractor(RuleExtractor):
    """Predicts an abstract only when it is let."""

    def __init__(self) -> None:
        super().__init__(candidates=True)
        self.turn = threading.Semaphore(0)
        self.seen: list[str] = []

    def stream(self, documents: Iterable[Document], /) -> Iterator[AnnotatedDocument]:
        for document in documents:
            assert self.turn.acquire(timeout=30)
            self.seen.append(document.text)
            yield self.annotate(document)


class FailingExtractor(RuleExtractor):
    """A model that nobody foresaw."""

    def annotate(self, document: Document, /) -> AnnotatedDocument:
        raise ZeroDivisionError("secret")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made_project(tmp_path, predicted=False)


class TestPredicting:
    @pytest.mark.parametrize("schema", ["empty", "genia"])
    async def test_a_model_that_knows_no_type_of_the_project_suggests_nothing(
        self, tmp_path: Path, schema: str
    ) -> None:
        path = tmp_path / "own.sciextract"
        (tmp_path / "a.txt").write_text("A parser learns grammars.")
        with create_project(path, load_schema(schema)) as made:
            import_files(made, [str(tmp_path / "a.txt")])
        async with opened(path, load=RuleExtractor) as (app, pilot):
            await app.workers.wait_for_complete()
            if schema != "empty":
                await pilot.press("escape")  # sources of suggestions are offered
            await until_shown(pilot, "no model suggests yet")

    async def test_what_needs_it_is_predicted(self, project: Path) -> None:
        async with opened(project, load=RuleExtractor) as (app, pilot):
            await until_shown(pilot, "3 abstracts predicted")
            assert desk_of(app).desk.focus is not None  # nothing was there to look at before
            await pilot.press("enter")
        assert "accepted" in states(project)

    async def test_the_open_abstract_comes_first_and_keys_are_answered(self, project: Path) -> None:
        model = SlowExtractor()
        async with opened(project) as (_, pilot):
            await pilot.press("n", "n", "ctrl+q")
        async with opened(project, load=lambda: model) as (app, pilot):
            await pilot.press("F", "p")  # answered while the model waits
            assert desk_of(app).desk.number == 2
            model.turn.release()
            await until(pilot, lambda: len(model.seen) == 1)
            assert model.seen[0].startswith("Nothing is long")
            await until(pilot, lambda: desk_of(app).predictions.progress == (1, 3))
            model.turn.release(2)
            await until_shown(pilot, "3 abstracts predicted")
        with open_project(project) as again:
            progress = again.document_state(3).progress
            assert progress is not None
            assert progress.flagged

    async def test_a_key_before_the_prediction_keeps_the_focus(self, project: Path) -> None:
        model = SlowExtractor()
        async with opened(project, load=lambda: model) as (app, pilot):
            await pilot.press("l")
            model.turn.release(3)
            await until_shown(pilot, "3 abstracts predicted")
            assert desk_of(app).desk.focus is None

    async def test_leaving_meanwhile_leaves_a_sound_project(self, project: Path) -> None:
        model = SlowExtractor()
        async with opened(project, load=lambda: model) as (app, pilot):
            model.turn.release()
            await until(pilot, lambda: model.seen)
            await pilot.press("ctrl+q")
            model.turn.release(10)
            await until(pilot, lambda: not app.is_running)
        bad = [
            finding for finding in examine(project).findings if finding.severity is Severity.ERROR
        ]
        assert not bad
        with open_project(project) as again:
            assert len(again.document_state(1).entities) > 0
            assert again.document_state(3).entities == []

    async def test_a_missing_model_is_told_and_reading_goes_on(self, project: Path) -> None:
        def load() -> RuleExtractor:
            raise ModelNotFoundError("no model 'x'", "sciextract tui --model sci")

        async with opened(project, load=load) as (app, pilot):
            await until_shown(pilot, "no predictions: no model 'x'")
            await pilot.press("n")
            assert desk_of(app).desk.number == 2

    @pytest.mark.skipif(
        not (bundled_models() / "sci").is_dir(), reason="data set absent: bundled model"
    )
    async def test_models_without_their_folder_are_named_and_the_bundled_one_predicts(
        self, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site = tmp_path / "site"
        site.mkdir()
        monkeypatch.syspath_prepend(site)
        distribution(site, "sciextract-far", "far = sciextract_far:model")
        own = register(model_folder(tmp_path / "made", "mine"))
        (own.folder / "model.int8.onnx").unlink()
        load = lambda: ModelChoice(candidates=True).load_for(project)
        async with opened(project, load=load) as (app, pilot):
            skipped = "models far, mine are skipped"
            await until_shown(pilot, f"3 abstracts predicted; {skipped}")
            await pilot.press("f6")  # nothing is left to predict
            await until_shown(pilot, f" ! {skipped}")
            assert desk_of(app).predictions.model == "sci"
        assert states(project), "the bundled model predicted"

    async def test_a_crash_of_the_model_is_reported_and_reading_goes_on(
        self, project: Path
    ) -> None:
        async with opened(project, load=FailingExtractor) as (app, pilot):
            await until_shown(pilot, "ZeroDivisionError")
            await pilot.press("n")
            assert desk_of(app).desk.number == 2
            assert "secret" not in shown(pilot)

    async def test_without_a_model_nothing_is_predicted(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            desk_of(app).action_predict()
            await pilot.pause()
        assert states(project) == []


class TestImporting:
    async def test_a_file_gets_a_project_and_bad_records_a_dialog(self, tmp_path: Path) -> None:
        (tmp_path / "refs.bib").write_text(BIB)
        async with opened(tmp_path / "refs.bib", load=RuleExtractor) as (app, pilot):
            await until(pilot, lambda: isinstance(app.screen, TextDialog))
            await until_shown(pilot, "broken entry")
            await pilot.press("escape")
            await until_shown(pilot, "Parsers")
            await pilot.press("enter")
        assert "accepted" in states(tmp_path / "refs.sciextract")

    async def test_the_second_time_nothing_is_doubled(self, tmp_path: Path) -> None:
        file = tmp_path / "refs.bib"
        file.write_text(BIB.partition("\n")[0])
        async with opened(file) as (app, pilot):
            await until(pilot, lambda: desk_of(app).desk.number)
            await pilot.press("F")
        events = len(open_project(tmp_path / "refs.sciextract").log())
        async with opened(file) as (app, pilot):
            assert desk_of(app).listing.count() == 1
        file.write_text(BIB.partition("\n")[0] + "\n@article{two, abstract={A second one.}}")
        async with opened(file) as (app, pilot):
            await until(pilot, lambda: desk_of(app).listing.count() == 2)
        log = open_project(tmp_path / "refs.sciextract").log()
        assert len(log) == events + 1

    async def test_a_project_made_anew_gets_its_files_again(self, tmp_path: Path) -> None:
        file = tmp_path / "refs.bib"
        file.write_text(BIB.partition("\n")[0])
        for _ in range(2):
            (tmp_path / "refs.sciextract").unlink(missing_ok=True)
            async with opened(file) as (app, pilot):
                await until(pilot, lambda: desk_of(app).listing.count() == 1)

    async def test_an_unusable_file_is_told(self, project: Path, tmp_path: Path) -> None:
        (tmp_path / "x.bib").write_text("\x00\x01\x02")
        async with opened(project, tmp_path / "x.bib") as (_, pilot):
            await until_shown(pilot, "nothing imported")

    async def test_an_empty_project_says_what_to_do(self, tmp_path: Path) -> None:
        (tmp_path / "in").mkdir()
        async with opened(tmp_path / "in") as (app, pilot):
            await until_shown(pilot, "F5 imports files")
            await pilot.press("enter", "D", "A", "x", "slash", "escape")
            assert app.is_running


class TestStartScreen:
    @pytest.fixture(autouse=True)
    def here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "empty").mkdir()
        monkeypatch.chdir(tmp_path / "empty")

    async def test_it_offers_the_recent_projects(self, project: Path) -> None:
        async with opened(project):
            pass
        async with opened() as (app, pilot):
            assert isinstance(app.screen, StartScreen)
            assert project.name in shown(pilot)
            assert "0 of 3 done" in shown(pilot)
            await pilot.press("enter")
            await until(pilot, lambda: app.project is not None)

    async def test_the_sample_project(self) -> None:
        async with opened() as (_app, pilot):
            await pilot.press("s")
            await until_shown(pilot, "endangered")
            assert [recent.path.name for recent in recent_projects()] == ["sample.sciextract"]

    async def test_a_path_can_be_typed(self, project: Path) -> None:
        async with opened() as (app, pilot):
            await pilot.press("o")
            app.screen.query_one(Input).value = str(project)
            await pilot.press("enter")
            await until(pilot, lambda: app.project is not None)

    async def test_a_path_that_is_not_there_is_told(self) -> None:
        async with opened() as (app, pilot):
            await pilot.press("i", *"nothing.bib", "enter")
            await until_shown(pilot, "no such file")
            await pilot.press("escape")
            assert isinstance(app.screen, StartScreen)

    async def test_q_leaves(self) -> None:
        async with opened() as (app, pilot):
            await pilot.press("q")
            await until(pilot, lambda: not app.is_running)
