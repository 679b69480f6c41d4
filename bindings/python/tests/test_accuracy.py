"""Accuracy that is asked for: of owners, programs and plans."""

import numpy as np
import pytest
import sotto as st

_LIKE = st.like(4096, range=(-1, 1))


def mean_of_cubes(x):
    return (x**3).mean()


def test_an_owner_is_as_exact_as_is_asked():
    values = np.linspace(-60, 60, 1000)
    for error_within in (1e-8, "0.000001%"):
        owner = st.Owner.new(error_within=error_within)
        x = owner.encrypt(values, range=(-60, 60))
        found, mean = owner.decrypt(x), owner.decrypt(x.mean())
        assert found.bound <= 64e-8 and mean.bound <= 64e-8
        assert np.all(np.abs(found - values) <= found.bound)
        assert np.abs(mean) <= mean.bound


def test_more_exact_programs_take_larger_parameters():
    bounds = []
    for error_within in (1e-3, 1e-7, 1e-9):
        owner = st.Owner.for_program(mean_of_cubes, _LIKE, error_within=error_within)
        plan = owner.plan(mean_of_cubes, _LIKE, error_within=error_within)
        assert plan.bound <= error_within
        bounds.append(plan.bound)
    assert bounds == sorted(bounds, reverse=True)
    values = np.linspace(-1, 1, 4096)
    found = owner.decrypt(mean_of_cubes(owner.encrypt(values, range=(-1, 1))))
    assert abs(float(found) - np.mean(values**3)) <= found.bound <= 1e-9


def test_programs_without_a_wish_are_as_exact_as_costs_nothing():
    owner = st.Owner.for_program(mean_of_cubes, _LIKE)
    usual = st.Owner.new(**{**owner.options, "chain": None})
    assert owner.plan(mean_of_cubes, _LIKE).bound <= usual.plan(mean_of_cubes, _LIKE).bound


def test_a_share_is_of_the_largest_answer():
    like = st.like(100, range=(0, 1000))
    owner = st.Owner.for_program(lambda x: x.sum(), like, error_within="0.0001%")
    assert owner.plan(lambda x: x.sum(), like).bound <= 1e-6 * 1e5


def test_saved_owners_come_back_with_their_parameters(tmp_path):
    owner = st.Owner.for_program(mean_of_cubes, _LIKE, error_within=1e-9)
    owner.save(tmp_path / "owner.key")
    again = st.Owner.load(tmp_path / "owner.key", **owner.options)
    assert again.options == owner.options
    x = owner.encrypt(np.ones(4), range=(-1, 1))
    assert np.all(np.abs(again.decrypt(x) - 1) <= 1e-9)


def test_refusals_say_the_least_possible_error():
    with pytest.raises(st.OutOfDepth, match=r"off by .*e-\d\d, and an error of 1.0e-30 is asked"):
        st.Owner.for_program(mean_of_cubes, _LIKE, error_within=1e-30)
    with pytest.raises(st.OutOfDepth, match="least error bound"):
        st.Owner.new(error_within=1e-30)
    owner = st.Owner.new()
    with pytest.raises(st.OutOfDepth, match="Owner.for_program"):
        owner.plan(mean_of_cubes, _LIKE, error_within=1e-12)
    # The cure works.
    better = st.Owner.for_program(mean_of_cubes, _LIKE, error_within=1e-10)
    assert better.plan(mean_of_cubes, _LIKE, error_within=1e-10).bound <= 1e-10


@pytest.mark.parametrize(
    "wrong", [0, -1.0, float("nan"), float("inf"), "1e-3", "a lot", "-1%", None]
)
def test_wishes_that_are_none(wrong):
    if wrong is None:
        assert st.Owner.new(error_within=None).options == {}
        return
    with pytest.raises(ValueError, match="error_within"):
        st.Owner.new(error_within=wrong)


def test_a_gap_is_the_accuracy_of_a_comparison():
    with pytest.raises(ValueError, match="gap"):
        st.Owner.new(comparisons=0.25, error_within=1e-3)


def test_depths_never_get_more_exact():
    # As many values as fill the longest ciphertext: copies of fewer are averaged.
    like = st.like(32_768, range=(-1, 1))
    for program, least in ((lambda x: x, 2**-30), (lambda x: x.mean(), 2**-24)):
        before = 0.0
        for depth in range(8):
            bound = st.Owner.new(depth).plan(program, like).bound
            # Primes lie near their powers of two, and values are rounded to a power of two.
            assert bound >= before / 1.25
            assert bound <= least
            before = bound


def test_plans_of_roots_and_divisions_bound_their_answers(owner, rng):
    same = np.full(500, 0.25)
    for values, limits in ((same, (-1, 1)), (rng.uniform(-1, 1, 500), (-1, 1))):
        x = owner.encrypt(values, range=limits)
        plan = owner.plan(lambda x: x.std(), x)
        found = owner.decrypt(x.std())
        assert abs(float(found) - values.std()) <= found.bound <= plan.bound
    whole = owner.encrypt([1, 2, 4], range=(0, 9))
    plan = owner.plan(lambda x: x.mean(), whole)
    assert owner.decrypt(whole.mean()).bound <= plan.bound < 1e-14
    with pytest.raises(st.OutOfDepth, match="is asked"):
        owner.plan(lambda x: x.std(), st.like(500, range=(-1, 1)), error_within=1e-8)
