"""Functions that move axes and values. Axis 0 of most arrays lies in slots and stays axis 0."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from sotto._base import A, EncryptedBase
from sotto._errors import ShapeMismatch

Axis = int | tuple[int, ...] | None


def _axis(ndim: int, axis: int) -> int:
    if not -ndim <= axis < ndim:
        raise ShapeMismatch(f"no axis {axis} in an array of {ndim} axes")
    return axis % ndim


def _slotted(x: EncryptedBase) -> int:
    """Return 1 if axis 0 lies in slots, or 0."""
    return int(x._length is not None)


def _inner(x: EncryptedBase, axis: int, ndim: int) -> int:
    """Return an axis of `ndim` as an axis of the parts."""
    inner = _axis(ndim, axis) - _slotted(x)
    if inner < 0:
        raise ShapeMismatch(
            f"shape {x.shape}: the rows of axis 0 share ciphertexts, so this works on other axes"
        )
    return inner


def _moved(x: A, parts: np.ndarray[Any, Any]) -> A:
    return x._of(parts, x._length, grid=x._grid, finish=x._finish, trail=x._trail)


def expand_dims(x: A, axis: int = 0) -> A:
    """Insert an axis of length 1; no cost."""
    return _moved(x, np.expand_dims(x._parts, _inner(x, axis, x.ndim + 1)))


def squeeze(x: A, axis: Axis = None) -> A:
    """Remove axes of length 1, by default all of them; no cost."""
    if axis is None:
        axis = tuple(i for i, length in enumerate(x.shape) if length == 1)
    axes = sorted({_axis(x.ndim, one) for one in np.atleast_1d(np.asarray(axis, dtype=int))})
    if any(x.shape[one] != 1 for one in axes):
        raise ShapeMismatch(f"shape {x.shape}: only axes of length 1 are removed")
    inner = tuple(one - _slotted(x) for one in axes if one >= _slotted(x))
    result = _moved(x, np.squeeze(x._parts, inner))
    if _slotted(x) and 0 in axes:
        result = result._with(length=None)
    return result


def permute_dims(x: A, axes: Sequence[int] | None = None) -> A:
    """Reorder the axes; no cost. Axis 0 stays where it lies in slots."""
    axes = range(x.ndim)[::-1] if axes is None else axes
    order = [_axis(x.ndim, axis) for axis in axes]
    if sorted(order) != list(range(x.ndim)):
        raise ShapeMismatch(f"{tuple(axes)} is not an order of {x.ndim} axes")
    if _slotted(x) and order[0] != 0:
        raise ShapeMismatch("axis 0 stays axis 0: its rows share ciphertexts; x.T @ y has products")
    return _moved(x, x._parts.transpose([axis - _slotted(x) for axis in order[_slotted(x) :]]))


def moveaxis(x: A, source: Any, destination: Any) -> A:
    """Move axes; no cost. Axis 0 stays where it lies in slots."""
    sources, places = (
        [_axis(x.ndim, int(axis)) for axis in np.atleast_1d(axes)] for axes in (source, destination)
    )
    if len(set(sources)) != len(sources) or len(set(places)) != len(sources):
        raise ShapeMismatch(f"axes {source} and {destination}: as many different ones of each")
    order = [axis for axis in range(x.ndim) if axis not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return permute_dims(x, order)


def reshape(x: A, shape: Any, copy: bool | None = None) -> A:
    """Change the shape of the axes that do not lie in slots; no cost."""
    wanted = tuple(int(length) for length in np.atleast_1d(np.asarray(shape, dtype=int)))
    if not _slotted(x):
        return _moved(x, x._parts.reshape(wanted))
    if wanted == (-1,) and x.ndim == 1:
        return x
    if wanted[0] not in (x.shape[0], -1) or (wanted[0] == -1 and -1 in wanted[1:]):
        raise ShapeMismatch(f"shapes {x.shape} and {wanted}: axis 0 keeps its length")
    return _moved(x, x._parts.reshape(wanted[1:]))


def broadcast_to(x: A, shape: Any) -> A:
    """Repeat axes of length 1; no cost. Rows are not repeated."""
    shape = tuple(shape)
    if not _slotted(x):
        return _moved(x, np.broadcast_to(x._parts, shape))
    if len(shape) != x.ndim or shape[0] != x.shape[0]:
        raise ShapeMismatch(f"shapes {x.shape} and {shape}: axis 0 keeps its length and place")
    return _moved(x, np.broadcast_to(x._parts, shape[1:]))


def _alike(arrays: Sequence[A]) -> list[A]:
    if not arrays or not all(isinstance(x, EncryptedBase) for x in arrays):
        raise TypeError("encrypted and public arrays are not put together: add them to zeros")
    first = arrays[0]
    if any(
        (x._length, x._grid, x._finish) != (first._length, first._grid, first._finish)
        for x in arrays
    ):
        raise ShapeMismatch("arrays are put together if they have equal axes 0 and resolutions")
    if any(x._real != first._real for x in arrays):
        raise TypeError("encrypted whole numbers and real numbers are not put together")
    return list(arrays)


def stack(arrays: Sequence[A], axis: int = 0) -> A:
    """Put arrays beside each other along a new axis; no cost. Rows: axis=1 makes columns."""
    alike = _alike(arrays)
    parts = np.stack([x._parts for x in alike], _inner(alike[0], axis, alike[0].ndim + 1))
    return _joined(alike, parts)


def concat(arrays: Sequence[A], axis: int | None = 0) -> A:
    """Join arrays along an axis that does not lie in slots; no cost."""
    if axis is None:
        raise ShapeMismatch("concatenation along axis=None flattens: name the axis")
    alike = _alike(arrays)
    parts = np.concatenate([x._parts for x in alike], _inner(alike[0], axis, alike[0].ndim))
    return _joined(alike, parts)


def _joined(arrays: list[A], parts: np.ndarray[Any, Any]) -> A:
    from sotto._parts import joined

    return _moved(arrays[0], parts)._with(trail=joined(*(x._trail for x in arrays)))


def _at(x: A, axis: int, key: Any) -> A:
    return x[(slice(None),) * _axis(x.ndim, axis) + (key,)]


def take(x: A, indices: Any, axis: int | None = None) -> A:
    """Take values by index along an axis. Rows cost one level."""
    if axis is None and x.ndim != 1:
        raise ShapeMismatch(f"shape {x.shape}: take(x, indices, axis=…)")
    places = np.asarray(indices)
    if places.dtype.kind not in "iu":
        raise TypeError(f"indices of dtype {places.dtype}: whole numbers take values")
    return _at(x, axis or 0, places)


def flip(x: A, axis: Axis = None) -> A:
    """Reverse axes, by default all. Rows cost one level."""
    axes = range(x.ndim) if axis is None else np.atleast_1d(np.asarray(axis, dtype=int))
    return reduce(lambda y, one: _at(y, one, slice(None, None, -1)), map(int, axes), x)


def roll(x: A, shift: int, axis: int | None = None) -> A:
    """Move values along an axis, round its end. Rows cost one level."""
    if axis is None and x.ndim != 1:
        raise ShapeMismatch(f"shape {x.shape}: roll(x, shift, axis=…)")
    shift, length = operator.index(shift), x.shape[axis or 0]
    return _at(x, axis or 0, (np.arange(length) - shift) % length)


def diff(x: A, n: int = 1, axis: int = -1) -> A:
    """Subtract from each value the one before it. Between rows it costs one level."""
    if n < 0:
        raise ValueError(f"n={n}: differences of an order of at least 0")
    for _ in range(n):
        x = _at(x, axis, slice(1, None)) - _at(x, axis, slice(None, -1))
    return x


def cumulative_sum(x: A, axis: int | None = None) -> A:
    """Add up values along an axis that does not lie in slots."""
    if axis is None and x.ndim != 1:
        raise ShapeMismatch(f"shape {x.shape}: cumulative_sum(x, axis=…)")
    place = _axis(x.ndim, axis or 0)
    if _slotted(x) and place == 0:
        raise ShapeMismatch(
            "sums up to each row: multiply by a public triangle, np.tril(np.ones((n, n))) @ x"
        )
    sums = [_at(x, place, 0)]
    for index in range(1, x.shape[place]):
        sums.append(sums[-1] + _at(x, place, index))
    return stack(sums, place)


def prod(x: A, axis: int | None = None) -> A:
    """Multiply values along an axis that does not lie in slots: ⌈log2 length⌉ levels."""
    if axis is None and x.ndim != 1:
        raise ShapeMismatch(f"shape {x.shape}: prod(x, axis=…)")
    place = _axis(x.ndim, axis or 0)
    if _slotted(x) and place == 0:
        raise ShapeMismatch("products of rows that share ciphertexts: take them out first, x[i]")
    factors = [_at(x, place, index) for index in range(x.shape[place])]
    while len(factors) > 1:
        pairs = zip(factors[::2], factors[1::2], strict=False)
        factors = [a * b for a, b in pairs] + (factors[-1:] if len(factors) % 2 else [])
    return factors[0]


def where(condition: Any, x: Any, y: Any) -> EncryptedBase:
    """Choose by a public condition: products with public zeros and ones."""
    if isinstance(condition, EncryptedBase):
        raise TypeError(
            "the condition is public: choose by encrypted flags of whole numbers with products, "
            "f * x + (1 - f) * y, f = flags.numbers()"
        )
    chosen = np.asarray(condition, dtype=bool)
    # Without a product, which takes a level, where one side alone is chosen.
    for whole, side in ((chosen.all(), x), (not chosen.any(), y)):
        if whole and isinstance(side, EncryptedBase):
            if side.shape == np.broadcast_shapes(chosen.shape, np.shape(x), np.shape(y)):
                return side
    if isinstance(x, EncryptedBase) and isinstance(y, EncryptedBase):
        difference: EncryptedBase = x - y
        return y + difference * chosen.astype(difference.dtype)
    hidden, public, kept = (x, y, chosen) if isinstance(x, EncryptedBase) else (y, x, ~chosen)
    dtype = hidden.dtype
    # The sum refuses public fractions beside whole numbers.
    return hidden * kept.astype(dtype) + np.where(kept, 0, public)


def vecdot(x: Any, y: Any, axis: int = -1) -> EncryptedBase:
    """Add up products along an axis."""
    total: EncryptedBase = (x * y).sum(axis=axis)
    return total


def tensordot(x: Any, y: Any, axes: Any = 2) -> EncryptedBase:
    """Return a product of matrices: axes=1 alone."""
    if axes != 1:
        raise ShapeMismatch(f"tensordot with axes={axes}: only axes=1, which is x @ y")
    product: EncryptedBase = x @ y
    return product


def reduced(
    x: A,
    how: Callable[[A, Any], A],
    axis: Axis,
    keepdims: bool,
) -> A:
    """Reduce one axis, several, or all."""
    axes = tuple(range(x.ndim)) if axis is None else axis
    axes = tuple(
        sorted(_axis(x.ndim, one) for one in (axes if isinstance(axes, tuple) else (axes,)))
    )
    if len(set(axes)) != len(axes):
        raise ShapeMismatch(f"axis={axis} names an axis twice")
    if len(axes) == 1:
        result = how(x, axes[0])
    elif len(axes) == x.ndim:
        result = how(x, None)
    else:
        raise ShapeMismatch(f"axis={axis}: one axis or all of them")
    if keepdims:
        kept = [1 if i in axes else length for i, length in enumerate(x.shape)]
        result = _moved(result, result._parts.reshape(kept[_slotted(result) :]))
    return result
