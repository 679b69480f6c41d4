"""Sums, means, variances."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

import numpy as np

from sotto._base import A, EncryptedBase
from sotto._errors import ShapeMismatch
from sotto._native import Vector
from sotto._parts import objects


def _axis(x: EncryptedBase, axis: int | None) -> int | None:
    x._open_ended()
    if axis is None or -x.ndim <= axis < x.ndim:
        return axis if axis is None or axis >= 0 else axis + x.ndim
    raise ShapeMismatch(f"no axis {axis} in an array of shape {x.shape}")


def _count(x: EncryptedBase, axis: int | None) -> int:
    return x.size if axis is None else x.shape[axis]


def total(x: A, axis: int | None) -> A:
    """Add all values, or those along one axis."""
    axis = _axis(x, axis)
    if axis is None:
        flat = x._of(x._parts.reshape(-1), x._length, grid=x._grid, trail=x._trail)
        columns = total(flat, flat.ndim - 1)
        return columns if columns._length is None else total(columns, 0)
    if x._length is not None and axis == 0:
        result = x._each("sum", Vector.sum)._with(length=None)
    else:
        inner = axis if x._length is None else axis - 1
        rows = np.moveaxis(x._parts, inner, -1)
        shape = rows.shape[:-1]

        def added(row: Iterable[Vector]) -> Vector:
            return reduce(Vector.add, row)

        result = x._computed(
            "sum", lambda: objects((added(rows[i]) for i in np.ndindex(*shape)), shape)
        )
    return result._with(grid=x._grid)


def over(x: A, count: float) -> A:
    """Divide by a public number; of whole numbers the owner divides."""
    if x._real:
        return x._over(count)
    return x._of(x._parts, x._length, finish=("division", count), trail=x._trail)


def mean(x: A, axis: int | None) -> A:
    """Average all values, or those along one axis."""
    axis = _axis(x, axis)
    if _over_rows(x, axis):
        return x._each("mean", Vector.mean)._with(length=None)
    return over(total(x, axis), _count(x, axis))


def variance(x: A, axis: int | None, ddof: int) -> A:
    """Return the variance, from the sums of values and of squares."""
    axis = _axis(x, axis)
    count = _count(x, axis)
    if count <= ddof:
        raise ShapeMismatch(f"the variance of {count} values with ddof={ddof} does not exist")
    if _over_rows(x, axis):
        found = x._each("var", Vector.variance)._with(length=None)
        return found if ddof == 0 else (found * count)._over(count - ddof)
    return of_sums(_squares(x, axis), total(x, axis), count, ddof)


def _over_rows(x: A, axis: int | None) -> bool:
    """Return True for reductions of the values in each vector of real numbers."""
    return x._real and x._length is not None and (axis == 0 or (axis is None and x.ndim == 1))


def _squares(x: A, axis: int | None) -> A:
    """Add the squares of all values, or of those along one axis."""
    if x._length is None or axis not in (0, None):
        return total(x**2, axis)
    # The squares of one vector's ciphertexts are added before they are relinearised.
    columns = x._each("** 2", lambda vector: vector.dot(vector))._with(length=None)
    return total(columns, None) if axis is None and columns.ndim else columns


def of_sums(squares: A, values: A, count: int, ddof: int) -> A:
    """Return the variance of `count` values with these sums."""
    if values._real:
        return of_means(squares._over(count), values._over(count), count, ddof)
    return over(squares * count - values**2, count * (count - ddof))


def of_means(
    squares: A,
    values: A,
    count: int | np.ndarray[Any, Any],
    ddof: int,
) -> A:
    """Return the variance of real values with these means, or one for each count."""
    factor = count / (count - ddof)
    result = (squares - values**2) * factor
    if ddof:
        result = result._each("/", Vector.with_rounded_factor)
    largest = np.broadcast_to(squares.magnitude * factor, result._parts.shape).flat
    within = (v.within(float(most)) for v, most in zip(result._parts.flat, largest, strict=True))
    return result._with(parts=objects(within, result._parts.shape))


def deviation(x: A, axis: int | None, ddof: int) -> A:
    """Return the variance, of which the owner takes the root."""
    return root(variance(x, axis, ddof))


def root(variance: A) -> A:
    """Let the owner take the root."""
    divisor = 1.0 if variance._finish is None else variance._finish[1]
    return variance._of(
        variance._parts, variance._length, finish=("root", divisor), trail=variance._trail
    )


def covariance(x: A, y: A | None, ddof: int) -> A:
    """Return the covariance of two vectors, or of all columns of a matrix."""
    x._open_ended()
    if x._length is None or x.ndim > 2 or (y is None and x.ndim != 2):
        raise ShapeMismatch(f"the covariance of columns over rows, not of shape {x.shape}")
    other = x if y is None else y
    if other.shape[:1] != x.shape[:1]:
        raise ShapeMismatch(f"shapes {x.shape} and {other.shape}: the rows must be the same")
    count = x.shape[0]
    if count <= ddof:
        raise ShapeMismatch(f"the covariance of {count} rows with ddof={ddof} does not exist")
    from sotto._matmul import over_rows

    products = over_rows(x, other)
    left, right = total(x, 0), total(other, 0)
    if left.ndim and right.ndim:
        left = left._of(left._parts[:, None], None, trail=left._trail)
    if x._real:
        means = left._over(count) * right._over(count)
        return ((products._over(count) - means) * count)._over(count - ddof)
    return over(products * count - left * right, count * (count - ddof))
