"""Sums of readings with a resolution are exact: the owner rounds to whole steps."""

import warnings

import numpy as np
import pytest
import sotto as st


def readings(rng, count, step=0.1, low=-40, high=60):
    """Return readings, and the numbers of steps that they are."""
    steps = rng.integers(round(low / step), round(high / step), count, endpoint=True)
    return steps * step, steps


@pytest.mark.parametrize("count", [1, 4096, 8760, 10**6])
def test_sums_of_1000_steps_are_exact(owner, rng, count):
    values, steps = readings(rng, count)
    x = owner.encrypt(values, range=(-40, 60), resolution=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        total = owner.decrypt(x.sum())
        first = owner.decrypt(x[: min(count, 3)])
    # The float64 nearest to the sum of the decimal numbers.
    assert float(total) == steps.sum() / 10 and total.bound == 0
    assert str(total) == f"{steps.sum() / 10} ± 0"
    assert first.tolist() == (steps[:3] / 10).tolist() and first.bound == 0


@pytest.mark.parametrize("step", [0.25, 5, 1e-3, 0.3, 1 / 3, 12.5])
def test_steps_of_any_size(owner, rng, step):
    values, steps = readings(rng, 1000, step, low=0, high=1000 * step)
    x = owner.encrypt(values, range=(0, 1001 * step), resolution=step)
    y = owner.encrypt(values[::-1].copy(), range=(0, 1001 * step), resolution=step)
    found = owner.decrypt(x + x - y)
    exact = 2 * steps - steps[::-1]
    assert np.array_equal(np.round(np.asarray(found) / step), exact)
    assert found.bound <= 2.0**-50 * step * np.abs(exact).max()
    if step != 1 / 3:  # Every other one is a short decimal number.
        assert found.bound == 0
        assert [f"{v:.12g}" for v in found] == [f"{k * step:.12g}" for k in exact]


def test_answers_that_are_too_inexact_for_a_step_say_so(owner, rng):
    values, steps = readings(rng, 5000, 1e-4, low=-1000, high=1000)
    x = owner.encrypt(values, range=(-1000, 1000), resolution=1e-4)
    with pytest.warns(UserWarning, match=r"not below half of the step 0.0001.*tighter") as warned:
        total = owner.decrypt(x.sum())
    assert warned[0].filename == __file__
    assert 0 < abs(float(total) - steps.sum() * 1e-4) <= total.bound
    assert total.bound >= 0.5e-4 / (1 + 1 / 16)
    # The cure: keys that are more exact.
    exact = st.Owner.new(error_within=1e-12)
    x = exact.encrypt(values, range=(-1000, 1000), resolution=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        total = exact.decrypt(x.sum())
    assert total.bound == 0 and f"{float(total):.4f}" == f"{steps.sum() / 1e4:.4f}"
