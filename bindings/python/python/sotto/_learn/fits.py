"""Fits on ciphertexts: moments of depth 1 or 2, and the small systems that the owner solves."""

from __future__ import annotations

from typing import Any, SupportsFloat

import numpy as np

from sotto._array import EncryptedArray
from sotto._errors import OutOfRange, ShapeMismatch
from sotto._learn.bounded import Bounded, outer, solve
from sotto._learn.fitted import LdaModel, NaiveBayesModel, PcaModel, RidgeModel
from sotto._learn.moments import Classes, EncryptedMoments, centres_of, products, table, totals


def fit_ridge(
    rows: EncryptedArray,
    targets: EncryptedArray,
    alpha: float = 1.0,
    *,
    centres: Any = None,
    target_centre: SupportsFloat = 0.0,
) -> EncryptedMoments[RidgeModel]:
    """Add up on ciphertexts the moments of ridge regression; `solve(owner)` gives the model.

    No iterations and no approximation: products of depth 1, and a system of as many equations as
    there are features, which the owner solves.

    Args:
        rows: Encrypted rows and columns of float64.
        targets: One encrypted number a row.
        alpha: Weight of the squared coefficients, 0 or more.
        centres: Public numbers that were subtracted from the columns before encryption. The model
            is of the values themselves.
        target_centre: The same for the targets.
    """
    features = table(rows)
    if not (np.isfinite(alpha) and alpha >= 0):
        raise ValueError(f"alpha={alpha} is not a number of at least 0")
    if not isinstance(targets, EncryptedArray) or targets.shape != rows.shape[:1]:
        raise ShapeMismatch(
            f"features of shape {rows.shape} and targets of shape {np.shape(targets)}: rows and "
            "columns, and one target a row, encrypted"
        )
    count, middle, offset = len(rows), centres_of(centres, features), float(target_centre)
    sums = {
        "products": products(rows, rows),
        "targets": products(rows, targets),
        "rows": totals(rows),
        "target": totals(targets),
    }

    def solved(sums: dict[str, Bounded]) -> RidgeModel:
        total, target = sums["rows"], sums["target"]
        system = sums["products"] - outer(total, total) / count + alpha * np.eye(features)
        coefficients = solve(system, sums["targets"] - total * target / count)
        mean = total / count + middle
        intercept = target / count + offset - (mean * coefficients).sum(axis=0)
        return RidgeModel(coefficients, intercept)

    return EncryptedMoments(sums, count, solved)


def fit_pca(
    rows: EncryptedArray, components: int | None = None, *, centres: Any = None
) -> EncryptedMoments[PcaModel]:
    """Add up on ciphertexts the moments of principal components: products of depth 1.

    Args:
        rows: Encrypted rows and columns of float64.
        components: Number of components; default: as many as features.
        centres: Public numbers that were subtracted from the columns before encryption.
    """
    features, count = table(rows), len(rows)
    kept = features if components is None else components
    if not 1 <= kept <= features or count < 2:
        raise ShapeMismatch(f"{components} components of {features} features and {count} rows")
    middle = centres_of(centres, features)

    def solved(sums: dict[str, Bounded]) -> PcaModel:
        total = sums["rows"]
        covariance = (sums["products"] - outer(total, total) / count) / (count - 1)
        return PcaModel(total / count + middle, covariance, kept)

    return EncryptedMoments({"products": products(rows, rows), "rows": totals(rows)}, count, solved)


def fit_lda(
    rows: EncryptedArray, labels: Any, *, classes: Any = None, centres: Any = None
) -> EncryptedMoments[LdaModel]:
    """Add up on ciphertexts the moments of linear discriminants: products of depth 1.

    The model is that of scikit-learn's `LinearDiscriminantAnalysis(solver="lsqr")`.

    Args:
        rows: Encrypted rows and columns of float64.
        labels: Encrypted columns, one a class, 1 in rows of the class and 0 in others, so that
            labels stay secret; or a public vector of labels.
        classes: The names of the classes, in the order of the columns; default 0, 1, 2, …
        centres: Public numbers that were subtracted from the columns before encryption.
    """
    features, count = table(rows), len(rows)
    groups, middle = Classes(rows, labels, classes), centres_of(centres, features)
    sums = {"products": products(rows, rows), "class_rows": groups.sums(rows), **groups.sizes()}

    def solved(sums: dict[str, Bounded]) -> LdaModel:
        sizes = groups.counted(sums)
        totals = sums["class_rows"]
        within = sums["products"]
        for k, size in enumerate(sizes):
            within = within - outer(totals[:, k], totals[:, k]) / size
        means = (totals / sizes).T
        return LdaModel(groups.names, sizes / count, means, middle, within / count)

    return EncryptedMoments(sums, count, solved)


def fit_naive_bayes(
    rows: EncryptedArray,
    labels: Any,
    *,
    classes: Any = None,
    var_smoothing: float = 1e-9,
    centres: Any = None,
) -> EncryptedMoments[NaiveBayesModel]:
    """Add up on ciphertexts the moments of Gaussian naive Bayes: products of depth 2.

    The squares of each class are products of three, of a label and a feature twice. The model is
    that of scikit-learn's `GaussianNB`. Arguments are those of `fit_lda`.

    Args:
        rows: Encrypted rows and columns of float64.
        labels: Encrypted columns of 0 and 1, one a class; or a public vector of labels.
        classes: The names of the classes, in the order of the columns; default 0, 1, 2, …
        var_smoothing: The part of the largest variance that is added to every variance.
        centres: Public numbers that were subtracted from the columns before encryption.
    """
    features, count = table(rows), len(rows)
    if not (np.isfinite(var_smoothing) and var_smoothing >= 0):
        raise OutOfRange(f"var_smoothing={var_smoothing} is not a number of at least 0")
    groups, middle = Classes(rows, labels, classes), centres_of(centres, features)
    sums = {"class_rows": groups.sums(rows), "class_squares": groups.sums(rows**2)}
    sums |= groups.sizes()

    def solved(sums: dict[str, Bounded]) -> NaiveBayesModel:
        sizes = groups.counted(sums)
        means, squares = sums["class_rows"] / sizes, sums["class_squares"] / sizes
        variances = squares - means * means
        mean = sums["class_rows"].sum(axis=1) / count
        overall = sums["class_squares"].sum(axis=1) / count - mean * mean
        return NaiveBayesModel(
            groups.names, sizes, (means.T, middle), variances.T, overall, var_smoothing
        )

    return EncryptedMoments(sums, count, solved)
