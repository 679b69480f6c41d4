"""Numbers with a bound on the error of each, carried through a computation of the owner's.

Every operation adds the rounding of its own arithmetic, so that bounds hold beside exact numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Matrix = np.ndarray[Any, Any]

#: Relative rounding of an operation, generously: sums of a few hundred terms stay within it.
_ROUNDING = 2.0**-44


class Bounded:
    """Values, and a bound on the absolute error of each."""

    __array_ufunc__ = None

    def __init__(self, values: Any, errors: Any = 0.0) -> None:
        """Take values, and errors of the same shape or one for all."""
        self.values: Matrix = np.asarray(values, dtype=np.float64)
        self.errors: Matrix = np.broadcast_to(np.asarray(errors, np.float64), self.values.shape)

    @property
    def T(self) -> Bounded:  # noqa: N802
        """The transpose."""
        return Bounded(self.values.T, self.errors.T)

    def __getitem__(self, key: Any) -> Bounded:
        """Take values out."""
        return Bounded(self.values[key], self.errors[key])

    def __add__(self, other: Any) -> Bounded:
        """Add."""
        other = _bounded(other)
        values = self.values + other.values
        size = np.abs(self.values) + np.abs(other.values)
        return Bounded(values, self.errors + other.errors + _ROUNDING * size)

    def __neg__(self) -> Bounded:
        """Negate."""
        return Bounded(-self.values, self.errors)

    def __sub__(self, other: Any) -> Bounded:
        """Subtract."""
        return self + -_bounded(other)

    def __mul__(self, other: Any) -> Bounded:
        """Multiply value by value."""
        other = _bounded(other)
        values = self.values * other.values
        errors = self.errors * np.abs(other.values) + np.abs(self.values) * other.errors
        errors = errors + self.errors * other.errors + _ROUNDING * np.abs(values)
        return Bounded(values, errors)

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, exact: Any) -> Bounded:
        """Divide by exact numbers."""
        return self * (1.0 / np.asarray(exact, dtype=np.float64))

    def sum(self, axis: int) -> Bounded:
        """Add along one axis."""
        rounding = _ROUNDING * np.abs(self.values).sum(axis)
        return Bounded(self.values.sum(axis), self.errors.sum(axis) + rounding)


def _bounded(value: Any) -> Bounded:
    return value if isinstance(value, Bounded) else Bounded(value)


def outer(left: Bounded, right: Bounded) -> Bounded:
    """Return the products of all pairs."""
    return left[:, None] * right[None, :]


def solve(system: Bounded, right: Bounded) -> Bounded:
    """Solve A·x = b for a vector, or for the columns of a matrix.

    If A + δA has the solution x + δx for b + δb, then δx = A⁻¹(δb − δA·x − δA·δx). With bounds E on
    |δA| and f on |δb|, (I − |A⁻¹|E)·|δx| ≤ |A⁻¹|(f + E|x|) if the spectral radius of |A⁻¹|E is
    below 1. Otherwise the bound is infinite: within the errors the system may be singular.
    """
    try:
        # Rows and columns of one size: the inverse is more accurate.
        scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(system.values)), np.finfo(float).tiny))
        scaled = system.values * np.outer(scale, scale)
        inverse = np.linalg.inv(scaled) * np.outer(scale, scale)
    except np.linalg.LinAlgError:
        return Bounded(np.full_like(right.values, np.nan), np.inf)
    values = inverse @ right.values
    # One step of refinement, and its residual, as the rounding of the solution itself.
    values = values + inverse @ (right.values - system.values @ values)
    size, sizes = np.abs(inverse), np.abs(values)
    rounding = _ROUNDING * (np.abs(system.values) @ sizes + np.abs(right.values))
    residual = np.abs(right.values - system.values @ values) + rounding
    growth = size @ system.errors
    if not np.abs(np.linalg.eigvals(growth)).max() < 1.0:
        return Bounded(values, np.inf)
    spread = size @ (right.errors + system.errors @ sizes + residual)
    return Bounded(values, np.linalg.solve(np.eye(len(growth)) - growth, spread))
