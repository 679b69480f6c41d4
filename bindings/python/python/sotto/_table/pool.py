"""Sums, means and variances over the readings of several encrypted vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sotto._array import EncryptedArray
from sotto._errors import ShapeMismatch
from sotto._reduce import of_sums, over, root

#: Takes the arrays of some cells, one after another, and returns a single value.
Pool = Callable[[Iterable[EncryptedArray]], EncryptedArray]


class TooFew(ShapeMismatch):
    """Fewer readings than a variance needs: the result is missing, as in pandas and SQL."""


class _Sum:
    """A running sum. Vectors of one length are added before their slots are: fewer rotations."""

    def __init__(self) -> None:
        self._by_shape: dict[tuple[int, ...], EncryptedArray] = {}

    def add(self, array: EncryptedArray) -> None:
        before = self._by_shape.get(array.shape)
        self._by_shape[array.shape] = array if before is None else before + array

    def total(self) -> EncryptedArray:
        sums = [array.sum() if array.shape else array for array in self._by_shape.values()]
        whole = sums[0]
        for part in sums[1:]:
            whole = whole + part
        return whole


def total(arrays: Iterable[EncryptedArray]) -> EncryptedArray:
    """Add all readings."""
    values = _Sum()
    for array in arrays:
        values.add(array)
    return values.total()


def mean(arrays: Iterable[EncryptedArray]) -> EncryptedArray:
    """Average all readings: each reading counts once, however many its cell has."""
    values, count = _Sum(), 0
    for array in arrays:
        values.add(array)
        count += array.size
    return over(values.total(), count)


def variance(ddof: int) -> Pool:
    """Return the pool that finds the variance of all readings."""

    def pool(arrays: Iterable[EncryptedArray]) -> EncryptedArray:
        values, squares, count = _Sum(), _Sum(), 0
        for array in arrays:
            values.add(array)
            squares.add(array**2)
            count += array.size
        if count <= ddof:
            raise TooFew(f"the variance of {count} readings with ddof={ddof} does not exist")
        return of_sums(squares.total(), values.total(), count, ddof)

    return pool


def deviation(ddof: int) -> Pool:
    """Return the pool that finds the standard deviation of all readings."""
    return lambda arrays: root(variance(ddof)(arrays))


def of_one(array: EncryptedArray, ddof: int) -> EncryptedArray:
    """Return the variance of one vector."""
    if array.size <= ddof:
        raise TooFew(f"the variance of {array.size} readings with ddof={ddof} does not exist")
    return array.var(ddof=ddof)
