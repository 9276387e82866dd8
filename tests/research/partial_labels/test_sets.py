"""The plan of data sets: the packaged one is sound, mistakes are named with their place."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from research.partial_labels.datasets import load_sets
from research.partial_labels.make_bio import PLAN
from sciextract.documents.schema_file import load_schema
from sciextract.errors import InputMissingError, UsageError

SCHEMA = load_schema("bio")
CONTINUED = '\n[[continued]]\nrecipe = "bio"\n'
GOOD = '[[sets]]\nname = "a"\nteaches = ["Gene"]\nlicence = "none"\n'


def test_the_packaged_plan_teaches_every_label_of_the_schema() -> None:
    plan = load_sets(PLAN, SCHEMA)
    trained = {label for set_ in plan.sets if set_.train for label in set_.teaches}
    assert trained == set(SCHEMA.entity_labels)
    assert all(set_.licence for set_ in plan.sets)
    assert [set_.name for set_ in plan.sets if set_.relations] == ["chemprot"]
    repeated = plan.repeated(plan.continued[0].repeat)
    assert {set_.name: set_.repeat for set_ in repeated.sets if set_.repeat > 1} == {
        "chemprot": 2, "bc5cdr": 2, "ncbi-disease": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sets = [", "plan"),
        ("", "no [[sets]]"),
        ('[[sets]]\nname = "a"\nteaches = []', "licence"),
        (GOOD + "jion = 3", "'jion'"),
        (GOOD.replace("Gene", "Gnee"), "'Gnee'"),
        (GOOD + 'rename = { GENE = "protein" }', "'protein'"),
        (GOOD + "join = 0", "join = 0"),
        (GOOD + "empty = 1.5", "empty = 1.5"),
        (GOOD + 'join = "x"', "sets[0].join is 'x'; expected int"),
        (
            GOOD.replace('["Gene"]', '"Gene"'),
            "sets[0].teaches is 'Gene'; expected array",
        ),
        (GOOD + "rename = { GENE = 1 }", "rename.* is 1; expected str"),
        ("sets = 3", "sets is 3; expected array"),
        ("colour = 3\n" + GOOD, "unknown setting 'colour'"),
        ('groups = "Gene"\n' + GOOD, "groups is 'Gene'; expected array"),
        ('groups = [["Gene"]]\n' + GOOD, "groups hold Gene"),
        (GOOD + CONTINUED, "continued[0]: 'seeds' is missing"),
        (GOOD + CONTINUED + "seeds = []", "continued[0]: seeds is empty"),
        (GOOD + CONTINUED + "seeds = [1]\nrepeat = { b = 2 }", "continued[0]: repeat names 'b'"),
        (GOOD + CONTINUED + "seeds = [1]\nrepeat = { a = 0 }", "continued[0]: repeat.a = 0"),
        (GOOD + (CONTINUED + "seeds = [1]") * 2, "seeds of the continued trainings are [1, 1]"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        load_sets(path, SCHEMA)
    assert told in error.value.message and "plan.toml" in error.value.message


def test_no_plan(tmp_path: Path) -> None:
    with pytest.raises(InputMissingError):
        load_sets(tmp_path / "none.toml", SCHEMA)
