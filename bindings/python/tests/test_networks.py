"""Networks with polynomials in place of activations predict like scikit-learn's."""

import warnings

import numpy as np
import pytest
import sotto as st

pytest.importorskip("sklearn")
from sklearn.datasets import load_breast_cancer, load_digits  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.neural_network import MLPClassifier, MLPRegressor  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

warnings.filterwarnings("ignore", category=ConvergenceWarning)


def owner_of(model, rows, ranges):
    """Return the smallest owner for all rows, and the encrypted rows."""
    owner = st.Owner.for_program(model, st.like(rows.shape, range=ranges))
    return owner, owner.encrypt(rows, range=ranges)


def test_digits():
    rows, labels = load_digits(return_X_y=True)
    rows = rows / 16
    fitted = MLPClassifier(hidden_layer_sizes=(12,), max_iter=200, random_state=1).fit(
        rows[:1200], labels[:1200]
    )
    model = st.from_sklearn(fitted, rows=rows[:1200])
    shown = model.accuracy(rows, labels)
    owner, hidden = owner_of(model, rows, (0, 1))
    scores = owner.decrypt(model(hidden))
    found = model.predict(scores)
    # Shown in the clear before, the same on ciphertexts; 600 of the rows were not calibrated on.
    assert (found == fitted.predict(rows)).mean() >= 0.995
    assert abs((found == labels).mean() - shown.accuracy) < 1e-3
    assert abs(shown.model_accuracy - (fitted.predict(rows) == labels).mean()) < 1e-12
    assert scores.shape == (1797, 10) and scores.bound < 0.05
    with pytest.raises(st.OutOfDepth, match=r"Owner.new\(depth=4\)"):
        model(st.Owner.new(depth=model.levels - 3).encrypt(rows[:4], range=(0, 1)))


def test_breast_cancer_in_a_pipeline_with_centres():
    rows, labels = load_breast_cancer(return_X_y=True)
    network = MLPClassifier(hidden_layer_sizes=(6,), max_iter=600, random_state=1)
    fitted = make_pipeline(StandardScaler(), network).fit(rows, labels)
    ranges = np.column_stack([rows.min(axis=0), rows.max(axis=0)])
    centres = ranges.mean(axis=1)
    model = st.from_sklearn(fitted, rows=rows, centres=centres)
    owner, hidden = owner_of(model, rows - centres, ranges - centres[:, None])
    scores = owner.decrypt(model(hidden))
    assert (model.predict(scores) == fitted.predict(rows)).mean() >= 0.995
    assert model.degree == 3 and scores.bound < 1e-4


def test_two_hidden_layers_of_a_regression(rng):
    rows = rng.uniform(-1, 1, (200, 2))
    targets = np.tanh(2 * rows[:, 0]) - rows[:, 1] ** 2
    fitted = MLPRegressor(
        hidden_layer_sizes=(4, 3), activation="tanh", max_iter=2000, random_state=1
    ).fit(rows, targets)
    model = st.from_sklearn(fitted, rows=rows, ranges=[(-1, 1)] * 2, degree=3)
    shown = model.accuracy(rows, targets)
    assert model.levels == 7 and shown.equal > 0.98 and shown.outside == 0.0
    owner, hidden = owner_of(model, rows, (-1, 1))
    scores = owner.decrypt(model(hidden))
    off = np.abs(scores - fitted.predict(rows)).max()
    assert off <= shown.largest_difference + scores.bound and scores.bound < 0.05


@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic"])
def test_ranges_hold_every_row(activation, rng):
    ranges = np.array([(0.0, 1.0), (-50.0, 10.0), (7.0, 7.5)])
    rows = rng.uniform(ranges[:, 0], ranges[:, 1], (300, 3))
    corners = np.stack(np.meshgrid(*ranges), axis=-1).reshape(-1, 3)
    targets = np.sin(rows @ [1.0, 0.1, 2.0])
    fitted = MLPRegressor(
        hidden_layer_sizes=(5, 4), activation=activation, max_iter=300, random_state=0
    )
    model = st.from_sklearn(fitted.fit(rows, targets), ranges=ranges, degree=15)
    # The interval of every unit holds all that the ranges can lead to.
    assert model.accuracy(np.vstack([rows, corners])).outside == 0.0
    assert model.accuracy(ranges.mean(axis=1)[None] + [0.0, 500.0, 0.0]).outside == 1.0


def test_an_identity_is_exact(rng):
    rows = rng.normal(size=(60, 3))
    fitted = MLPRegressor(
        hidden_layer_sizes=(4,), activation="identity", max_iter=200, random_state=0
    )
    model = st.from_sklearn(fitted.fit(rows, rows @ [1.0, -2.0, 0.5]), rows=rows)
    assert model.accuracy(rows * 100).largest_difference < 1e-9 and model.levels == 3


def test_a_unit_that_is_never_active_costs_nothing(rng):
    rows = rng.uniform(0, 1, (80, 2))
    fitted = MLPRegressor(hidden_layer_sizes=(3,), max_iter=200, random_state=0).fit(
        rows, rows.sum(axis=1)
    )
    fitted.coefs_[0][:, 1], fitted.intercepts_[0][1] = -1.0, -1.0
    model = st.from_sklearn(fitted, rows=rows)
    assert [layer.weights.shape for layer in model._layers] == [(2, 2), (2, 1)]
    assert model.accuracy(rows).equal > 0.9


def test_more_degrees_are_closer(rng):
    rows = rng.normal(size=(200, 2))
    fitted = MLPRegressor(hidden_layer_sizes=(8,), activation="tanh", max_iter=500, random_state=0)
    fitted.fit(rows, np.tanh(3 * rows[:, 0]) + rows[:, 1])
    errors = [
        st.from_sklearn(fitted, rows=rows, degree=degree).accuracy(rows).largest_difference
        for degree in (3, 7, 15)
    ]
    assert errors[0] > 2 * errors[1] > 4 * errors[2]


def test_refusals(rng):
    rows = rng.normal(size=(40, 3))
    fitted = MLPClassifier(hidden_layer_sizes=(3,), max_iter=20).fit(rows, rows[:, 0] > 0)
    with pytest.raises(TypeError, match="rows="):
        st.from_sklearn(fitted)
    with pytest.raises(st.OutOfRange, match="degree"):
        st.from_sklearn(fitted, rows=rows, degree=0)
    with pytest.raises(st.ShapeMismatch):
        st.from_sklearn(fitted, rows=rows[:, :2])
    with pytest.raises(st.ShapeMismatch):
        st.from_sklearn(fitted, ranges=[(0, 1)] * 2)
    several = MLPClassifier(hidden_layer_sizes=(3,), max_iter=20).fit(rows, (rows > 0).astype(int))
    with pytest.raises(TypeError, match="several labels"):
        st.from_sklearn(several, rows=rows)
