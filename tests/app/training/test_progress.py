"""What a run folder says, whatever stands in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciextract.retraining.run_folder import METRICS, RUN, STATUS, Run, RunStatus
from sciextract_app.training.plan import (
    EarlierRuns,
    TrainingCounts,
    earlier_runs,
    nothing_to_learn,
    plan_lines,
)
from sciextract_app.training.plots import outcome_lines
from sciextract_app.training.progress import RunReader, TrainingResult, training_result
from tests.app.training.children import ended_run
from tests.tiers import examples

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
FIELDS = ("loss", "epoch", "entity", "relation", "coreference", "documents_per_second", "message")


def run_with(folder: Path, *events: dict[str, Any], status: RunStatus | None = None) -> Run:
    run = Run(folder)
    for event in events:
        run.append(event)
    if status is not None:
        run.write_status(status)
    return run


def step(loss: float) -> dict[str, Any]:
    losses = dict.fromkeys(("entity", "relation", "coreference"), loss)
    rate = {"epoch": 1, "documents": 4, "of": 8, "documents_per_second": 2.5}
    return {"event": "step", "loss": losses, **rate}


def result(folder: Path, verdict: str, used: bool = False) -> TrainingResult:
    found = training_result(ended_run(folder, verdict), used)
    assert found is not None
    return found


class TestLive:
    def test_before_there_is_anything(self, tmp_path: Path) -> None:
        live = RunReader(Run(tmp_path)).read(alive=True)
        assert (live.state, live.runs, live.status.share) == ("starting", True, 0)

    def test_only_what_is_new_is_read(self, tmp_path: Path) -> None:
        run = run_with(tmp_path, step(2.0))
        reader = RunReader(run)
        assert reader.read(True).losses["entity"] == (2.0,)
        run.append(step(1.0))
        assert reader.read(True).losses["entity"] == (2.0, 1.0)

    def test_layers_without_a_done_abstract_have_no_score(self, tmp_path: Path) -> None:
        run = run_with(tmp_path, {"event": "dev", "epoch": 1, "entity": 61.5, "unordered": None})
        assert RunReader(run).read(True).scores["relation"] == (None,)

    def test_a_failure_tells_its_message_and_the_next_step(self, tmp_path: Path) -> None:
        status = RunStatus("failed", 1, "", message="no decisions", hint="decide some")
        live = RunReader(run_with(tmp_path, status=status)).read(alive=False)
        assert (live.message, live.hint, live.runs) == ("no decisions", "decide some", False)

    @settings(max_examples=examples(40))
    @given(st.lists(st.dictionaries(st.sampled_from(FIELDS), ANYTHING)), st.booleans())
    def test_foreign_values_break_nothing(
        self, tmp_path_factory: pytest.TempPathFactory, events: list[dict[str, Any]], alive: bool
    ) -> None:
        folder = tmp_path_factory.mktemp("run")
        kinds = ("start", "step", "dev", "gate", "done", "error")
        with (folder / METRICS).open("w") as stream:
            for place, event in enumerate(events):
                stream.write(json.dumps(event | {"event": kinds[place % 6]}) + "\n")
        (folder / RUN).write_text(json.dumps({"gate": events[0] if events else None}))
        run = Run(folder)
        RunReader(run).read(alive)
        run.write_status(RunStatus("done", 1, ""))
        assert training_result(run) is not None

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"state": "done"}', '{"state": 3, "pid": 0}'])
    def test_a_torn_status_is_as_if_it_were_not_there(self, tmp_path: Path, text: str) -> None:
        (tmp_path / STATUS).write_text(text)
        assert RunReader(Run(tmp_path)).read(alive=True).state == "starting"


class TestOutcome:
    def test_a_better_model_is_in_use(self, tmp_path: Path) -> None:
        found = result(tmp_path, "promote")
        assert found.words == "sci-p-2 is better and predicts in this project from now on"
        assert not found.offered
        assert found.compared is not None and found.compared.documents == 34

    @pytest.mark.parametrize("verdict", ["keep", "too few"])
    def test_another_one_is_offered(self, tmp_path: Path, verdict: str) -> None:
        found = result(tmp_path, verdict)
        assert found.offered
        assert found.reasons[-1] == "sciextract models use sci-p-2 uses it anyway"
        taken = result(tmp_path, verdict, used=True)
        assert not taken.offered and "because you chose it" in taken.words

    def test_one_that_is_far_worse_is_not(self, tmp_path: Path) -> None:
        found = result(tmp_path, "worse")
        assert not found.offered and "far worse than what predicts now" in found.words

    def test_labels_stand_below_their_task(self, tmp_path: Path) -> None:
        found = result(tmp_path, "keep")
        lines = [line.plain for line in outcome_lines(found, 90)]
        table = lines[lines.index("F1 on 34 held-out abstracts") + 2 :]
        names, signs = zip(*((line[:13].rstrip(), line[29]) for line in table), strict=True)
        assert names == (
            "mean of tasks",
            "entities",
            "  Task",
            "  Method",
            "relations",
            "  USED-FOR",
        )
        assert signs[1:4] == ("▲", "▲", "▼")
        assert found.headline == "entities 66.1 to 68.4, relations 40.2 to 41.0"

    def test_without_a_comparison(self, tmp_path: Path) -> None:
        run = run_with(tmp_path, status=RunStatus("done", 1, ""))
        found = training_result(run)
        assert found is not None and found.compared is None and not found.offered


class TestPlan:
    MATERIAL = TrainingCounts(done=20, decisions=412, train=14, dev=2, gate=4, finished=20)

    def test_it_says_what_would_be_trained_on(self) -> None:
        told = dict(plan_lines(self.MATERIAL, "sci", "", EarlierRuns(seconds=431)))
        assert told["trained on"].startswith("14 abstracts")
        assert told["takes"].startswith("about 7 min")
        assert "too few abstracts are held out" in told["mind"]
        assert "cross-validation over 20 finished ones" in told["mind"]

    def test_nothing_decided_is_an_obstacle(self) -> None:
        assert "decide some items" in nothing_to_learn(TrainingCounts(0, 0, 0, 0, 0, 0))
        assert "held out" in nothing_to_learn(TrainingCounts(1, 9, 0, 0, 1, 1))
        assert nothing_to_learn(self.MATERIAL) == ""

    def test_earlier_trainings_tell_time_and_where_to_go_on(self, tmp_path: Path) -> None:
        for name in "ab":
            (tmp_path / name).mkdir()
        done = run_with(tmp_path / "a", status=RunStatus("done", 1, "", seconds=300))
        where = RunStatus("stopped", 1, "", epoch=3, epochs=8, seconds=90)
        stopped = run_with(tmp_path / "b", status=where)
        found = earlier_runs([stopped, done])
        assert (found.seconds, found.stopped, found.last) == (300, stopped, done)
        assert found.stopped_at == "in epoch 3 of 8"
        assert earlier_runs([done, stopped]).stopped is None
