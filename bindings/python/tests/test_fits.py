"""Models that are fitted on ciphertexts are scikit-learn's fits of the same rows."""

import os
from pathlib import Path

import numpy as np
import pytest
import sotto as st

pytest.importorskip("sklearn")
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine  # noqa: E402
from sklearn.decomposition import PCA  # noqa: E402
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: E402
from sklearn.linear_model import LinearRegression, Ridge  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402

FOLDER = os.environ.get("SOTTO_DATASETS")
ROUNDING = 1e-9


@pytest.fixture(scope="module")
def owner():
    """Return an owner with room for one product and a sum."""
    return st.Owner.new(depth=1)


@pytest.fixture(scope="module")
def deeper():
    """Return an owner with room for three products and a sum."""
    return st.Owner.new(depth=3)


def centred(owner, rows):
    """Encrypt rows less the middles of their columns' ranges."""
    ranges = np.column_stack([rows.min(axis=0), rows.max(axis=0)])
    centres = ranges.mean(axis=1)
    return owner.encrypt(rows - centres, range=ranges - centres[:, None]), centres


def one_hot(owner, labels):
    return owner.encrypt((labels[:, None] == np.unique(labels)).astype(float), range=(0, 1))


def within(found, exact, bound):
    return np.all(np.abs(found - exact) <= bound + ROUNDING * np.abs(exact))


def same(model, exact):
    """Check the coefficients of a ridge regression."""
    return within(model.coef_, exact.coef_, model.coef_bound_) and within(
        model.intercept_, exact.intercept_, model.intercept_bound_
    )


def test_ridge_on_diabetes(owner):
    rows, targets = load_diabetes(return_X_y=True)
    X, y = owner.encrypt(rows, range=(-0.25, 0.25)), owner.encrypt(targets, range=(0, 400))
    exact = Ridge(alpha=0.1).fit(rows, targets)
    model = st.fit_ridge(X, y, alpha=0.1).solve(owner)
    assert same(model, exact) and model.coef_bound_.max() < 0.05
    assert np.allclose(model.predict(rows), exact.predict(rows), atol=0.01)
    scores = owner.decrypt(st.from_sklearn(model)(X))
    assert np.allclose(scores, exact.predict(rows), atol=0.01 + scores.bound)
    assert model.predict(X).shape == (442,)


def test_least_squares_are_ridge_without_alpha(owner, rng):
    rows = rng.uniform(-1, 1, (300, 3))
    targets = rows @ [0.3, -0.2, 0.1] + 0.25
    X, y = owner.encrypt(rows, range=(-1, 1)), owner.encrypt(targets, range=(-1, 1))
    model = st.fit_ridge(X, y, alpha=0).solve(owner)
    assert same(model, LinearRegression().fit(rows, targets))
    # Without noise in the targets, the fit is known beforehand.
    assert (
        within(model.coef_, [0.3, -0.2, 0.1], model.coef_bound_) and model.coef_bound_.max() < 1e-5
    )


def test_centres_tighten_bounds_far_from_zero(owner, rng):
    rows = np.column_stack([rng.uniform(990, 1030, 500), rng.uniform(20, 21, 500)])
    targets = 0.1 * rows[:, 0] - 2 * rows[:, 1] + rng.normal(size=500)
    exact = Ridge().fit(rows, targets)
    ranges = [(990, 1030), (20, 21)]
    middle = targets.mean().round()
    y = owner.encrypt(targets - middle, range=(-20, 20))
    far = st.fit_ridge(owner.encrypt(rows, range=ranges), y, target_centre=middle).solve(owner)
    centres = np.mean(ranges, axis=1)
    X = owner.encrypt(rows - centres, range=[(-20, 20), (-0.5, 0.5)])
    near = st.fit_ridge(X, y, centres=centres, target_centre=middle).solve(owner)
    for model in (far, near):
        assert same(model, exact)
    assert np.all(100 * near.coef_bound_ < far.coef_bound_)


def test_dependent_columns_have_no_bound(owner, rng):
    column = rng.uniform(-1, 1, (100, 1))
    X = owner.encrypt(np.hstack([column, column]), range=(-1, 1))
    y = owner.encrypt(column[:, 0], range=(-1, 1))
    assert np.isinf(st.fit_ridge(X, y, alpha=0).solve(owner).coef_bound_).all()
    assert np.isfinite(st.fit_ridge(X, y, alpha=1).solve(owner).coef_bound_).all()


def test_more_rows_than_a_ciphertext_holds(owner, rng):
    rows = rng.normal(size=(20_000, 2)).clip(-4, 4)
    targets = rows @ [2.0, -1.0] + rng.normal(size=20_000).clip(-4, 4)
    X, y = owner.encrypt(rows, range=(-4, 4)), owner.encrypt(targets, range=(-16, 16))
    model = st.fit_ridge(X, y).solve(owner)
    assert same(model, Ridge().fit(rows, targets)) and model.coef_bound_.max() < 1e-3


def test_principal_components(owner):
    rows = load_wine().data[:, :6]
    X, centres = centred(owner, rows)
    model, exact = st.fit_pca(X, 3, centres=centres).solve(owner), PCA(3).fit(rows)
    assert within(model.mean_, exact.mean_, model.mean_bound_)
    bound = model.explained_variance_bound_
    assert within(model.explained_variance_, exact.explained_variance_, bound) and bound < 1e-3
    cosines = np.abs((model.components_ * exact.components_).sum(axis=1))
    sines = np.sqrt(np.maximum(1 - cosines**2, 0.0))
    assert np.all(sines <= model.components_bound_ + 1e-6)
    assert model.components_bound_.max() < 1e-3
    assert np.allclose(model.explained_variance_ratio_, exact.explained_variance_ratio_, atol=1e-5)
    largest = np.abs(model.components_).argmax(axis=1)
    assert np.all(model.components_[np.arange(3), largest] > 0)
    signs = np.sign((model.components_ * exact.components_).sum(axis=1))
    assert np.allclose(model.transform(rows), exact.transform(rows) * signs, atol=1e-3)
    projected = owner.decrypt(model.transform(owner.encrypt(rows, range=(0, 170))))
    assert np.allclose(projected, model.transform(rows), atol=projected.bound)


def test_components_that_cannot_be_told_apart(owner):
    square = np.array([(1.0, 0), (-1, 0), (0, 1), (0, -1)])
    model = st.fit_pca(owner.encrypt(square, range=(-1, 1))).solve(owner)
    assert np.all(model.components_bound_ == 1.0)
    assert within(model.explained_variance_, 2 / 3, model.explained_variance_bound_)


@pytest.mark.parametrize("hidden", [True, False], ids=["hidden labels", "public labels"])
def test_discriminants_of_breast_cancer(owner, hidden):
    rows, labels = load_breast_cancer(return_X_y=True)
    rows = rows[:, :8]
    X, centres = centred(owner, rows)
    y = one_hot(owner, labels) if hidden else labels
    model = st.fit_lda(X, y, centres=centres).solve(owner)
    exact = LinearDiscriminantAnalysis(solver="lsqr").fit(rows, labels)
    assert np.array_equal(model.priors_, exact.priors_)
    assert within(model.means_, exact.means_, model.means_bound_)
    assert within(model.covariance_, exact.covariance_, model.covariance_bound_)
    # One row for two classes, as scikit-learn has it.
    assert model.coef_.shape == exact.coef_.shape == (1, 8)
    assert within(model.coef_, exact.coef_, model.coef_bound_ + 1e-9)
    assert within(model.intercept_, exact.intercept_, model.intercept_bound_)
    assert np.isfinite(model.coef_bound_).all()
    assert (model.predict(rows) == exact.predict(rows)).mean() >= 0.995
    scores = owner.decrypt(st.from_sklearn(model, centres=centres)(X))
    found = st.from_sklearn(model).predict(scores)
    assert (found == exact.predict(rows)).mean() >= 0.995


def test_discriminants_of_three_named_classes(owner):
    data = load_iris()
    names = data.target_names[data.target]
    X, centres = centred(owner, data.data)
    y = one_hot(owner, names)
    model = st.fit_lda(X, y, classes=np.unique(names), centres=centres).solve(owner)
    exact = LinearDiscriminantAnalysis(solver="lsqr").fit(data.data, names)
    assert within(model.coef_, exact.coef_, model.coef_bound_)
    assert within(model.intercept_, exact.intercept_, model.intercept_bound_)
    assert np.array_equal(model.predict(data.data), exact.predict(data.data))


@pytest.mark.parametrize("hidden", [True, False], ids=["hidden labels", "public labels"])
def test_naive_bayes(deeper, hidden):
    rows, labels = load_wine(return_X_y=True)
    X, centres = centred(deeper, rows)
    y = one_hot(deeper, labels) if hidden else labels
    model = st.fit_naive_bayes(X, y, centres=centres).solve(deeper)
    exact = GaussianNB().fit(rows, labels)
    assert np.array_equal(model.class_count_, exact.class_count_)
    assert within(model.theta_, exact.theta_, model.theta_bound_)
    assert within(model.var_, exact.var_, model.var_bound_)
    assert (model.var_bound_ / exact.var_).max() < 0.05
    assert (model.predict(rows) == exact.predict(rows)).mean() >= 0.995


def test_refusals(owner):
    X, y = owner.encrypt(np.ones((4, 3))), owner.encrypt(np.ones(3))
    hot = owner.encrypt(np.array([(1.0, 0)] * 4), range=(0, 1))
    with pytest.raises(st.ShapeMismatch, match="one target a row"):
        st.fit_ridge(X, y)
    with pytest.raises(st.ShapeMismatch, match="one target a row"):
        st.fit_ridge(X, np.ones(4))
    with pytest.raises(TypeError, match="not encrypted"):
        st.fit_pca(np.ones((4, 3)))
    with pytest.raises(st.ShapeMismatch, match="float64"):
        st.fit_pca(owner.encrypt(np.ones((4, 3), dtype=int)))
    with pytest.raises(st.ShapeMismatch, match="components"):
        st.fit_pca(X, 4)
    with pytest.raises(ValueError, match="alpha"):
        st.fit_ridge(X, owner.encrypt(np.ones(4)), alpha=-1)
    with pytest.raises(st.OutOfRange, match="centres"):
        st.fit_pca(X, centres=[0.0, np.nan, 0.0])
    with pytest.raises(st.ShapeMismatch, match="labels"):
        st.fit_lda(X, y)
    with pytest.raises(st.ShapeMismatch, match="3 classes"):
        st.fit_lda(X, hot, classes=["a", "b", "c"])
    with pytest.raises(st.ShapeMismatch, match="labels"):
        st.fit_lda(X, [0, 1, 0])
    with pytest.raises(st.OutOfRange, match="two classes"):
        st.fit_lda(X, [1, 1, 1, 1])
    with pytest.raises(st.OutOfRange, match="without rows"):
        st.fit_lda(X, hot).solve(owner)
    half = owner.encrypt(np.full((4, 2), 0.3), range=(0, 1))
    with pytest.raises(st.OutOfRange, match="not 0 and 1"):
        st.fit_lda(X, half).solve(owner)
    with pytest.raises(st.SottoError):
        st.fit_pca(X).solve(st.Owner.new(depth=1))


needs_data = pytest.mark.skipif(not FOLDER, reason="SOTTO_DATASETS names no folder")


@needs_data
def test_a_regression_on_water_flow(owner):
    flow = np.genfromtxt(Path(FOLDER) / "water-flow.csv", delimiter=",", skip_header=1)[:, 1]
    assert np.isfinite(flow).all() and 0 <= flow.min() and flow.max() <= 400
    # The flow of an hour from the hours before it: one, two and twenty-four.
    rows = np.column_stack([flow[23:-1], flow[22:-2], flow[:-24]])
    targets = flow[24:]
    X, y = owner.encrypt(rows - 200, range=(-200, 200)), owner.encrypt(targets, range=(0, 400))
    model = st.fit_ridge(X, y, centres=200).solve(owner)
    exact = Ridge().fit(rows, targets)
    assert same(model, exact) and model.coef_bound_.max() < 5e-3
    assert np.allclose(model.predict(rows), exact.predict(rows), atol=0.01)


@needs_data
def test_anomalies_of_motes(deeper):
    data = np.genfromtxt(Path(FOLDER) / "sensor-network.csv", delimiter=",", skip_header=1)
    rows, labels = data[:, 3:5], data[:, 5].astype(int)
    X, centres = centred(deeper, rows)
    y = one_hot(deeper, labels)
    for fit, exact in [
        (st.fit_naive_bayes, GaussianNB()),
        (st.fit_lda, LinearDiscriminantAnalysis(solver="lsqr")),
    ]:
        model = fit(X, y, centres=centres).solve(deeper)
        assert (model.predict(rows) == exact.fit(rows, labels).predict(rows)).mean() >= 0.995
