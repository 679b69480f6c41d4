"""Refusals that name the way out, where a computation has no encrypted form."""

import numpy as np
import pytest
import sotto as st


@pytest.fixture(scope="module")
def owner():
    return st.Owner.new(depth=2)


def test_whole_numbers_times_fractions_name_the_call_to_make(owner):
    x = owner.encrypt([20, 25, 30], range=(0, 50))
    for run in (lambda: x * 1.8, lambda: 1.8 * x, lambda: x + 0.5, lambda: x * [0.5, 1.5, 2.5]):
        with pytest.raises(TypeError, match=r"owner.encrypt\(np.asarray\(values, dtype=float\)"):
            run()
    with pytest.raises(TypeError, match="dtype=float"):
        x / 2
    assert (owner.decrypt(x * 2) == [40, 50, 60]).all()


def test_models_that_are_not_fitted():
    pytest.importorskip("sklearn")
    from sklearn.cluster import KMeans
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    for model in (
        LinearRegression(),
        KMeans(),
        MLPClassifier(),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ):
        with pytest.raises(st.NotFitted, match=r"\.fit\(") as raised:
            st.from_sklearn(model)
        assert isinstance(raised.value, (st.SottoError, ValueError))
    with pytest.raises(TypeError, match="no encrypted form of dict"):
        st.from_sklearn({})


def test_a_choice_of_public_values_alone(owner, close):
    values = np.arange(12.0).reshape(4, 3)
    x = owner.encrypt(values, range=(0, 12))
    chosen = np.array([[True, True, False]] * 4)
    chosen[0, 0] = False
    public = np.full((4, 3), 7.0)
    close(owner.decrypt(np.where(chosen, x, public)), np.where(chosen, values, public))
    close(owner.decrypt(np.where(~chosen, public, x)), np.where(~chosen, public, values))
    nothing = np.zeros(4, dtype=bool)
    found = owner.decrypt(np.where(nothing, x[:, 0], public[:, 0]))
    assert found.tolist() == [7.0] * 4 and found.bound == 0
    close(owner.decrypt(np.where(nothing, x[:, 0], 1.0).sum() + x[0, 0]), 4.0)
    whole = owner.encrypt([1, 2, 3], range=(0, 9))
    assert owner.decrypt(np.where([True, False, False], whole, 5)).tolist() == [1, 5, 5]
    assert owner.decrypt(np.where([False] * 3, whole, [4, 5, 6])).tolist() == [4, 5, 6]


def test_a_text_whose_sum_would_take_in_padding():
    like = st.like(10, range=(0, 1))
    with pytest.raises(st.BadFormula, match="np.ones"):
        st.program(lambda x: (x + 1).sum()).text(like)
    ones = np.ones(10)
    text = st.program(lambda x: ((x + 1) * ones).sum()).text(like)
    assert text.startswith("sum(")
    assert st.program(lambda x: (2 * x - x**2).sum() + 1).text(like)
    assert st.program(lambda x: (x + 1).sum()).text(st.like(8, range=(0, 1)))


def test_public_zeros(owner, close):
    values = np.array([20.5, 21.0, 18.5])
    for x, kind in [
        (owner.encrypt(values, range=(-40, 60)), float),
        (owner.encrypt([20, 21, 18], range=(0, 50)), int),
    ]:
        exact = np.array([20, 21, 18]) if kind is int else values
        for zero in (x * 0, x * np.zeros(3, dtype=kind), 0 * x * x, x.sum() * 0, (x * 0).sum()):
            found = owner.decrypt(zero)
            assert not found.any() and found.bound == 0 and str(found).endswith("± 0")
            close(owner.decrypt(x + zero), exact)
            close(owner.decrypt((zero - x).sum()), -exact.sum())
        weights = np.array([[1, 0], [0, 0], [2, 0]], dtype=kind)
        close(owner.decrypt(x @ weights), exact @ weights)
        plan = owner.plan(lambda x: x * 0, st.like(3))
        assert plan.bound == 0


def test_arrays_that_hide_nothing_do_not_travel(owner):
    x = owner.encrypt([1.0, 2.0], range=(0, 4))
    assert not np.any(np.round(owner.decrypt(x - x), 3))
    with pytest.raises(st.PublicZero, match=r"x \* 0"):
        bytes(x - x)
    assert bytes(x * 0)


def test_large_constants(owner, close):
    values = np.array([0.5, -0.25])
    x = owner.encrypt(values, range=(-1, 1)) * 0.001 + 1e14
    with pytest.raises(
        st.ConstantTooLarge, match=r"test_refusals.py:\d+, polynomial: .*wider range"
    ) as refused:
        x.polynomial([0.0, 1.0, 1.0])
    assert isinstance(refused.value, st.OutOfDepth) and len(str(refused.value)) < 300
    # The cures.
    wide = owner.encrypt(values, range=(-1e14, 1e14)) * 0.001 + 1e14
    exact = values * 0.001 + 1e14
    close(owner.decrypt(wide.polynomial([0.0, 1.0, 1.0])), exact + exact**2)
    later = owner.encrypt(values, range=(-1, 1)).polynomial([0.0, 1.0, 1.0]) + 1e14
    close(owner.decrypt(later), values + values**2 + 1e14)


@pytest.mark.parametrize("halves", range(2, 25))
def test_every_gap_has_parameters(halves):
    from sotto._contexts import Contexts

    assert Contexts(comparisons=2.0 ** (-halves / 2)).reals()


@pytest.mark.parametrize("factor", [10**9, 11 * 10**9, 194 * 10**8])
def test_the_bound_that_a_refusal_names_suffices(owner, factor):
    with pytest.raises(st.OutOfRange, match="results_within") as refused:
        owner.decrypt(owner.encrypt([1, 2, 9], range=(0, 98)) * factor)
    within = float(str(refused.value).rsplit("results_within=", 1)[1].rstrip(")"))
    wider = st.Owner.new(depth=2, results_within=within)
    found = wider.decrypt(wider.encrypt([1, 2, 9], range=(0, 98)) * factor)
    assert found.tolist() == [factor, 2 * factor, 9 * factor]


def test_too_many_products_name_depths_and_gaps_alone(owner):
    x = owner.encrypt([0.5, 0.25], range=(-1, 1))
    with pytest.raises(st.OutOfDepth, match="depth=") as refused:
        for _ in range(40):
            x = x * x
    assert "n =" not in str(refused.value) and "larger n" not in str(refused.value)
    shallow = st.Owner.new(comparisons=2**-4)
    y = shallow.encrypt([0.5, 0.25], range=(-1, 1))
    with pytest.raises(st.OutOfDepth, match="levels") as refused:
        _ = y * y > 0.1
    assert "n =" not in str(refused.value)
    # The cure.
    deeper = st.Owner.new(depth=1, comparisons=2**-4)
    z = deeper.encrypt([0.9, 0.0], range=(-1, 1))
    assert deeper.decrypt(z * z > 0.1).yes.tolist() == [True, False]
