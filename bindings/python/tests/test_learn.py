"""Models of scikit-learn on encrypted rows give scikit-learn's predictions."""

import numpy as np
import pytest
import sotto as st

pytest.importorskip("sklearn")
from sklearn.cluster import KMeans  # noqa: E402
from sklearn.datasets import (  # noqa: E402
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
)
from sklearn.decomposition import PCA  # noqa: E402
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: E402
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.svm import LinearSVC  # noqa: E402

CANCER = load_breast_cancer(return_X_y=True)
SCALED = (StandardScaler().fit_transform(CANCER[0]), CANCER[1])


def encrypted(owner, rows):
    """Encrypt rows within a round bound."""
    return owner.encrypt(rows, range=(-(limit := np.ceil(np.abs(rows).max())), limit))


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(max_iter=1000),
        LinearSVC(),
        LinearDiscriminantAnalysis(),
        GaussianNB(),
        KMeans(3, n_init=1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_predictions_on_breast_cancer(owner, model):
    rows, labels = SCALED
    model.fit(rows, labels)
    hidden = st.from_sklearn(model)
    found = hidden.predict(owner.decrypt(hidden(encrypted(owner, rows))))
    assert (found == model.predict(rows)).mean() >= 0.995


def test_a_pipeline_takes_raw_rows(owner):
    rows, labels = CANCER
    model = make_pipeline(StandardScaler(), PCA(5), LogisticRegression()).fit(rows, labels)
    hidden = st.from_sklearn(model)
    found = hidden.predict(owner.decrypt(hidden(encrypted(owner, rows))))
    assert (found == model.predict(rows)).mean() >= 0.995


def test_digits(owner):
    rows, labels = load_digits(return_X_y=True)
    model = LogisticRegression(max_iter=2000).fit(rows / 16, labels)
    hidden = st.from_sklearn(model)
    found = hidden.predict(owner.decrypt(hidden(owner.encrypt(rows / 16, range=(0, 1)))))
    assert (found == model.predict(rows / 16)).mean() >= 0.995


@pytest.mark.parametrize("model", [LinearRegression(), Ridge()], ids=["linear", "ridge"])
def test_regression_on_diabetes(owner, model):
    rows, targets = load_diabetes(return_X_y=True)
    hidden = st.from_sklearn(model.fit(rows, targets))
    scores = owner.decrypt(hidden(owner.encrypt(rows, range=(-0.25, 0.25))))
    assert np.all(np.abs(scores - model.predict(rows)) <= scores.bound + 1e-9)


def test_residual_of_a_subspace(owner):
    rows = SCALED[0][:, :6]
    model = PCA(2).fit(rows)
    hidden = st.from_sklearn(model)
    scores = owner.decrypt(hidden(encrypted(owner, rows)))
    exact = ((rows - model.inverse_transform(model.transform(rows))) ** 2).sum(axis=1)
    assert np.all(np.abs(scores - exact) <= scores.bound + 1e-9) and scores.bound < 0.1


def test_centres_leave_the_width_of_a_range(owner):
    rows, labels = CANCER
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, labels)
    ranges = np.column_stack([rows.min(axis=0), rows.max(axis=0)])
    centres = ranges.mean(axis=1)
    off_zero = owner.decrypt(st.from_sklearn(model)(owner.encrypt(rows, range=ranges)))
    hidden = owner.encrypt(rows - centres, range=ranges - centres[:, None])
    scores = owner.decrypt(st.from_sklearn(model, centres=centres)(hidden))
    for found in (off_zero, scores):
        assert np.all(np.abs(found - model.decision_function(rows)) <= found.bound + 1e-9)
    assert scores.bound < off_zero.bound


def test_refusals(owner):
    with pytest.raises(TypeError, match="no encrypted form"):
        st.from_sklearn(StandardScaler().fit(SCALED[0]))
    hidden = st.from_sklearn(Ridge().fit(*load_diabetes(return_X_y=True)))
    with pytest.raises(st.ShapeMismatch, match="10 features"):
        hidden(owner.encrypt(np.ones((4, 3))))
    with pytest.raises(TypeError, match="for networks"):
        st.from_sklearn(Ridge().fit(*load_diabetes(return_X_y=True)), degree=3)
    with pytest.raises(st.OutOfRange, match="centres"):
        st.from_sklearn(Ridge().fit(*load_diabetes(return_X_y=True)), centres=[1.0, 2.0])


def test_scores_of_no_feature(owner):
    rows, labels = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(rows, labels)
    # As an L1 penalty leaves it.
    model.coef_[1] = 0.0
    ours = st.from_sklearn(model)
    hidden = owner.encrypt(rows[::3], range=(0, 8))
    scores = owner.decrypt(ours(hidden))
    assert not scores[:, 1].any()
    assert (ours.predict(scores) == model.predict(rows[::3])).all()
    plan = owner.plan(ours, st.like((50, 4), range=(0, 8)))
    sent = st.DetachedArray(bytes(ours(hidden)))
    assert (ours.predict(owner.decrypt(sent, plan)) == model.predict(rows[::3])).all()
    rare = Ridge().fit(rows, labels)
    rare.coef_[:] = 0.0
    ours = st.from_sklearn(rare)
    found = ours.predict(owner.decrypt(ours(hidden)))
    assert np.allclose(found, rare.predict(rows[::3]))
