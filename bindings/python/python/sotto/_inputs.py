"""Inputs: ranges and resolutions are checked, then values are encrypted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, SupportsFloat

import numpy as np

from sotto._array import DetachedArray, EncryptedArray
from sotto._errors import OutOfRange, ShapeMismatch
from sotto._parts import objects

Bounds = np.ndarray[Any, Any]

#: The range of values unless another is declared.
DEFAULT_RANGE = (-1000.0, 1000.0)


#: One range, or a range for every index of the axes behind the first.
Range = tuple[SupportsFloat, SupportsFloat] | Sequence[Any] | np.ndarray[Any, Any]


def ends(range: Range | None, inner: tuple[int, ...]) -> tuple[Bounds, Bounds]:
    """Return the lowest and the highest values by column, checked."""
    if not inner and isinstance(range, tuple) and len(range) == 2:
        # The usual case, without the passes over columns.
        least, most = (end if isinstance(end, (int, float)) else math.nan for end in range)
        if -math.inf < least <= most < math.inf and (least != 0 or most != 0):
            return np.asarray(least, dtype=np.float64), np.asarray(most, dtype=np.float64)
    try:
        given = np.asarray(DEFAULT_RANGE if range is None else range, dtype=np.float64)
        low, high = given[..., 0], given[..., 1]
        whole = given.shape[-1] == 2
    except (TypeError, ValueError, IndexError):
        whole = False
    if not whole:
        raise TypeError(f"range={range!r} is not (lowest, highest), or one such pair a column")
    if given.ndim > 1 and given.shape[:-1] != inner:
        raise ShapeMismatch(
            f"{given.size // 2} ranges for columns of shape {inner}: one range for all values, or "
            "one for each column"
        )
    wrong = ~(np.isfinite(low) & np.isfinite(high) & (low <= high) & ((low != 0) | (high != 0)))
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0])
        column = f" of column {', '.join(map(str, at))}" if at else ""
        raise OutOfRange(
            f"range=({low[at]}, {high[at]}){column} is not a range of numbers, (lowest, highest)"
        )
    return np.broadcast_to(low, inner), np.broadcast_to(high, inner)


def bounds_of(range: Range | None, inner: tuple[int, ...]) -> Bounds:
    """Return the bound on the absolute values of every column."""
    low, high = ends(range, inner)
    return np.maximum(np.abs(low), np.abs(high))


def checked(
    values: Any, range: Range | None, resolution: float | None
) -> tuple[np.ndarray[Any, Any], Bounds]:
    """Return the values as float64 or int64, and the bounds on them by column."""
    if isinstance(values, (EncryptedArray, DetachedArray)):
        raise TypeError("the array is encrypted already")
    if np.ma.is_masked(values):
        raise OutOfRange("masked values would be encrypted as data: fill them or leave them out")
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"values of dtype {array.dtype} are not encrypted; int and float are")
    if array.size == 0:
        raise ShapeMismatch("an empty array: nothing to encrypt")
    if array.dtype.kind == "u" and array.max() > np.iinfo(np.int64).max:
        raise OutOfRange("whole numbers beyond int64 are not encrypted")
    integers = array.dtype.kind != "f"
    array = array.astype(np.int64 if integers else np.float64, copy=False)
    low, high = ends(range, array.shape[1:])
    # NaN is within nothing. These passes need no memory; the place is sought in case of error.
    rows = array if array.ndim else array.reshape(1)
    least, largest = (end.reduce(rows, axis=0) for end in (np.minimum, np.maximum))
    if not ((low <= least) & (largest <= high)).all():
        outside = ~((array >= low) & (array <= high))
        first = tuple(int(i) for i in np.argwhere(outside)[0])
        where = first[0] if len(first) == 1 else first
        lowest, highest = low[first[1:]], high[first[1:]]
        raise OutOfRange(
            f"the value at {where} is not a number within {lowest:g} to {highest:g}: declare "
            "range=(lowest, highest), or leave the value out"
        )
    if resolution is not None:
        if not (np.isfinite(resolution) and resolution > 0):
            raise OutOfRange(f"resolution={resolution} is not a positive number")
        if not integers:
            array = np.round(array / resolution) * resolution
    return array, np.maximum(np.abs(low), np.abs(high))


def encrypted(
    keys: Any, values: np.ndarray[Any, Any], bounds: Bounds, grid: float | None
) -> EncryptedArray:
    """Encrypt with a secret or a public key: axis 0 in slots, the others apart."""
    grid = None if grid is None else float(grid)
    if values.ndim == 0:
        parts = objects([keys.encrypt(values.reshape(1), float(bounds))], ())
        return EncryptedArray._of(parts, None, grid=grid)
    if values.ndim == 1:
        vector = keys.encrypt(np.ascontiguousarray(values), float(bounds))
        return EncryptedArray._of(vector, len(values), grid=grid)
    columns = values.reshape(len(values), -1)
    each = zip(columns.T, bounds.reshape(-1), strict=True)
    vectors = (keys.encrypt(np.ascontiguousarray(column), float(bound)) for column, bound in each)
    return EncryptedArray._of(objects(vectors, values.shape[1:]), len(values), grid=grid)
