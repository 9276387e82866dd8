"""The plan of other seeds, and the table of ``research/seeds.py``."""

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from research.models.plan import load_plan
from research.seeds import main


def test_the_plan_of_seeds_changes_nothing_but_the_seed() -> None:
    plan = load_plan("sci-2-seeds")
    for name, stage in plan.stages.items():
        base, found, seed = name.partition("-seed-")
        if found:
            changed = {**vars(stage), "change": {}}
            assert changed == vars(plan.stages[base])
            assert vars(stage)["change"] == {"seed": int(seed)}


def test_the_table_has_mean_and_spread_of_finished_seeds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = {"ner": 60.0, "relation": 40.0, "coreference": 50.0}
    stages = {
        "mlm": {"finished": "now"},
        "teacher": {"finished": "now", "scores": {"int8": one}},
        "teacher-seed-2": {"finished": "now", "scores": {"int8": {**one, "ner": 62.0}}},
        "teacher-seed-3": {"scores": {"int8": {**one, "ner": 99.0}}},
        "student": {"finished": "now", "scores": {"int8": one}},
    }
    build = tmp_path / "build.json"
    build.write_text(json.dumps({"stages": stages}), encoding="utf-8")

    assert main(["--build", str(build)]) == 0

    rows = capsys.readouterr().out.splitlines()[2:]
    assert rows == [
        (
            "| teacher | 2 | 61.0 ± 1.4 (60.0, 62.0) | 40.0 ± 0.0 (40.0, 40.0) | 50.0 ± 0.0 (50.0, 50.0) "
            "| 50.3 ± 0.5 (50.0, 50.7) |"
        )
    ]
    assert main(["--build", str(tmp_path / "none.json")]) == 2
    assert "is not a build record" in capsys.readouterr().err
