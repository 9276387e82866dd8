"""Grids: the packaged ones hold together, and mistakes in one's own are named."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from research.paper.grid import TASK_OF, Published, grid_names, load_grid
from sciextract.errors import InputMissingError, UsageError

GRID = """
title = "Kites"
schema = "scierc"
{more}
[[columns]]
name = "NER"
score = "{score}"
settings = {{ {settings} }}
"""


def written(folder: Path, more: str = "", score: str = "entity", settings: str = "") -> str:
    path = folder / "kites.toml"
    path.write_text(GRID.format(more=more, score=score, settings=settings), encoding="utf-8")
    return str(path)


def test_five_grids_come_along() -> None:
    assert grid_names() == [
        f"paper-{name}" for name in ("figure2", "figure3", "figure4", "table2", "table5")
    ]


@pytest.mark.parametrize("name", grid_names())
def test_a_packaged_grid_is_sound(name: str) -> None:
    grid = load_grid(name)
    assert grid.name == name and grid.runs == 5 and grid.settings["epochs"] == 50
    assert {column.score for column in grid.columns} <= set(TASK_OF)
    names = {encoder.name for encoder in grid.encoders}
    assert all(figure.encoder in names and figure.source for figure in grid.published)


def test_every_row_of_table_5_is_published_in_all_three_columns() -> None:
    grid = load_grid("paper-table5")
    places = {(figure.encoder, figure.column) for figure in grid.published}
    assert places == {(e.name, c.name) for e in grid.encoders for c in grid.columns}


def test_the_tables_share_their_hyperparameters() -> None:
    first, *others = [load_grid(name) for name in grid_names()]
    for other in others:
        assert other.settings == first.settings and other.networks == first.networks


def test_the_dygie_frame_is_that_of_its_recipe() -> None:
    from research.paper.grid import Part
    from research.recipes import find_recipe
    from sciextract_trainer.config import config_from, load_config

    grid = load_grid("paper-table5")
    jre = next(column for column in grid.columns if column.name == "JRE")
    values = grid.settings_of("dygie", Part("", {}), jre)
    recipe = load_config(find_recipe("dygie-scierc"))
    assert config_from({**values, "encoder": recipe.encoder}, "test") == recipe


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ("oops = 1", "unknown setting 'oops'"),
        ("runs = 0", "runs = 0"),
        ("notes = 'one'", "notes is 'one'"),
        ("[[encoders]]\nname = 'Kite'", "'ids' is missing"),
        ("[settings]\nepochz = 3", "unknown setting 'epochz'"),
        ("[settings]\nepochs = 0", "epochs = 0"),
        ("[settings]\nepochs = 'ten'", "epochs is 'ten'"),
        ("[settings]\nreinit_top = -1", "reinit_top = -1"),
        ("[[variants]]\nname = 'a'\n[[variants]]\nname = 'a'", "'a' is there twice"),
        ("[[variants]]\nname = 'a'\nscore_ = 'x'", "unknown setting 'score_'"),
        ("[[published]]\nencoder = 'Kite'\ncolumn = 'NER'\nf1 = 1.0", "'source' is missing"),
        ("[[published]]\nencoder = 'K'\ncolumn = 'RE'\nf1 = 1.0\nsource = 's'", "column 'RE'"),
        ("[[published]]\nencoder = 'K'\ncolumn = 'NER'\nsource = 's'", "neither or both"),
        ("[[published]]\nencoder = 'K'\ncolumn = 'NER'\nf1 = 'x'\nsource = 's'", "f1 is 'x'"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, more: str, named: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_grid(written(tmp_path, more))
    assert named in caught.value.message and "kites.toml" in caught.value.message


def test_an_unknown_score_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="score = 'f1'"):
        load_grid(written(tmp_path, score="f1"))


@pytest.mark.parametrize(
    ("score", "settings"), [("relation", "relation_weight = 0.0"), ("given_micro", "")]
)
def test_a_score_of_what_is_not_learned_is_named(tmp_path: Path, score: str, settings: str) -> None:
    with pytest.raises(UsageError, match="not trained"):
        load_grid(written(tmp_path, score=score, settings=settings))


def test_a_setting_that_cannot_work_is_found_before_any_training(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="given_entities"):
        load_grid(written(tmp_path, settings="given_entities = true"))


def test_what_is_no_toml_is_said(tmp_path: Path) -> None:
    path = tmp_path / "kites.toml"
    path.write_text("title = ", encoding="utf-8")
    with pytest.raises(UsageError, match=r"kites\.toml"):
        load_grid(str(path))


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InputMissingError) as caught:
        load_grid("paper-table9")
    assert "paper-table5" in caught.value.hint


@pytest.mark.parametrize(
    ("f1", "sd", "change", "told"),
    [(46.0, 0.8, None, "46.0 ± 0.8"), (67.57, None, None, "67.57"), (None, None, -0.5, "-0.5")],
)
def test_a_figure_as_it_was_published(
    f1: float | None, sd: float | None, change: float | None, told: str
) -> None:
    assert Published("a", "NER", "there", f1=f1, sd=sd, change=change).text() == told
