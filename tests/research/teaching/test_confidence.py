"""Hard labels: what is believed, what is none, and what nobody knows, by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from research.distillation.self_training import Certainty, believed, certainty
from sciextract.errors import InputMissingError, UsageError
from sciextract.inference.decoding import RelationLayout
from sciextract.inference.pipeline import Labels
from sciextract_trainer.data.examples import Targets

LABELS = Labels(("Task", "Tool"), RelationLayout(("USES", "LIKE"), frozenset({"LIKE"})), True, 4)
SURE = Certainty(0.2, 0.7, {"Tool": 0.5, "USES": 0.8, "COREFERENCE": 0.6})


def soft(**parts: Any) -> Targets:
    def floats(name: str, *shape: int) -> Any:
        return np.asarray(parts.get(name, np.zeros(shape)), dtype=np.float32)

    def ints(name: str) -> Any:
        return np.asarray(parts.get(name, np.zeros((0, 2))), dtype=np.int64)

    return Targets(
        ints("spans"), floats("types", 0, 3), ints("pairs"), floats("relations", 0, 4),
        ints("links"), floats("link_weights", 0), soft=True,
    )  # fmt: skip


def test_each_label_has_its_own_threshold_and_doubt_is_no_negative() -> None:
    found = believed(
        soft(
            spans=[[0, 0], [1, 1], [2, 2], [3, 3], [4, 4]],
            types=[[0.2, 0.75, 0.05], [0.4, 0.6, 0.0], [0.4, 0.0, 0.6], [0.85, 0.1, 0.05], [0.79, 0.21, 0]],
        ),
        LABELS,
        SURE,
    )  # fmt: skip
    assert found.mask is not None
    assert found.spans[:, 0].tolist() == [0, 1, 2, 4]  # 0.1 is none, like all that is not listed
    assert found.types.argmax(axis=1).tolist() == [1, 1, 2, 1]
    assert found.mask.counted.tolist() == found.mask.judged.tolist() == [True, False, True, False]
    assert not found.soft and len(found.mask.complete) == 3


def test_relations_are_believed_in_both_directions_or_in_none() -> None:
    """Classes: none, USES, LIKE, USES backwards; USES needs 0.8 whichever way it is read."""
    found = believed(
        soft(
            spans=[[0, 0], [1, 1], [2, 2]],
            types=[[0.0, 1.0, 0.0]] * 3,
            pairs=[[0, 1], [1, 0], [0, 2], [2, 0], [1, 2], [2, 1]],
            relations=[
                [0.1, 0.85, 0.05, 0.0], [0.1, 0.0, 0.05, 0.85],
                [0.25, 0.0, 0.75, 0.0], [0.25, 0.0, 0.75, 0.0],
                [0.3, 0.7, 0.0, 0.0], [0.3, 0.0, 0.0, 0.7],
            ],
        ),
        LABELS,
        SURE,
    )  # fmt: skip
    assert found.mask is not None
    assert found.relations.argmax(axis=1).tolist() == [1, 3, 2, 2, 1, 3]
    assert found.mask.known_pairs.tolist() == [True, True, True, True, False, False]


def test_unlikely_pairs_are_none_and_pairs_of_unlikely_spans_are_gone() -> None:
    found = believed(
        soft(
            spans=[[0, 0], [1, 1], [2, 2]],
            types=[[0.9, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
            pairs=[[0, 1], [1, 2]],
            relations=[[0.0, 1.0, 0.0, 0.0], [0.9, 0.1, 0.0, 0.0]],
            links=[[1, 0], [2, 1]],
            link_weights=[0.9, 0.1],
        ),
        LABELS,
        SURE,
    )
    assert found.spans[:, 0].tolist() == [1, 2]
    assert not len(found.pairs)  # not listed in a complete layer: no relation
    assert found.links.tolist() == [[1, 0]] and found.link_weights.tolist() == [0.0]


def test_links_go_by_the_mass_of_all_antecedents() -> None:
    found = believed(
        soft(
            spans=[[row, row] for row in range(5)],
            types=[[0.0, 1.0, 0.0]] * 5,
            links=[[1, 0], [2, 0], [2, 1], [3, 0], [3, 1], [4, 0], [4, 1]],
            link_weights=[0.1, 0.3, 0.4, 0.3, 0.15, 0.55, 0.1],
        ),
        LABELS,
        SURE,
    )
    assert found.mask is not None
    chosen, known = found.link_weights.tolist(), found.mask.known_links.tolist()
    assert (chosen[0], known[0]) == (0.0, True)  # surely none
    assert (chosen[1:3], known[1:3]) == (
        [0.0, 1.0],
        [False, True],
    )  # surely linked, to 1 or also to 0
    assert (chosen[3:5], known[3:5]) == ([0.0, 0.0], [False, False])  # perhaps linked
    assert (chosen[5:], known[5:]) == ([1.0, 0.0], [True, True])  # to 0, and not to 1


def test_thresholds_come_from_a_table_and_from_words_which_win(tmp_path: Path) -> None:
    table = tmp_path / "thresholds.toml"
    table.write_text("default = 0.6\nUSES = 0.9\nTool = 0.4\n", encoding="utf-8")
    found = certainty(LABELS, ["USES=0.82"], table, 0.1)
    assert found == Certainty(0.1, 0.6, {"USES": 0.82, "Tool": 0.4})
    assert certainty(LABELS, [], None, 0.8).default == 0.8


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["PART=0.5"], "'PART', which is not a label.*"),
        (["USES=0.1"], r"threshold USES=0\.1 is not possible"),
        (["USES=much"], "threshold USES=much is not possible"),
        (["1.5"], r"threshold default=1\.5 is not possible"),
    ],
)
def test_thresholds_that_cannot_be_are_refused(words: list[str], told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        certainty(LABELS, words)
    assert caught.value.hint


def test_a_table_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputMissingError, match="no thresholds at"):
        certainty(LABELS, [], tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("USES 0.8", encoding="utf-8")
    with pytest.raises(UsageError, match=r"bad\.toml"):
        certainty(LABELS, [], tmp_path / "bad.toml")
