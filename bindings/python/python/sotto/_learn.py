"""Models of scikit-learn on encrypted rows, and models fitted from encrypted moments.

Everything here is exact up to the answer's bound: products and sums on ciphertexts, and the last
step (a root, a label, the solution of a small system) by the owner.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sotto._array import EncryptedArray
from sotto._errors import ShapeMismatch
from sotto._owner import Owner

Matrix = np.ndarray[Any, Any]


class Model:
    """A fitted model: scores on ciphertexts, predictions from decrypted scores."""

    def __init__(
        self,
        name: str,
        score: Callable[[EncryptedArray], EncryptedArray],
        predict: Callable[[Matrix], Matrix],
        features: int,
    ) -> None:
        """Take the two halves of a model."""
        self._name, self._score, self._predict, self._features = name, score, predict, features

    def __call__(self, rows: EncryptedArray) -> EncryptedArray:
        """Compute the scores of encrypted rows; anybody with the keys to compute can."""
        if rows.ndim != 2 or rows.shape[1] != self._features:
            raise ShapeMismatch(
                f"{self._name} takes rows of {self._features} features, not shape {rows.shape}"
            )
        return self._score(rows)

    def predict(self, scores: Any) -> Matrix:
        """Return predictions from decrypted scores: values, labels, or nearest centres."""
        return self._predict(np.asarray(scores))

    def __repr__(self) -> str:
        """Return the model's name and width."""
        return f"Model({self._name}, {self._features} features)"


class _Affine:
    """x ↦ x·W + b, by which scalers and projections are folded into the model behind them."""

    def __init__(self, weights: Matrix, offset: Matrix) -> None:
        self.weights, self.offset = weights, offset

    @classmethod
    def identity(cls, features: int) -> _Affine:
        return cls(np.eye(features), np.zeros(features))

    def then(self, weights: Matrix, offset: Matrix) -> _Affine:
        return _Affine(self.weights @ weights, self.offset @ weights + offset)

    def __call__(self, rows: EncryptedArray) -> EncryptedArray:
        if np.array_equal(self.weights, np.eye(len(self.weights))):
            return rows if not self.offset.any() else rows + self.offset
        used = self.weights.any(axis=0)
        if not used.all():
            raise ShapeMismatch("a score of the model depends on no feature")
        return rows @ self.weights + self.offset


def from_sklearn(model: Any) -> Model:
    """Take a fitted model of scikit-learn for encrypted rows of real numbers.

    Pipelines of StandardScaler and PCA before LinearRegression, Ridge, Lasso, ElasticNet,
    LogisticRegression, LinearSVC, Perceptron, RidgeClassifier (one level), GaussianNB, KMeans (two
    levels). A PCA alone scores anomalies: the squared distance to its subspace.
    """
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    features = int(steps[0].n_features_in_)
    before = _Affine.identity(features)
    for step in steps[:-1]:
        before = _transformed(before, step)
    last = steps[-1]
    kind = type(last).__name__
    build = _MODELS.get(kind)
    if build is None:
        raise TypeError(
            f"no encrypted form of {kind}; there is one of: {', '.join(sorted(_MODELS))}"
        )
    score, predict = build(before, last)
    return Model(kind, score, predict, features)


def _transformed(before: _Affine, step: Any) -> _Affine:
    kind = type(step).__name__
    if kind == "StandardScaler":
        scale = np.ones(step.n_features_in_) if step.scale_ is None else step.scale_
        mean = np.zeros(step.n_features_in_) if step.mean_ is None else step.mean_
        return before.then(np.diag(1.0 / scale), -mean / scale)
    if kind == "PCA" and not step.whiten:
        return before.then(step.components_.T, -step.mean_ @ step.components_.T)
    raise TypeError(f"no encrypted form of the step {kind}: StandardScaler and PCA have one")


Halves = tuple[Callable[[EncryptedArray], EncryptedArray], Callable[[Matrix], Matrix]]


def _regression(before: _Affine, model: Any) -> Halves:
    weights = np.atleast_2d(model.coef_).T
    whole = before.then(weights, np.broadcast_to(model.intercept_, weights.shape[1:]))
    single = np.ndim(model.coef_) == 1
    return (lambda x: _one(whole(x)) if single else whole(x)), lambda scores: scores


def _classifier(before: _Affine, model: Any) -> Halves:
    whole = before.then(model.coef_.T, np.broadcast_to(model.intercept_, len(model.coef_)))
    classes = model.classes_
    if len(model.coef_) == 1:
        return (lambda x: _one(whole(x))), lambda scores: classes[(scores > 0).astype(int)]
    return whole, lambda scores: classes[scores.argmax(axis=1)]


def _naive_bayes(before: _Affine, model: Any) -> Halves:
    constant = np.log(model.class_prior_) - 0.5 * np.log(2 * np.pi * model.var_).sum(axis=1)
    constant -= 0.5 * (model.theta_**2 / model.var_).sum(axis=1)

    def score(x: EncryptedArray) -> EncryptedArray:
        z = before(x)
        linear = z @ (model.theta_ / model.var_).T
        squares: EncryptedArray = z**2 @ (-0.5 / model.var_).T
        total: EncryptedArray = squares + linear + constant
        return total

    return score, lambda scores: model.classes_[scores.argmax(axis=1)]


def _centres(before: _Affine, model: Any) -> Halves:
    centres = model.cluster_centers_

    def score(x: EncryptedArray) -> EncryptedArray:
        z = before(x)
        linear = z @ (-2.0 * centres.T) + (centres**2).sum(axis=1)
        distances: EncryptedArray = linear + (z**2).sum(axis=1)[:, None]
        return distances

    return score, lambda scores: scores.argmin(axis=1)


def _residual(before: _Affine, model: Any) -> Halves:
    centred = before.then(np.eye(len(model.mean_)), -model.mean_)
    projected = centred.then(model.components_.T, np.zeros(len(model.components_)))

    def score(x: EncryptedArray) -> EncryptedArray:
        return (centred(x) ** 2).sum(axis=1) - (projected(x) ** 2).sum(axis=1)

    return score, lambda scores: np.maximum(scores, 0.0)


def _one(scores: EncryptedArray) -> EncryptedArray:
    return scores[:, 0]


_MODELS: dict[str, Callable[[_Affine, Any], Halves]] = {
    **dict.fromkeys(("LinearRegression", "Ridge", "Lasso", "ElasticNet"), _regression),
    **dict.fromkeys(("LogisticRegression", "LinearSVC", "Perceptron"), _classifier),
    "RidgeClassifier": _classifier,
    "GaussianNB": _naive_bayes,
    "KMeans": _centres,
    "PCA": _residual,
}


class EncryptedMoments:
    """Sums over rows of features, targets and their products: all that ridge regression needs."""

    def __init__(self, rows: EncryptedArray, targets: EncryptedArray, alpha: float) -> None:
        """Add up the products of all pairs of columns; one level."""
        if rows.ndim != 2 or targets.shape != rows.shape[:1]:
            raise ShapeMismatch(
                f"features of shape {rows.shape} and targets of shape {targets.shape}: rows and "
                "columns, and one target a row"
            )
        self._gram, self._cross = rows.T @ rows, rows.T @ targets
        self._sums, self._total = rows.sum(axis=0), targets.sum()
        self._count, self._alpha = len(rows), alpha

    def solve(self, owner: Owner) -> RidgeModel:
        """Decrypt the sums and solve: coefficients and intercept of ridge regression."""
        parts = (self._gram, self._cross, self._sums, self._total)
        gram, cross, sums, total = (owner.decrypt(part) for part in parts)
        count = self._count
        means, mean = np.asarray(sums) / count, float(total) / count
        system = np.asarray(gram) - count * np.outer(means, means)
        system += self._alpha * np.eye(len(means))
        right = np.asarray(cross) - count * mean * means
        coefficients = np.linalg.solve(system, right)
        # The errors of the centred sums, carried through the system (Higham 2002, theorem 7.4).
        largest = np.abs(means).max()
        off_system = gram.bound + sums.bound * (2 * largest + sums.bound / count)
        off_right = cross.bound + sums.bound * abs(mean) + total.bound * largest
        off_right += sums.bound * total.bound / count
        inverse = np.abs(np.linalg.inv(system)).sum(axis=1)
        slack = 1 - off_system * len(means) * inverse.max()
        spread = inverse * (off_right + off_system * np.abs(coefficients).sum())
        bound = spread / slack if slack > 0 else np.full_like(spread, np.inf)
        return RidgeModel(coefficients, mean - float(means @ coefficients), bound)


class RidgeModel:
    """A fitted ridge regression, with scikit-learn's names.

    `coef_bound_` bounds the error of each coefficient that the error of the sums causes. It is
    large, or infinite, where columns vary little beside their declared range or depend on one
    another: encrypt them in a tighter range, or subtract a public centre first.
    """

    def __init__(self, coefficients: Matrix, intercept: float, bound: Matrix) -> None:
        """Take coefficients, intercept, and the bounds on the coefficients."""
        self.coef_, self.intercept_, self.coef_bound_ = coefficients, intercept, bound

    def predict(self, rows: Any) -> Any:
        """Predict from clear or encrypted rows."""
        return rows @ self.coef_ + self.intercept_


def fit_ridge(
    rows: EncryptedArray, targets: EncryptedArray, alpha: float = 1.0
) -> EncryptedMoments:
    """Compute on ciphertexts what ridge regression needs; `solve(owner)` gives the model.

    No iterations and no approximation: products of depth 1, and a system of as many equations as
    there are features, which the owner solves.
    """
    if not (np.isfinite(alpha) and alpha >= 0):
        raise ValueError(f"alpha={alpha} is not a number of at least 0")
    return EncryptedMoments(rows, targets, alpha)
