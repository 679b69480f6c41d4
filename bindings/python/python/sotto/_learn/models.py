"""Models of scikit-learn on encrypted rows.

Everything here is exact up to the answer's bound: products and sums on ciphertexts, and the last
step (a label, the nearest centre) by the owner. Networks alone are approximated: `network`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sotto._array import EncryptedArray
from sotto._errors import NotFitted
from sotto._learn.model import Matrix, Model
from sotto._learn.moments import centres_of


class _Affine:
    """x ↦ x·W + b, by which scalers and projections are folded into the model behind them."""

    def __init__(self, weights: Matrix, offset: Matrix) -> None:
        self.weights, self.offset = weights, offset
        # A score of no feature is public: the owner adds it to a zero.
        self.public = np.where(weights.any(axis=0), 0.0, offset)

    def then(self, weights: Matrix, offset: Matrix) -> _Affine:
        return _Affine(self.weights @ weights, self.offset @ weights + offset)

    def __call__(self, rows: EncryptedArray) -> EncryptedArray:
        if np.array_equal(self.weights, np.eye(len(self.weights))):
            return rows if not self.offset.any() else rows + self.offset
        return rows @ self.weights + (self.offset - self.public)


def from_sklearn(
    model: Any,
    *,
    centres: Any = None,
    rows: Any = None,
    ranges: Any = None,
    degree: int | None = None,
) -> Model:
    """Take a fitted model of scikit-learn for encrypted rows of real numbers.

    Pipelines of StandardScaler and PCA before LinearRegression, Ridge, Lasso, ElasticNet,
    LogisticRegression, LinearSVC, Perceptron, RidgeClassifier, LinearDiscriminantAnalysis (one
    level), GaussianNB, KMeans (two levels), MLPClassifier, MLPRegressor. A PCA alone scores
    anomalies: the squared distance to its subspace. Models that were fitted on ciphertexts
    (`fit_ridge` and others) are taken too.

    Of networks the activations become polynomials: `rows`, `ranges` and `degree` say where and how
    exactly, and the result is a `NetworkModel`.

    Args:
        model: A fitted model or pipeline.
        centres: Public numbers that are subtracted from the columns before encryption. With the
            middle of each column's range, bounds follow the range's width alone.
        rows: Clear rows like those to come, of the shape (rows, features). The polynomials are
            fitted where these rows lie.
        ranges: The lowest and highest value of every feature, of the shape (features, 2), as
            declared for encryption; default: those of `rows`. Without `rows` the polynomials are
            fitted wherever such values can lead, which is wider and less exact.
        degree: The polynomials' degree; default: 3 if that predicts like the model on 99.95 % of
            `rows`, otherwise the better of 3 and 7; 7 without `rows`. Higher degrees lose bits of
            the answer where rows may leave the interval of a polynomial: see the bound of
            `owner.plan(model, …)`.

    Raises:
        NotFitted: The model, or a step of the pipeline, was not fitted.
        TypeError: The model has no encrypted form, or a network comes without rows and ranges.
    """
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    for step in steps:
        if not hasattr(step, "fit") and not hasattr(step, "n_features_in_"):
            raise TypeError(f"no encrypted form of {type(step).__name__}")
        if not hasattr(step, "n_features_in_"):
            raise NotFitted(f"{type(step).__name__} is not fitted: call model.fit(…) first")
    features = int(steps[0].n_features_in_)
    middle = centres_of(centres, features)
    before = _Affine(np.eye(features), middle)
    for step in steps[:-1]:
        before = _transformed(before, step)
    last = steps[-1]
    kind = type(last).__name__
    if kind in ("MLPClassifier", "MLPRegressor"):
        from sotto._learn.network import Folded, network_of

        folded = Folded(middle, before.weights, before.offset)
        return network_of(model, last, folded, rows, ranges, degree)
    build = _MODELS.get(kind)
    if build is None:
        names = sorted([*_MODELS, "MLPClassifier", "MLPRegressor"])
        raise TypeError(f"no encrypted form of {kind}; these have one: {', '.join(names)}")
    if not (rows is None and ranges is None and degree is None):
        raise TypeError(f"{kind} is exact: rows=, ranges= and degree= are for networks")
    score, predict = build(before, last)
    return Model(kind, score, predict, features)


def _transformed(before: _Affine, step: Any) -> _Affine:
    kind = type(step).__name__
    if kind == "StandardScaler":
        scale = np.ones(step.n_features_in_) if step.scale_ is None else step.scale_
        mean = np.zeros(step.n_features_in_) if step.mean_ is None else step.mean_
        return before.then(np.diag(1.0 / scale), -mean / scale)
    if kind in ("PCA", "PcaModel") and not step.whiten:
        return before.then(step.components_.T, -step.mean_ @ step.components_.T)
    raise TypeError(f"no encrypted form of the step {kind}: StandardScaler and PCA have one")


Halves = tuple[Callable[[EncryptedArray], EncryptedArray], Callable[[Matrix], Matrix]]


def _regression(before: _Affine, model: Any) -> Halves:
    weights = np.atleast_2d(model.coef_).T
    whole = before.then(weights, np.broadcast_to(model.intercept_, weights.shape[1:]))
    if np.ndim(model.coef_) == 1:
        return (lambda x: _one(whole(x))), lambda scores: scores + whole.public[0]
    return whole, lambda scores: scores + whole.public


def _classifier(before: _Affine, model: Any) -> Halves:
    whole = before.then(model.coef_.T, np.broadcast_to(model.intercept_, len(model.coef_)))
    classes = model.classes_
    if len(model.coef_) == 1:
        public = whole.public[0]
        return (lambda x: _one(whole(x))), lambda scores: classes[(scores + public > 0).astype(int)]
    return whole, lambda scores: classes[(scores + whole.public).argmax(axis=1)]


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
    **dict.fromkeys(("RidgeClassifier", "LinearDiscriminantAnalysis"), _classifier),
    "RidgeModel": _regression,
    "LdaModel": _classifier,
    **dict.fromkeys(("GaussianNB", "NaiveBayesModel"), _naive_bayes),
    **dict.fromkeys(("PCA", "PcaModel"), _residual),
    "KMeans": _centres,
}
