"""Polynomials in place of the activations of a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

Matrix = np.ndarray[Any, Any]

#: The activations of scikit-learn's networks.
ACTIVATIONS: dict[str, Callable[[Matrix], Matrix]] = {
    "identity": lambda z: z,
    "relu": lambda z: np.maximum(z, 0.0),
    "tanh": np.tanh,
    "logistic": lambda z: 1.0 / (1.0 + np.exp(-z)),
}
#: Points of an interval at which a polynomial is fitted.
_NODES = 256
#: The weight of these points beside that of the rows: outside the rows the polynomial stays near.
_ELSEWHERE = 0.02
#: The interval is wider than the rows reach by this part.
_MARGIN = 0.3
#: Bits of an answer that the growth of polynomials outside their intervals may cost.
_GROWTH_BITS = 24
#: Coefficients of powers below this, beside a range of ±1, are left out.
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True)
class Unit:
    """A hidden unit: its activation as a polynomial in t = (z − middle) / half, |t| ≤ 1."""

    middle: float
    half: float
    coefficients: Matrix

    @property
    def constant(self) -> bool:
        """True if the unit's output does not depend on its input."""
        return len(self.coefficients) == 1

    def __call__(self, z: Matrix) -> Matrix:
        """Evaluate in the clear."""
        result: Matrix = Polynomial(self.coefficients)((z - self.middle) / self.half)
        return result

    def extent(self, reach: float) -> tuple[float, float]:
        """Return the least and the largest output for |t| ≤ reach, and a margin for rounding."""
        polynomial = Polynomial(self.coefficients)
        turns = polynomial.deriv().roots() if len(self.coefficients) > 2 else np.zeros(0)
        inside = np.real(turns[np.abs(turns) <= reach])
        values = polynomial(np.concatenate([[-reach, reach], inside]))
        margin = 1e-6 * float(np.abs(values).max())
        return float(values.min()) - margin, float(values.max()) + margin


def interval_of(z: Matrix, farthest: float, degree: int, layers: int) -> tuple[float, float]:
    """Return the interval that rows reach, and a margin.

    Outside of it a polynomial grows. Its largest value for |z| ≤ `farthest` costs bits of the
    answer, so the interval is wider where that would be too many.
    """
    low, high = float(z.min()), float(z.max())
    middle, half = (low + high) / 2, (high - low) / 2 * (1 + _MARGIN) or max(1.0, abs(low))
    # A polynomial within ±1 on [−1, 1] has coefficients whose sum is at most (1 + √2)^degree.
    growth = max(1.0, 2.0 ** (_GROWTH_BITS / layers / degree) / (1 + np.sqrt(2)))
    half = max(half, (farthest + abs(middle)) / growth)
    return middle - half, middle + half


def fitted(name: str, interval: tuple[float, float], degree: int, z: Matrix | None) -> Unit:
    """Fit by least squares at Chebyshev's points of the interval, and at the rows' own values."""
    middle, half = (interval[0] + interval[1]) / 2, (interval[1] - interval[0]) / 2
    nodes = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
    points, weights = nodes, np.full(_NODES, 1.0 / _NODES)
    if z is not None:
        points = np.concatenate([nodes, (z - middle) / half])
        weights = np.concatenate([weights * _ELSEWHERE, np.full(z.size, 1.0 / z.size)])
    exact = ACTIVATIONS[name](middle + half * points)
    degree = 1 if name == "identity" else degree
    series = Chebyshev.fit(points, exact, degree, domain=[-1, 1], w=np.sqrt(weights))
    coefficients = series.convert(kind=Polynomial).coef
    size = max(float(np.abs(exact).max()), _NEGLIGIBLE)
    kept = np.flatnonzero(np.abs(coefficients) > _NEGLIGIBLE * size)
    return Unit(middle, half, coefficients[: kept[-1] + 1] if kept.size else np.zeros(1))
