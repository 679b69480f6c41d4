"""Inputs: ranges and resolutions are checked, then values are encrypted."""

from __future__ import annotations

import math
from typing import Any, SupportsFloat

import numpy as np

from sotto import _progress
from sotto._array import EncryptedArray
from sotto._container import DetachedArray
from sotto._errors import OutOfRange, ShapeMismatch
from sotto._parts import alone, objects

#: The range of values unless another is declared.
DEFAULT_RANGE = (-1000.0, 1000.0)


def ends(range: tuple[SupportsFloat, SupportsFloat] | None) -> tuple[float, float]:
    """Return the ends of a range, checked."""
    try:
        low, high = (float(end) for end in (DEFAULT_RANGE if range is None else range))
    except (TypeError, ValueError):
        raise TypeError(f"range={range!r} is not (lowest, highest)") from None
    if not (math.isfinite(low) and math.isfinite(high)) or low > high or low == high == 0:
        raise OutOfRange(f"range=({low}, {high}) is not a range of numbers, (lowest, highest)")
    return low, high


def bound_of(range: tuple[SupportsFloat, SupportsFloat] | None) -> float:
    """Return the bound on the absolute values of a range."""
    return max(abs(end) for end in ends(range))


def checked(
    values: Any, range: tuple[SupportsFloat, SupportsFloat] | None, resolution: float | None
) -> tuple[np.ndarray[Any, Any], float]:
    """Return the values as float64 or int64, and the bound on them."""
    if isinstance(values, (EncryptedArray, DetachedArray)):
        raise TypeError("the array is encrypted already")
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"values of dtype {array.dtype} are not encrypted; int and float are")
    if array.size == 0:
        raise ShapeMismatch("an empty array: nothing to encrypt")
    if array.dtype.kind == "u" and array.max() > np.iinfo(np.int64).max:
        raise OutOfRange("whole numbers beyond int64 are not encrypted")
    integers = array.dtype.kind != "f"
    array = array.astype(np.int64 if integers else np.float64, copy=False)
    low, high = ends(range)
    # NaN is within nothing. These passes need no memory; the place is sought in case of error.
    least, largest = (end.reduce(array, axis=None) for end in (np.minimum, np.maximum))
    if not (low <= least and largest <= high):
        outside = ~((array >= low) & (array <= high))
        first = tuple(int(i) for i in np.argwhere(outside)[0])
        where = first[0] if len(first) == 1 else first
        raise OutOfRange(
            f"the value at {where} is not a number within {low:g} to {high:g}: declare "
            "range=(lowest, highest), or leave the value out"
        )
    if resolution is not None:
        if not (np.isfinite(resolution) and resolution > 0):
            raise OutOfRange(f"resolution={resolution} is not a positive number")
        if not integers:
            array = np.round(array / resolution) * resolution
    return array, max(abs(low), abs(high))


def encrypted(
    keys: Any, values: np.ndarray[Any, Any], bound: float, grid: float | None
) -> EncryptedArray:
    """Encrypt with a secret or a public key: axis 0 in slots, the others apart."""
    real = values.dtype.kind == "f"
    encrypt = keys.encrypt_reals if real else keys.encrypt_integers
    if values.ndim == 0:
        parts = objects([encrypt(values.reshape(1), bound)], ())
        return EncryptedArray._of(parts, None, grid=grid)
    if values.ndim == 1:
        column = np.ascontiguousarray(values)
        parts = alone(_progress.single(lambda: encrypt(column, bound)))
        return EncryptedArray._of(parts, len(values), grid=grid)
    columns = values.reshape(len(values), -1)
    vectors = (encrypt(np.ascontiguousarray(columns[:, i]), bound) for i in range(columns.shape[1]))
    return EncryptedArray._of(objects(vectors, values.shape[1:]), len(values), grid=grid)
