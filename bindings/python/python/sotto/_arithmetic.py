"""Sums and products of an encrypted array and another array, encrypted or public."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sotto._base import A, EncryptedBase
from sotto._errors import ShapeMismatch
from sotto._native import Vector
from sotto._parts import objects


def with_plain(
    x: A,
    operation: str,
    values: Any,
    scalar: Callable[[Vector, Any], Vector],
    vector: Callable[[Vector, Any], Vector],
) -> A:
    """Combine an encrypted and a public array: `scalar` for one number, `vector` for rows."""
    plain = x._plain(values)
    if plain.ndim == 0:
        number = plain.item()
        return x._each(operation, lambda part: scalar(part, number))
    slotted = x._vector is not None and plain.shape == (x._length,)
    if slotted and plain.flags.c_contiguous and plain.size > 1:
        return x._alone(operation, vector, plain)
    shape = _broadcast(x.shape, plain.shape)
    if len(shape) != x.ndim and x._length is not None:
        raise ShapeMismatch(
            f"shapes {x.shape} and {plain.shape}: axis 0 of the encrypted array must stay "
            "axis 0; add axes with x[:, None]"
        )
    plain = np.broadcast_to(plain, shape)
    if x._length is None:
        parts = np.broadcast_to(x._parts, shape)
        return x._computed(
            operation,
            lambda: objects(
                (scalar(part, plain[i].item()) for i, part in np.ndenumerate(parts)), shape
            ),
        )
    inner = shape[1:]
    parts = np.broadcast_to(x._parts, inner)

    def column(index: tuple[int, ...], part: Vector) -> Vector:
        values: Any = plain[(slice(None), *index)]  # type: ignore[arg-type]
        if x._length == len(values) and (len(values) == 1 or values.strides[0] == 0):
            return scalar(part, values[0].item())
        return vector(part, np.ascontiguousarray(values))

    result = x._computed(
        operation,
        lambda: objects((column(i, part) for i, part in np.ndenumerate(parts)), inner),
    )
    return result._with(length=shape[0])


def with_encrypted(
    x: A,
    operation: str,
    other: EncryptedBase,
    run: Callable[[Vector, Vector], Vector],
) -> A:
    """Combine two encrypted arrays, broadcast where no row has to move."""
    x._open_ended()
    other._open_ended()
    alone = x._vector is not None and other._vector is not None
    if alone and x._length == other._length:
        return x._alone(operation, run, other)
    shape = _broadcast(x.shape, other.shape)
    left, right = x._parts, other._parts
    slotted = [array for array in (x, other) if array._length is not None]
    if len(slotted) == 2 and x.ndim != other.ndim:
        raise ShapeMismatch(
            f"shapes {x.shape} and {other.shape}: give both the same axes, x[:, None]"
        )
    if len(slotted) == 1:
        single = other if slotted[0] is x else x
        if single.ndim >= slotted[0].ndim:
            if single.shape[0] != 1 or single.ndim > slotted[0].ndim:
                raise ShapeMismatch(
                    f"shapes {x.shape} and {other.shape}: single values do not go along "
                    "axis 0 of rows that share ciphertexts"
                )
            if single.ndim == slotted[0].ndim:
                row = single._parts.reshape(single.shape[1:])
                left, right = (left, row) if single is other else (row, right)
    inner = shape[1:] if slotted else shape
    pairs = np.broadcast(left, right)
    result = x._computed(operation, lambda: objects((run(a, b) for a, b in pairs), inner), other)
    return result._with(length=shape[0] if slotted else None)


def _broadcast(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return left if left == right else np.broadcast_shapes(left, right)
    except ValueError:
        raise ShapeMismatch(f"shapes {left} and {right} do not go together") from None
