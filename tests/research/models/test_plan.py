"""Plans are checked as a whole before anything is made."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("torch")

from research.models.network_stages import Bundled, Label, Soup, Train
from research.models.plan import PLANS, load_plan
from sciextract.errors import InputMissingError, UsageError
from sciextract.inference.model_folder import MANIFEST

HEAD = """
schema = "scierc"
dev = "dev.jsonl"
[encoder.small]
sha256 = "0"
origin = "nowhere"
"""
TEACHER = '[stage.teacher]\nkind = "train"\nencoder = "small"\nrecipe = "sci-teacher-1"\n'
MODEL = '[model.m]\nnetwork = "teacher"\n'


def _load(folder: Path, text: str) -> None:
    path = folder / "bad.toml"
    path.write_text(text, encoding="utf-8")
    load_plan(str(path))


@pytest.mark.parametrize("path", sorted(PLANS.glob("*.toml")), ids=lambda path: path.stem)
def test_shipped_plans_are_sound(path: Path) -> None:
    plan = load_plan(path.stem)
    assert plan.stages and all(encoder.sha256 for encoder in plan.encoders.values())
    assert plan.models or path.stem.endswith("-seeds"), "seeds are measured, none is shipped"


def test_the_second_edition_has_the_first_one_as_a_teacher() -> None:
    plan = load_plan("sci-2")
    soft, student = plan.stages["soft-2"], plan.stages["student-2"]
    assert isinstance(soft, Label) and isinstance(student, Train)
    first = load_plan("sci-1")
    assert first.models["sci"].network in soft.teachers and student.labels == ("soft-2",)
    assert first.models.keys() == plan.models.keys() == {"sci"}


def test_the_history_has_the_edition_that_teaches_the_base_model() -> None:
    bundled = load_plan("sci-base").stages["sci"]
    assert isinstance(bundled, Bundled)
    command = ["git", "show", f"{bundled.commit}:sciextract/bundled/{bundled.model}/{MANIFEST}"]
    shown = subprocess.run(command, cwd=PLANS, check=False, capture_output=True)
    if shown.returncode:
        pytest.skip("this checkout has no full git history")
    assert hashlib.sha256(shown.stdout).hexdigest() == bundled.manifest


def test_members_of_a_mean_that_begin_with_fresh_heads_share_a_start() -> None:
    plan = load_plan("sci-4")
    soup = plan.stages[plan.models["sci"].network]
    assert isinstance(soup, Soup)
    members = [plan.stages[name] for name in soup.members]
    assert {member.start for member in members if isinstance(member, Train)} == {"first"}


def test_a_plan_that_extends_another_has_its_stages_first() -> None:
    base, ladder = load_plan("sci-2"), load_plan("ladder")
    assert list(ladder.stages)[: len(base.stages)] == list(base.stages)
    assert ladder.models["6x384"].network == "student-6x384" and "sci" not in ladder.models


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("schema 7", "bad.toml: "),
        ('dev = "x"', "'schema' is missing"),
        (HEAD + "[colour]\nred = 1", "unknown setting 'colour'"),
        (HEAD + "[stage]\nteacher = 1", "stage.* is 1; expected object"),
        (HEAD + '[stage.teacher]\nkind = "bake"', "stage.teacher: kind = 'bake' is unknown"),
        (HEAD + TEACHER + "speed = 1", "stage.teacher: unknown setting 'speed'"),
        (HEAD + TEACHER + 'gold_times = "2"', "gold_times is '2'; expected int"),
        (
            HEAD + TEACHER + "[model.m]\nnetwork = 'teacher'\ncard = { data = 3 }",
            "is 3; expected str",
        ),
        (HEAD + TEACHER + MODEL + 'texts = ["a"]', "texts = ['a'] without quantise"),
        (
            HEAD + TEACHER + MODEL + 'quantise = { kind = "weights3" }',
            "kind: Invalid enum value 'weights3'",
        ),
        (HEAD + '[stage.a]\nkind = "train"\nencoder = "small"', "'recipe' is missing"),
        (
            HEAD + TEACHER.replace('"small"', '"large"'),
            "stage.teacher: 'large' is not made before, wanted is an encoder",
        ),
        (
            HEAD + TEACHER + 'labels = ["small"]',
            "stage.teacher: 'small' makes an encoder, wanted is labels",
        ),
        (
            HEAD + TEACHER + '[stage.soup]\nkind = "soup"\nmembers = ["teacher", "later"]\n',
            "stage.soup: 'later' is not made before, wanted is a network",
        ),
        (
            HEAD + TEACHER + '[model.m]\nnetwork = "small"',
            "model.m: 'small' makes an encoder, wanted is a network",
        ),
        (HEAD + TEACHER.replace("stage.teacher", "stage.small"), "has the name of an encoder"),
        ('extends = "sci-2"\n' + TEACHER.replace("teacher]", "mlm]"), "is in plan sci-2 already"),
        ('extends = "bad"', "extends = 'bad' is not another plan"),
    ],
)
def test_what_cannot_be_is_said(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        _load(tmp_path, text)
    assert told in caught.value.message


def test_a_missing_plan_names_those_that_are_there() -> None:
    with pytest.raises(InputMissingError) as caught:
        load_plan("cake")
    assert "no plan is called 'cake'" in caught.value.message and "sci-1" in caught.value.hint
