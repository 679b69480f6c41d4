"""Fitted models with scikit-learn's attribute names, and bounds on their errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from sotto._learn.bounded import Bounded, Matrix, solve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sotto._array import EncryptedArray

    #: Clear rows: an array, or nested lists of numbers.
    Rows = NDArray[Any] | list[list[float]]


class RidgeModel:
    """A fitted ridge regression.

    Attributes:
        coef_: One coefficient a feature.
        intercept_: The prediction for features that are 0.
        coef_bound_: A bound on the error of each coefficient. It is infinite where columns depend
            on one another within the errors of the sums: declare tighter ranges, subtract public
            centres, or raise alpha.
        intercept_bound_: A bound on the intercept's error.
    """

    def __init__(self, coefficients: Bounded, intercept: Bounded) -> None:
        """Take the solution."""
        self.coef_, self.coef_bound_ = coefficients.values, coefficients.errors
        self.intercept_, self.intercept_bound_ = float(intercept.values), float(intercept.errors)
        self.n_features_in_ = len(self.coef_)

    @overload
    def predict(self, rows: EncryptedArray) -> EncryptedArray: ...
    @overload
    def predict(self, rows: Rows) -> NDArray[np.float64]: ...
    def predict(self, rows: Any) -> Any:
        """Predict from clear or encrypted rows."""
        return rows @ self.coef_ + self.intercept_


class PcaModel:
    """Fitted principal components.

    Attributes:
        mean_: The mean of every feature.
        components_: One row a component, the largest variance first; its largest entry is positive.
        explained_variance_: The variance along each component.
        explained_variance_ratio_: Its part of the sum of all variances.
        explained_variance_bound_: A bound on the error of every variance (Weyl 1912).
        components_bound_: For each component a bound on the sine of its angle to the exact one
            (Davis and Kahan 1970); 1 where two variances lie too close to tell their components
            apart.
    """

    whiten = False

    def __init__(self, mean: Bounded, covariance: Bounded, kept: int) -> None:
        """Take the moments that the owner decrypted."""
        variances, vectors = np.linalg.eigh((covariance.values + covariance.values.T) / 2)
        variances, vectors = variances[::-1], vectors[:, ::-1].T
        largest = np.abs(vectors).argmax(axis=1)
        vectors = vectors * np.sign(vectors[np.arange(len(vectors)), largest])[:, None]
        error = float(np.linalg.norm(covariance.errors)) + 1e-13 * float(np.abs(variances).max())
        gaps = np.abs(variances[:, None] - variances[None, :]) + np.diag([np.inf] * len(variances))
        # The other variances are known within the same error.
        apart = np.maximum(gaps.min(axis=1) - error, 0.0)
        with np.errstate(divide="ignore"):
            angles = np.minimum(error / apart, 1.0)
        self.mean_, self.mean_bound_ = mean.values, mean.errors
        self.components_, self.components_bound_ = vectors[:kept], angles[:kept]
        self.explained_variance_ = np.maximum(variances[:kept], 0.0)
        self.explained_variance_ratio_ = self.explained_variance_ / variances.sum()
        self.explained_variance_bound_ = error
        self.n_components_, self.n_features_in_ = kept, len(variances)

    @overload
    def transform(self, rows: EncryptedArray) -> EncryptedArray: ...
    @overload
    def transform(self, rows: Rows) -> NDArray[np.float64]: ...
    def transform(self, rows: Any) -> Any:
        """Project clear or encrypted rows on the components."""
        return rows @ self.components_.T + (-self.mean_ @ self.components_.T)


class LdaModel:
    """A fitted linear discriminant analysis, that of scikit-learn's solver `lsqr`.

    Attributes:
        classes_: The names of the classes.
        priors_: The part of the rows in each class.
        means_: One row a class.
        covariance_: The covariance within classes.
        coef_: One row a class, or one row in all for two classes.
        intercept_: One number for each row of `coef_`.
        coef_bound_: A bound on the error of each coefficient; infinite where columns depend on one
            another within the errors of the sums.
    """

    def __init__(
        self, classes: Matrix, priors: Matrix, means: Bounded, centres: Matrix, within: Bounded
    ) -> None:
        """Take the moments that the owner decrypted; `means` are less the centres."""
        whole = means + centres
        # The directions depend on differences of means: a shift of all is a shift of the scores.
        coefficients = solve(within, whole.T).T
        intercept = (whole * coefficients).sum(axis=1) * -0.5 + np.log(priors)
        if len(classes) == 2:
            coefficients = solve(within, (means[1:] - means[:1]).T).T
            # ½(m₁ + m₀)·w, without the cancellation of two large intercepts.
            middle = ((whole[1:] + whole[:1]) * coefficients).sum(axis=1) * -0.5
            intercept = middle + np.log(priors[1:] / priors[:1])
        self.classes_, self.priors_ = classes, priors
        self.means_, self.means_bound_ = whole.values, whole.errors
        self.covariance_, self.covariance_bound_ = within.values, within.errors
        self.coef_, self.coef_bound_ = coefficients.values, coefficients.errors
        self.intercept_, self.intercept_bound_ = intercept.values, intercept.errors
        self.xbar_ = priors @ self.means_
        self.n_features_in_ = self.means_.shape[1]

    def predict(self, rows: Any) -> Matrix:
        """Predict the labels of clear rows."""
        scores = np.asarray(rows) @ self.coef_.T + self.intercept_
        found = (scores[:, 0] > 0).astype(int) if len(self.coef_) == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[found])


class NaiveBayesModel:
    """A fitted Gaussian naive Bayes classifier.

    Attributes:
        classes_: The names of the classes.
        class_count_: Rows of each class.
        class_prior_: The part of the rows in each class.
        theta_: Means: one row a class.
        var_: Variances, `epsilon_` included: one row a class.
        theta_bound_: Bounds on the errors of the means.
        var_bound_: Bounds on the errors of the variances.
    """

    def __init__(
        self,
        classes: Matrix,
        sizes: Matrix,
        means: tuple[Bounded, Matrix],
        variances: Bounded,
        overall: Bounded,
        smoothing: float,
    ) -> None:
        """Take the moments that the owner decrypted; the means are less the centres."""
        self.epsilon_ = smoothing * float(overall.values.max())
        slack = smoothing * float(overall.errors.max())
        theta = means[0] + means[1]
        self.classes_, self.class_count_ = classes, sizes
        self.class_prior_ = sizes / sizes.sum()
        self.theta_, self.theta_bound_ = theta.values, theta.errors
        # No variance is negative, whatever the errors.
        self.var_ = np.maximum(variances.values, 0.0) + self.epsilon_
        self.var_bound_ = variances.errors + slack
        self.n_features_in_ = self.theta_.shape[1]

    def predict(self, rows: Any) -> Matrix:
        """Predict the labels of clear rows."""
        distance = (np.asarray(rows)[:, None, :] - self.theta_) ** 2 / self.var_
        scores = -0.5 * (distance + np.log(2 * np.pi * self.var_)).sum(axis=2)
        return np.asarray(self.classes_[(scores + np.log(self.class_prior_)).argmax(axis=1)])
