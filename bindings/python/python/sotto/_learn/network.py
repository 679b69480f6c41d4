"""Small neural networks on encrypted rows, with polynomials in place of the activations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sotto._array import EncryptedArray
from sotto._errors import OutOfRange, ShapeMismatch
from sotto._learn.activation import ACTIVATIONS, Matrix
from sotto._learn.layers import Layer, fitted_layers, on_ciphertexts
from sotto._learn.model import Model

#: Degrees that fill two and three levels. The next, 15, often costs more bits than it gives.
_DEGREES = (3, 7)
_DEGREE_OF_RANGES = 7
#: A degree is large enough if the network predicts like the model on this part of the rows.
_ENOUGH = 0.9995
#: Larger hidden layers are refused: every unit takes its own polynomial on ciphertexts.
_MOST_UNITS = 512


@dataclass(frozen=True)
class Agreement:
    """How a network of polynomials compares with its model, in the clear.

    Attributes:
        rows: Number of rows compared.
        equal: Part of the rows with equal labels; of a regression the part of the model's variance
            that the network gives, 1 − Σ(difference²) / Σ(deviation²).
        largest_difference: Largest difference of a score.
        outside: Part of the rows that lead a hidden unit out of the interval that its polynomial
            was fitted on, where it may be far off.
        accuracy: Part of the labels that the network predicts right, or R² of a regression; None
            without labels.
        model_accuracy: The same of the model.
        levels: Levels that a row takes.
    """

    rows: int
    equal: float
    largest_difference: float
    outside: float
    accuracy: float | None
    model_accuracy: float | None
    levels: int


@dataclass(frozen=True)
class Folded:
    """The steps before a network: x ↦ (x − centres)·weights + offset."""

    centres: Matrix
    weights: Matrix
    offset: Matrix


class NetworkModel(Model):
    """A small network: scores on ciphertexts, agreement with its model in the clear."""

    def __init__(
        self, source: Any, network: Any, centres: Matrix, layers: list[Layer], degree: int
    ) -> None:
        """Take the model, its last step, the columns' centres, and the layers of polynomials."""
        self._source, self._network, self._layers = source, network, layers
        self._centres, self.degree = centres, degree
        super().__init__(
            type(network).__name__, self._scores, self._predictions, len(layers[0].weights)
        )

    @property
    def levels(self) -> int:
        """Levels that a row takes: one a layer, and those of the polynomials."""
        degrees = (
            max(len(unit.coefficients) - 1 for unit in layer.units) for layer in self._layers[:-1]
        )
        return len(self._layers) + sum(int(np.ceil(np.log2(degree + 1))) for degree in degrees)

    def accuracy(self, rows: Any, labels: Any = None) -> Agreement:
        """Compare with the model on clear rows, before anything is encrypted.

        Args:
            rows: Clear rows of the shape (rows, features).
            labels: The true labels or targets, if the accuracy is wanted.
        """
        x = _checked(rows, self._features)
        scores, exact = self._clear(x), _exact_scores(self._source, self._network, x)
        found, expected = self.predict(scores), np.asarray(self._source.predict(x))
        accuracy = model_accuracy = None
        if labels is not None:
            labels = np.asarray(labels)
            accuracy = self._match(found, labels)
            model_accuracy = self._match(expected, labels)
        off, hidden = np.zeros(len(x), dtype=bool), x - self._centres
        for layer in self._layers:
            off |= layer.outside(hidden)
            hidden = layer(hidden)
        return Agreement(
            rows=len(x),
            equal=self._match(found, expected),
            largest_difference=float(np.abs(scores.reshape(exact.shape) - exact).max()),
            outside=float(off.mean()),
            accuracy=accuracy,
            model_accuracy=model_accuracy,
            levels=self.levels,
        )

    def _match(self, found: Matrix, exact: Matrix) -> float:
        if hasattr(self._network, "classes_"):
            return float((found == exact).mean())
        spread = ((exact - exact.mean(axis=0)) ** 2).sum()
        return float(1.0 - ((found - exact) ** 2).sum() / max(float(spread), 1e-300))

    def _clear(self, x: Matrix) -> Matrix:
        x = x - self._centres
        for layer in self._layers:
            x = layer(x)
        return x[:, 0] if x.shape[1] == 1 else x

    def _scores(self, rows: EncryptedArray) -> EncryptedArray:
        for layer in self._layers:
            rows = on_ciphertexts(layer, rows)
        return rows[:, 0] if rows.shape[1] == 1 else rows

    def _predictions(self, scores: Matrix) -> Matrix:
        if not hasattr(self._network, "classes_"):
            return scores
        binary = scores.ndim == 1
        return np.asarray(
            self._network.classes_[(scores > 0).astype(int) if binary else scores.argmax(axis=1)]
        )


def network_of(
    source: Any,
    network: Any,
    before: Folded,
    rows: Any,
    ranges: Any,
    degree: int | None,
) -> NetworkModel:
    """Make a network of polynomials of a fitted one."""
    _refuse(network, rows, ranges, degree)
    weights, offset = network.coefs_[0], network.intercepts_[0]
    first = before.weights @ weights, before.offset @ weights + offset
    steps = [first, *zip(network.coefs_[1:], network.intercepts_[1:], strict=True)]
    features, centres = len(before.weights), before.centres
    clear = None if rows is None else _checked(rows, features) - centres
    if ranges is None:
        assert clear is not None
        box = np.column_stack([clear.min(axis=0), clear.max(axis=0)])
    else:
        box = np.asarray(ranges, dtype=np.float64)
        if box.shape != (features, 2) or not (box[:, 0] <= box[:, 1]).all():
            raise ShapeMismatch(f"ranges of shape {box.shape} for {features} features")
        box = box - centres[:, None]

    def of_degree(tried: int) -> NetworkModel:
        layers = fitted_layers(network.activation, steps, tried, clear, box)
        return NetworkModel(source, network, centres, layers, tried)

    if degree is not None or rows is None:
        return of_degree(degree or _DEGREE_OF_RANGES)
    best, most = None, -np.inf
    for tried in _DEGREES:
        made = of_degree(tried)
        equal = made.accuracy(rows).equal
        if best is None or equal > most:
            best, most = made, equal
        if equal >= _ENOUGH:
            break
    assert best is not None
    return best


def _refuse(network: Any, rows: Any, ranges: Any, degree: int | None) -> None:
    name = type(network).__name__
    if rows is None and ranges is None:
        raise TypeError(
            f"the activations of {name} become polynomials, fitted where rows lie: give "
            "from_sklearn(model, rows=clear rows like those to come), or ranges="
        )
    if network.out_activation_ not in ("identity", "logistic", "softmax") or (
        hasattr(network, "classes_") and network._label_binarizer.y_type_.startswith("multilabel")
    ):
        raise TypeError(
            f"no encrypted form of a {name} with several labels a row, or whose output is "
            f"{network.out_activation_}"
        )
    if sum(len(offset) for offset in network.intercepts_[:-1]) > _MOST_UNITS:
        raise OutOfRange(f"more than {_MOST_UNITS} hidden units: fit a smaller network")
    if degree is not None and not 1 <= degree <= 63:
        raise OutOfRange(f"degree={degree} is not a degree from 1 to 63")


def _checked(rows: Any, features: int) -> Matrix:
    x = np.asarray(rows, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] != features or not len(x):
        raise ShapeMismatch(f"clear rows of shape {x.shape}: (rows, {features}) is needed")
    return x


def _exact_scores(source: Any, network: Any, x: Matrix) -> Matrix:
    """Return the model's scores in front of its last activation."""
    for _, step in getattr(source, "steps", [(None, network)])[:-1]:
        x = step.transform(x)
    for weights, offset in zip(network.coefs_[:-1], network.intercepts_[:-1], strict=True):
        x = ACTIVATIONS[network.activation](x @ weights + offset)
    return np.asarray(x @ network.coefs_[-1] + network.intercepts_[-1])
