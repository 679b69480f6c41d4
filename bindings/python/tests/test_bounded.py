"""Bounds that the owner carries from sums to solutions hold for every error within them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from sotto._learn.bounded import Bounded, outer, solve

SEEDS = some.integers(0, 2**32 - 1)


def uncertain(rng, shape, size=1.0, error=1e-3):
    """Return a number with its bound, and another within the bound, often at its end."""
    values, errors = rng.normal(size=shape) * size, np.abs(rng.normal(size=shape)) * error
    signs = np.sign(rng.normal(size=shape))
    return Bounded(values, errors), values + errors * signs * rng.choice([0.999, 0.5], size=shape)


def holds(found, exact):
    return np.all(np.abs(found.values - exact) <= found.errors)


@settings(max_examples=200, deadline=None)
@given(SEEDS, some.floats(1e-9, 1.0))
def test_arithmetic(seed, error):
    rng = np.random.default_rng(seed)
    (a, x), (b, y) = uncertain(rng, (3, 4), 5.0, error), uncertain(rng, (3, 4), 0.1, error)
    assert holds(a + b, x + y) and holds(a - b, x - y) and holds(a * b, x * y)
    assert holds(a / 3.0, x / 3.0) and holds(2.5 * a - 1.0, 2.5 * x - 1.0) and holds(-a, -x)
    assert holds(a.sum(axis=0), x.sum(axis=0)) and holds(a.T[1], x.T[1])
    assert holds(outer(a[0], b[0]), np.outer(x[0], y[0]))


@settings(max_examples=200, deadline=None)
@given(SEEDS, some.integers(1, 6), some.floats(0.0, 4.0), some.floats(-8.0, -1.0))
def test_solutions_of_systems_within_the_errors(seed, size, spread, error):
    rng = np.random.default_rng(seed)
    scale = np.diag(10.0 ** rng.uniform(-spread, spread, size))
    root = rng.normal(size=(size, size)) @ scale
    values = root.T @ root + 1e-3 * scale
    bound = np.abs(values) * 10.0**error * rng.uniform(0, 1, values.shape)
    right, other = uncertain(rng, (size, 2))
    found = solve(Bounded(values, bound), right)
    for sign in (1.0, -1.0, np.sign(rng.normal(size=values.shape))):
        exact = np.linalg.solve(values + bound * sign, other)
        assert np.all(np.abs(found.values - exact) <= found.errors * (1 + 1e-6) + 1e-9)


def test_a_bound_is_close_where_the_error_is_known():
    found = solve(Bounded([[2.0]], [[1e-3]]), Bounded([1.0], [0.0]))
    # 1 / 1.999 − 1 / 2 is the largest difference.
    assert found.errors[0] == pytest.approx(1 / 1.999 - 0.5, rel=1e-3)


@pytest.mark.parametrize(
    "system", [np.ones((2, 2)), np.zeros((2, 2)), np.diag([1.0, 1e-4])], ids=str
)
def test_systems_that_may_be_singular_have_no_bound(system):
    found = solve(Bounded(system, 1e-3), Bounded([1.0, 1.0], 0.0))
    assert np.isinf(found.errors).all()
