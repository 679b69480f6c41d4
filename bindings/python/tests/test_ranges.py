"""Ranges by column: every column has the precision of its own range."""

import numpy as np
import pytest
import sotto as st
from hypothesis import given, settings
from hypothesis import strategies as some

RANGES = [(-1e-3, 1e-3), (0, 100), (900, 1100)]


def table(rng, rows=50):
    low, high = np.transpose(RANGES)
    return rng.uniform(low, high, (rows, 3))


def test_errors_follow_the_range_of_the_column(owner, rng):
    values = table(rng)
    hidden = owner.encrypt(values, range=RANGES)
    bounds = [owner.decrypt(hidden[:, j]).bound for j in range(3)]
    for j, (_, high) in enumerate(RANGES):
        found = owner.decrypt(hidden[:, j])
        assert np.all(np.abs(found - values[:, j]) <= found.bound) and found.bound < 1e-6 * high
    assert bounds[0] < 1e-4 * bounds[1] < bounds[2]
    one = owner.encrypt(values, range=(-1100, 1100))
    assert owner.decrypt(one[:, 0]).bound > 1e4 * bounds[0]


def test_ends_of_every_range_are_encrypted_and_values_beyond_are_not(owner):
    ends = np.transpose(RANGES).astype(float)
    found = owner.decrypt(owner.encrypt(ends, range=RANGES))
    assert np.all(np.abs(found - ends) <= found.bound)
    for row, column, beyond in [(0, 0, -1.1e-3), (1, 1, 100.5), (0, 2, 899.0), (1, 0, np.nan)]:
        wrong = ends.copy()
        wrong[row, column] = beyond
        with pytest.raises(st.OutOfRange, match=rf"value at \({row}, {column}\)"):
            owner.encrypt(wrong, range=RANGES)


def test_whole_numbers_have_ranges_by_column(owner):
    values = np.array([[1, 20_000], [-5, 4]])
    found = owner.decrypt(owner.encrypt(values, range=[(-5, 5), (0, 20_000)]) * 2)
    assert np.array_equal(found, values * 2)


def test_one_range_as_an_array(owner):
    found = owner.decrypt(owner.encrypt([1.0, 2.0], range=np.array([0, 2])))
    assert np.all(np.abs(found - [1.0, 2.0]) <= found.bound)


def test_a_plan_has_the_ranges_of_the_columns(owner, rng):
    values = table(rng)
    hidden = owner.encrypt(values, range=RANGES)

    def work(x):
        return x.T @ x

    by_ranges = owner.plan(work, st.like(values.shape, range=RANGES))
    by_array = owner.plan(work, hidden)
    assert by_ranges.bound == by_array.bound
    answer = st.DetachedArray(bytes(st.Evaluator(owner.public_bundle()).run(work, hidden)))
    found = owner.decrypt(answer, by_ranges)
    assert np.all(np.abs(found - values.T @ values) <= found.bound + 1e-9)
    with pytest.raises(st.NotTrusted):
        owner.decrypt(answer, owner.plan(work, st.like(values.shape, range=(-1100, 1100))))


@pytest.mark.parametrize(
    ("ranges", "error"),
    [
        ([(0, 1), (0, 1)], st.ShapeMismatch),
        ([(0, 1), (2, 1), (0, 1)], st.OutOfRange),
        ([(0, 1), (0, np.inf), (0, 1)], st.OutOfRange),
        ([(0, 1), (0, 0), (0, 1)], st.OutOfRange),
        ([(0, 1, 2)] * 3, TypeError),
        ([(0, 1), (0,), (0, 1)], TypeError),
        (5.0, TypeError),
        ("ab", TypeError),
    ],
)
def test_wrong_ranges(owner, ranges, error):
    with pytest.raises(error):
        owner.encrypt(np.zeros((2, 3)), range=ranges)
    with pytest.raises(error):
        st.like((2, 3), range=ranges)


@settings(max_examples=20, deadline=None)
@given(some.lists(some.integers(-30, 30), min_size=1, max_size=4), some.integers(0, 2**32 - 1))
def test_columns_of_any_size(owner, exponents, seed):
    bounds = 2.0 ** np.array(exponents)
    values = np.random.default_rng(seed).uniform(-bounds, bounds, (7, len(bounds)))
    hidden = owner.encrypt(values, range=np.column_stack([-bounds, bounds]))
    for j, bound in enumerate(bounds):
        found = owner.decrypt(hidden[:, j])
        assert np.all(np.abs(found - values[:, j]) <= found.bound) and found.bound < 1e-6 * bound
