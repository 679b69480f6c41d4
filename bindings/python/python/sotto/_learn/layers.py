"""Layers of a network on ciphertexts, and the fit of their polynomials."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sotto._array import EncryptedArray
from sotto._errors import OutOfRange
from sotto._learn.activation import Matrix, Unit, fitted, interval_of
from sotto._native import Vector
from sotto._parts import objects

#: Intervals are wider than exact arithmetic makes them by this part.
_ROUNDING = 1 + 1e-9


@dataclass(frozen=True)
class Layer:
    """Weights and offset, and the units behind them; the last layer has none."""

    weights: Matrix
    offset: Matrix
    units: list[Unit]

    def before(self, x: Matrix) -> Matrix:
        result: Matrix = x @ self.weights + self.offset
        return result

    def __call__(self, x: Matrix) -> Matrix:
        z = self.before(x)
        if not self.units:
            return z
        return np.column_stack([unit(z[:, j]) for j, unit in enumerate(self.units)])

    def outside(self, x: Matrix) -> Matrix:
        """Return the rows that leave an interval."""
        off = np.zeros(len(x), dtype=bool)
        z = self.before(x)
        for j, unit in enumerate(self.units):
            off |= np.abs(z[:, j] - unit.middle) > unit.half
        return off


def on_ciphertexts(layer: Layer, rows: EncryptedArray) -> EncryptedArray:
    """Return a layer's outputs; the interval of every unit is folded into its weights."""
    if not layer.units:
        scores: EncryptedArray = rows @ layer.weights + layer.offset
        return scores
    half = np.array([unit.half for unit in layer.units])
    middle = np.array([unit.middle for unit in layer.units])
    inside = rows @ (layer.weights / half) + (layer.offset - middle) / half

    def activated(part: Vector, unit: Unit) -> Vector:
        # The bound of a sum of powers is far above the largest value of the polynomial.
        output = part.polynomial(np.ascontiguousarray(unit.coefficients))
        return output.within(max(abs(end) for end in unit.extent(part.magnitude)))

    pairs = list(zip(inside._parts, layer.units, strict=True))
    outputs: EncryptedArray = inside._computed(
        "activation", lambda: objects((activated(*pair) for pair in pairs), (len(pairs),))
    )
    return outputs


def fitted_layers(
    name: str,
    steps: list[tuple[Matrix, Matrix]],
    degree: int,
    rows: Matrix | None,
    box: Matrix,
) -> list[Layer]:
    """Fit the polynomials layer by layer: on the rows' values, or on all that a box can lead to."""
    made: list[Layer] = []
    for weights, offset in steps[:-1]:
        # Ciphertexts carry a bound on absolute values: the box counts as symmetrical around 0.
        reach = np.abs(box).max(axis=1) @ np.abs(weights) + np.abs(offset)
        if rows is not None:
            z = rows @ weights + offset
            units = [
                fitted(
                    name, interval_of(column, float(far), degree, len(steps) - 1), degree, column
                )
                for column, far in zip(z.T, reach, strict=True)
            ]
        else:
            centre = box.mean(axis=1) @ weights + offset
            halves = (box[:, 1] - box[:, 0]) / 2 @ np.abs(weights) * _ROUNDING + 1e-9
            pairs = zip(centre, halves, strict=True)
            units = [fitted(name, (m - half, m + half), degree, None) for m, half in pairs]
        made.append(Layer(weights, offset, units))
        if rows is not None:
            rows = made[-1](rows)
        ends = []
        for unit, far in zip(units, reach, strict=True):
            ends.append(unit.extent(1.0 if rows is None else (far + abs(unit.middle)) / unit.half))
        box = np.array(ends)
    return [*_without_constants(made), Layer(*_folded(made, steps[-1]), [])]


def _constants(layer: Layer) -> Matrix:
    return np.array([unit.constant for unit in layer.units])


def _folded(made: list[Layer], step: tuple[Matrix, Matrix]) -> tuple[Matrix, Matrix]:
    """Move the output of constant units into the offset of the step behind their layer."""
    weights, offset = step
    if not made:
        return weights, offset
    dead = _constants(made[-1])
    if dead.all():
        raise OutOfRange("every unit of a hidden layer is constant on these rows")
    values = np.array([unit.coefficients[0] for unit in made[-1].units])
    return weights[~dead], offset + values[dead] @ weights[dead]


def _without_constants(made: list[Layer]) -> list[Layer]:
    kept: list[Layer] = []
    for i, layer in enumerate(made):
        weights, offset = _folded(made[:i], (layer.weights, layer.offset))
        live = ~_constants(layer)
        units = [unit for unit, alive in zip(layer.units, live, strict=True) if alive]
        kept.append(Layer(weights[:, live], offset[live], units))
    return kept
