"""What is predicted next follows the person, and nothing twice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sciextract_app.suggesting.predicting import PredictionOrder


def test_from_the_open_abstract_on_and_round() -> None:
    plan = PredictionOrder()
    plan.aim(3, None)
    assert list(plan.over([1, 2, 3, 5, 8])) == [3, 5, 8, 1, 2]
    plan.aim(4, None)
    assert list(plan.over([1, 2, 3, 5, 8])) == [5, 8, 1, 2, 3]


def test_along_a_list_and_then_the_others() -> None:
    plan = PredictionOrder()
    plan.aim(8, [2, 8, 3])
    assert list(plan.over([1, 2, 3, 5, 8])) == [8, 3, 2, 1, 5]
    plan.aim(5, [2, 8])
    assert list(plan.over([1, 2, 3, 5, 8])) == [5, 2, 8, 1, 3]


def test_it_goes_where_the_person_goes() -> None:
    plan = PredictionOrder()
    plan.aim(1, None)
    order = plan.over([1, 2, 3, 4, 5, 6])
    assert [next(order), next(order)] == [1, 2]
    plan.aim(5, None)
    assert list(order) == [5, 6, 3, 4]


def test_it_is_new_once() -> None:
    plan = PredictionOrder()
    assert plan.is_new()
    assert not plan.is_new()
    numbers = [1, 2]
    plan.aim(1, numbers)
    assert plan.is_new()
    plan.aim(1, numbers)
    assert not plan.is_new()


@given(
    needed=st.sets(st.integers(1, 30)),
    moves=st.lists(
        st.tuples(
            st.integers(0, 31),
            st.none() | st.lists(st.integers(1, 31), unique=True, max_size=12),
        ),
        max_size=10,
    ),
)
def test_everything_once_wherever_the_person_goes(
    needed: set[int], moves: list[tuple[int, list[int] | None]]
) -> None:
    plan, found, left = PredictionOrder(), [], list(moves)
    for number in plan.over(sorted(needed)):
        found.append(number)
        if left:
            plan.aim(*left.pop())
    assert sorted(found) == sorted(needed)
