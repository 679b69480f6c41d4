"""Reductions of the groups of an encrypted column: sums with public weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from sotto._array import EncryptedArray
from sotto._errors import ShapeMismatch
from sotto._matmul import means_to_square
from sotto._parts import objects
from sotto._reduce import of_means

#: The reductions that pandas may ask for.
_REDUCTIONS = ("sum", "mean", "var", "std")


def reduced(
    how: str,
    array: EncryptedArray,
    members: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]],
    groups: int,
    ddof: int,
    least: int,
) -> tuple[EncryptedArray, np.ndarray[Any, Any]]:
    """Reduce each group of values.

    Args:
        how: One of the reductions.
        array: The vector of all values.
        members: A group and a value of the vector, for each row that counts.
        groups: Number of groups.
        ddof: Taken from the count of a variance.
        least: Values that a group needs.

    Returns:
        A value for each group, and which of them are valid. Others repeat a valid one.
    """
    if how not in _REDUCTIONS:
        raise TypeError(f"{how} of encrypted values: these work: {', '.join(_REDUCTIONS)}")
    weights = np.zeros((groups, len(array)))
    np.add.at(weights, members, 1.0)
    counts = weights.sum(axis=1)
    valid = counts >= max(least, 1, ddof + 1 if how in ("var", "std") else 1)
    if not valid.any():
        raise ShapeMismatch(f"no group has enough values for its {how}")
    # A missing result is never read; the first valid one takes its place.
    used = np.where(valid, np.arange(groups), int(np.argmax(valid)))
    found = _reduced(how, array, weights[valid], counts[valid], ddof)
    place = np.cumsum(valid) - 1
    parts = objects((found._parts[place[group]] for group in used), (groups,))
    result = EncryptedArray._of(
        parts, None, grid=found._grid, finish=found._finish, trail=found._trail
    )
    return result, valid


def _reduced(
    how: str,
    array: EncryptedArray,
    weights: np.ndarray[Any, Any],
    counts: np.ndarray[Any, Any],
    ddof: int,
) -> EncryptedArray:
    if not array._real:
        if how != "sum":
            raise TypeError(f"{how} by groups of whole numbers: encrypt the column as float")
        return array.__rmatmul__(weights.astype(np.int64))
    if how == "sum":
        return array.__rmatmul__(weights)._with(grid=array._grid)
    shares = weights / counts[:, None]
    if how == "mean":
        return array.__rmatmul__(shares)
    mean = means_to_square(shares, array)
    squares = (array**2).__rmatmul__(shares)
    variance = of_means(squares, mean, counts, ddof)
    return variance._with(finish=("root", 1.0)) if how == "std" else variance
