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
    with pytest.raises(st.OutOfRange, match=r"column 2 .* public"):
        np.where(chosen, x, public)
    with pytest.raises(st.OutOfRange, match=r"column 2 .* public"):
        np.where(~chosen, public, x)
    kept = np.where(chosen[:, :2], x[:, :2], public[:, :2])
    close(owner.decrypt(kept), np.where(chosen, values, public)[:, :2])
    with pytest.raises(st.OutOfRange, match="public"):
        np.where(np.zeros(4, dtype=bool), x[:, 0], 1.0)
    close(owner.decrypt(np.where(chosen[:, 1], x[:, 1], 1.0)), values[:, 1])


def test_a_text_whose_sum_would_take_in_padding():
    like = st.like(10, range=(0, 1))
    with pytest.raises(st.BadFormula, match="np.ones"):
        st.program(lambda x: (x + 1).sum()).text(like)
    ones = np.ones(10)
    text = st.program(lambda x: ((x + 1) * ones).sum()).text(like)
    assert text.startswith("sum(")
    assert st.program(lambda x: (2 * x - x**2).sum() + 1).text(like)
    assert st.program(lambda x: (x + 1).sum()).text(st.like(8, range=(0, 1)))
