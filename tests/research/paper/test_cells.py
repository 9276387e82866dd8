"""Cells: what makes two of them the same training, and which ones are wanted."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from research.paper.cells import Cell, Encoder, Material, cells_of, encoders_at_hand
from research.paper.grid import load_grid
from sciextract.errors import InputMissingError, UsageError

MATERIAL = Material("schema", "train", "dev", 10)
KITE, MOSS = Encoder("Kite", "kite", "kite"), Encoder("a/Moss", "moss", "moss")


def cells(name: str, **options: Any) -> list[Cell]:
    encoders = options.pop("encoders", [KITE])
    changes = options.pop("changes", {})
    material = options.pop("material", MATERIAL)
    asked = {"network": "joint", "runs": 1, **options}
    return cells_of(load_grid(name), encoders, material, changes, **asked)


def key(found: list[Cell], *place: str) -> str:
    [only] = {cell.key for cell in found if cell.place == place}
    return only


def test_two_tables_share_the_training_of_a_column() -> None:
    two, five = cells("paper-table2"), cells("paper-table5")
    assert key(two, "Kite", "", "NER") == key(five, "Kite", "", "NER")
    assert key(two, "Kite", "", "RE") not in {cell.key for cell in five}


def test_a_figure_shares_its_first_row_with_table_5() -> None:
    four, five = cells("paper-figure4"), cells("paper-table5")
    row = "AdamW, slanted triangular"
    assert {key(four, "Kite", row, name) for name in ("NER", "JRE", "Coref")} == {
        cell.key for cell in five
    }


@pytest.mark.parametrize(
    "other",
    [
        {"changes": {"epochs": 15}},
        {"network": "dygie"},
        {"encoders": [MOSS]},
        {"material": Material("schema", "train", "dev", 9)},
        {"material": Material("schema", "other", "dev", 10)},
    ],
)
def test_whatever_decides_the_outcome_is_in_the_key(other: dict[str, Any]) -> None:
    before, after = cells("paper-table5"), cells("paper-table5", **other)
    assert not {cell.key for cell in before} & {cell.key for cell in after}


def test_every_run_has_its_own_seed_and_first_seeds_come_first() -> None:
    found = cells("paper-table5", runs=3)
    assert [cell.config.seed for cell in found] == [1] * 3 + [2] * 3 + [3] * 3
    assert len({cell.key for cell in found}) == 9


def test_settings_at_their_default_change_no_key() -> None:
    """A setting that a later version adds has its default in all earlier cells."""
    plain = cells("paper-table5")
    same = cells("paper-table5", changes={"accumulate": 1, "patience": 0})
    assert [cell.key for cell in plain] == [cell.key for cell in same]


def test_relations_between_given_entities_take_the_joint_network_in_any_frame() -> None:
    [re] = [c for c in cells("paper-table2", network="dygie") if c.column.name == "RE"]
    assert re.config.network == "joint" and re.config.given_entities


@pytest.mark.parametrize(
    ("only", "count"),
    [(["NER"], 2), (["kite"], 3), (["a/Moss/JRE"], 1), (["NER", "Kite/Coref"], 3), ([], 6)],
)
def test_only_what_is_wanted(only: list[str], count: int) -> None:
    assert len(cells("paper-table5", encoders=[KITE, MOSS], only=only)) == count


@pytest.mark.parametrize("word", ["NE", "Kite/", "/NER", "JRE/Kite", "", "Kite/NER/JRE"])
def test_a_word_that_fits_nothing_lists_the_names(word: str) -> None:
    with pytest.raises(UsageError) as caught:
        cells("paper-table5", only=[word])
    assert "Coref" in caught.value.hint


class TestLayers:
    def test_upper_layers_are_counted_from_the_top(self, encoder_folder: Path) -> None:
        encoder = Encoder("Tiny", str(encoder_folder), "tiny")
        found = cells("paper-figure2", encoders=[encoder], only=["NER"])
        assert [cell.config.reinit_layers for cell in found] == [(), (2,), (1, 2)]

    def test_more_than_there_are_is_said(self, encoder_folder: Path) -> None:
        encoder = Encoder("Tiny", str(encoder_folder), "tiny")
        with pytest.raises(UsageError, match="has 2 layers"):
            cells("paper-figure3", encoders=[encoder])


class TestEncoders:
    def test_a_folder_is_known_by_what_it_holds(self, encoder_folder: Path, tmp_path: Path) -> None:
        grid = load_grid("paper-table5")
        shutil.copytree(encoder_folder, tmp_path / "copy")
        words = [f"One={encoder_folder}", f"Two={tmp_path / 'copy'}"]
        one, two = encoders_at_hand(grid, words)
        assert (one.name, two.name) == ("One", "Two") and one.identity == two.identity
        (tmp_path / "copy" / "README.md").write_text("words", encoding="utf-8")
        assert encoders_at_hand(grid, words)[1] == two
        (tmp_path / "copy" / "config.json").write_text("{}", encoding="utf-8")
        assert encoders_at_hand(grid, words)[1] != two

    def test_an_encoder_of_the_paper_has_its_name_there(self) -> None:
        [found] = encoders_at_hand(load_grid("paper-table5"), ["KISTI-AI/scideberta-cs"])
        assert found.name == "SciDeBERTa (CS)"

    def test_a_folder_that_is_not_there_is_said(self, tmp_path: Path) -> None:
        with pytest.raises(InputMissingError, match="nowhere"):
            encoders_at_hand(load_grid("paper-table5"), [f"A={tmp_path / 'nowhere'}"])

    def test_two_of_one_name_are_refused(self) -> None:
        with pytest.raises(UsageError, match="'A'"):
            encoders_at_hand(load_grid("paper-table5"), ["A=one/x", "A=two/x"])

    def test_none_at_hand_names_those_of_the_paper(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *_: None)
        with pytest.raises(InputMissingError) as caught:
            encoders_at_hand(load_grid("paper-table5"), [])
        assert "microsoft/deberta-base" in caught.value.hint

    def test_without_words_the_cache_is_asked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        here = {"KISTI-AI/scideberta"}
        monkeypatch.setattr(
            "huggingface_hub.try_to_load_from_cache",
            lambda name, _: "/cache/config.json" if name in here else None,
        )
        [found] = encoders_at_hand(load_grid("paper-table5"), [])
        assert (found.name, found.source) == ("SciDeBERTa", "KISTI-AI/scideberta")
