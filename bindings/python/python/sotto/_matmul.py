"""Products of matrices and vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sotto._base import A, EncryptedBase
from sotto._errors import ShapeMismatch
from sotto._native import Vector
from sotto._parts import objects


def _refused(left: tuple[int, ...], right: tuple[int, ...]) -> ShapeMismatch:
    return ShapeMismatch(f"shapes {left} and {right}: no such product of matrices")


def _apart(left: EncryptedBase, right: EncryptedBase) -> ShapeMismatch:
    return ShapeMismatch(
        f"shapes {left.shape} and {right.shape}: the values of one share ciphertexts, those of the "
        "other have their own: take them out, x[i] * y[i], and add the products"
    )


def with_plain(x: A, values: Any) -> A:
    """Return x @ W with a public W."""
    weights = x._plain(values)
    if x.ndim not in (1, 2) or weights.ndim not in (1, 2) or x.shape[-1] != weights.shape[0]:
        raise _refused(x.shape, weights.shape)
    if x.ndim == 1 and x._length is not None:
        return _over_slots(x, weights)
    rows = x._parts.reshape(-1, x.shape[-1]) if x._length is None else x._parts.reshape(1, -1)
    columns = np.ascontiguousarray(weights.reshape(len(weights), -1).T)
    inner = (() if x.ndim == 1 or x._length is not None else (x.shape[0],)) + weights.shape[1:]
    return x._computed(
        "@",
        lambda: objects(
            (Vector.weighted_sum(list(row), column) for row in rows for column in columns), inner
        ),
    )


def _over_slots(
    x: A,
    weights: np.ndarray[Any, Any],
    dot: Callable[[Vector, Any], Vector] = Vector.dot_plain,
) -> A:
    """Return sums of the rows of x with public weights."""
    columns = np.ascontiguousarray(weights.reshape(len(weights), -1).T)
    parts = x._parts
    result = x._computed(
        "@",
        lambda: objects(
            (dot(v, column) for column in columns for v in parts.flat),
            weights.shape[1:] + parts.shape,
        ),
    )
    return result._with(length=None)


def plain_with(values: Any, x: A) -> A:
    """Return W @ x with a public W."""
    weights = x._plain(values)
    if x.ndim not in (1, 2) or weights.ndim not in (1, 2) or x.shape[0] != weights.shape[-1]:
        raise _refused(weights.shape, x.shape)
    if x._length is not None:
        return _over_slots(x, np.ascontiguousarray(weights.T))
    if x.ndim == 1:
        return with_plain(x, weights.T)
    turned = x._of(x._parts.T, None, trail=x._trail)
    product = with_plain(turned, weights.T)
    return product._with(parts=product._parts.T)


def means_to_square(shares: np.ndarray[Any, Any], x: A) -> A:
    """Return W @ x with public rows of weights, with room to square it."""
    return _over_slots(x, np.ascontiguousarray(shares.T), Vector.dot_plain_to_multiply)


def encrypted(x: A, y: EncryptedBase) -> A:
    """Return x @ y of two encrypted arrays."""
    x._open_ended()
    y._open_ended()
    if x.ndim not in (1, 2) or y.ndim not in (1, 2) or x.shape[-1] != y.shape[0]:
        raise _refused(x.shape, y.shape)
    if x.ndim == y.ndim == 1 and (x._length is None) != (y._length is None):
        raise _apart(x, y)
    if x.ndim == 1 and x._length is not None:
        return over_rows(x, y)
    if y._length is not None:
        raise ShapeMismatch(
            f"shapes {x.shape} and {y.shape}: the rows of the second share ciphertexts; "
            "x.T @ y sums over the rows of both"
        )
    rows = x._parts.reshape(-1, x.shape[-1]) if x._length is None else x._parts.reshape(1, -1)
    columns = y._parts.reshape(len(y), -1).T
    inner = (() if x.ndim == 1 or x._length is not None else (x.shape[0],)) + y.shape[1:]
    return x._computed(
        "@",
        lambda: objects((_inner(row, column) for row in rows for column in columns), inner),
        y,
    )


def _inner(left: Any, right: Any) -> Vector:
    total: Vector | None = None
    for a, b in zip(left, right, strict=True):
        product = a.multiply(b)
        total = product if total is None else total.add(product)
    assert total is not None
    return total


def over_rows(
    x: A,
    other: Any,
    dot: Callable[[Vector, Vector], Vector] = Vector.dot,
) -> A:
    """Return Xᵀ·Y: for each pair of columns the sum over the rows of their products."""
    x._open_ended()
    if not isinstance(other, EncryptedBase):
        weights = x._plain(other)
        if x._length is None or weights.ndim not in (1, 2) or len(weights) != len(x):
            raise _refused(x.shape[::-1], weights.shape)
        result = _over_slots(x, weights)
        return result._with(parts=result._parts.T)
    other._open_ended()
    if x._length is None or other._length is None or len(x) != len(other):
        raise _refused(x.shape[::-1], other.shape)
    left, right = x._parts.reshape(-1), other._parts.reshape(-1)
    known: dict[tuple[int, int], Vector] = {}

    def total(i: int, j: int) -> Vector:
        if other is x and (j, i) in known:
            return known[j, i]
        known[i, j] = dot(left[i], right[j])
        return known[i, j]

    result = x._computed(
        "@",
        lambda: objects(
            (total(i, j) for i in range(len(left)) for j in range(len(right))),
            x._parts.shape + other._parts.shape,
        ),
        other,
    )
    return result._with(length=None)
