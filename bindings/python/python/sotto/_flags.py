"""Comparisons, and the decrypted answers."""

from __future__ import annotations

import math
from operator import methodcaller
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sotto._base import EncryptedBase
from sotto._errors import OutOfRange
from sotto._parts import computed, objects


class DecryptedFlags:
    """Decrypted answers of a comparison of real numbers: yes, no, or undecided.

    `yes` and `no` are never wrong, except with probability 2^-128. A value is undecided only if it
    is nearer to the limit than `gap`, in the unit of the values.

    Args:
        yes: Bool array of the values for which the comparison holds.
        no: Bool array of those for which it does not.
        gap: Distance from the limit from which on no value is undecided.
    """

    __slots__ = ("yes", "no", "gap")

    yes: NDArray[np.bool_]
    no: NDArray[np.bool_]
    gap: float

    def __init__(self, yes: Any, no: Any, gap: float) -> None:
        """Take two bool arrays of one shape."""
        self.yes, self.no, self.gap = yes, no, gap

    @property
    def undecided(self) -> NDArray[np.bool_]:
        """Bool array of the values that are neither."""
        return ~(self.yes | self.no)

    @property
    def values(self) -> np.ma.MaskedArray[Any, np.dtype[np.bool_]]:
        """The answers as a masked array of bools: undecided ones are masked."""
        return np.ma.masked_array(self.yes, mask=self.undecided)

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return tuple(self.yes.shape)

    def __len__(self) -> int:
        """Return the length of axis 0."""
        return len(self.yes)

    def __bool__(self) -> NoReturn:
        """Raise TypeError."""
        raise TypeError(_THREE)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        """Raise TypeError."""
        raise TypeError(_THREE)

    def __repr__(self) -> str:
        """Return the counts."""
        yes, no, undecided = (int(flags.sum()) for flags in (self.yes, self.no, self.undecided))
        return f"DecryptedFlags({yes} yes, {no} no, {undecided} undecided, gap={self.gap:.3g})"


class ExactFlags(np.ndarray[Any, np.dtype[np.bool_]]):
    """Decrypted answers of a comparison of whole numbers, which is exact: an array of bools.

    It has the names of `DecryptedFlags` too, for programs on both kinds of numbers.
    """

    @property
    def yes(self) -> NDArray[np.bool_]:
        """Bool array of the values for which the comparison holds: a copy of this one."""
        return np.array(self, subok=False)

    @property
    def no(self) -> NDArray[np.bool_]:
        """Bool array of those for which it does not."""
        return np.logical_not(self.yes)

    @property
    def undecided(self) -> NDArray[np.bool_]:
        """Bool array of the values that are neither: none."""
        return np.zeros(self.shape, dtype=np.bool_)

    @property
    def gap(self) -> float:
        """0: every value is decided."""
        return 0.0


_THREE = "a flag may be undecided: take .yes, .no, .undecided, or .values, which is masked"


def assembled(
    opened: list[Any], shape: tuple[int, ...], length: int | None, gap: float | None
) -> DecryptedFlags | ExactFlags:
    """Put decrypted parts together: 1, 0 and -1 for undecided, or without a gap 1 and 0."""
    columns = np.stack(opened, axis=-1)
    numbers = columns.reshape(shape) if length is not None else columns[0].reshape(shape)
    if gap is None:
        return np.asarray(numbers == 1).view(ExactFlags)
    return DecryptedFlags(np.asarray(numbers == 1), np.asarray(numbers == 0), gap)


def compared(x: EncryptedBase, sign: str, other: Any) -> tuple[np.ndarray[Any, Any], int | None]:
    """Compare by >, >=, < or <= with a number, or an array by the sign of the difference.

    Returns:
        The parts and the length of the flags.
    """
    x._open_ended()
    if not x._vectors[0].compares:
        raise TypeError(_NO_ROOM_REALS if x._real else _NO_ROOM_INTEGERS)
    if isinstance(other, EncryptedBase) or np.ndim(np.asarray(other)) > 0:
        if not x._real:
            raise TypeError(_ONE_LIMIT)
        x, other = x - other, 0
    limit = np.asarray(other)
    if limit.dtype.kind not in "biuf":
        raise TypeError(f"a limit of dtype {limit.dtype} is not a number")
    less = sign[0] == "<"
    if x._real:
        for vector in x._vectors:
            _within(limit.item(), vector.magnitude)
        run = methodcaller("flags", less, float(limit))
    else:
        # Less than, or at least, the next whole number.
        start = _start(limit.item(), less == sign.endswith("="))
        for vector in x._vectors:
            _splits(start, vector.limits, f"{sign} {limit}")
        run = methodcaller("exact_flags", less, start)
    flags, _ = computed(
        sign, lambda: objects((run(v) for v in x._parts.flat), x._parts.shape), x._vectors, x._trail
    )
    return flags, x._length


def _within(limit: float, bound: float) -> None:
    if not abs(limit) <= bound:
        raise OutOfRange(
            f"the limit {limit:g} is not a number within ±{bound:g}, the bound on the values: "
            "everybody knows the answer without a comparison"
        )


def _start(limit: float, after: bool) -> int:
    if not math.isfinite(limit):
        raise OutOfRange(f"the limit {limit} is not a number")
    return math.floor(limit) + 1 if after else math.ceil(limit)


def _splits(start: int, limits: tuple[int, int], comparison: str) -> None:
    first, last = limits
    if not first < start <= last:
        raise OutOfRange(
            f"values are {first} to {last}, so everybody knows the answer to {comparison!r} "
            "without a comparison"
        )


_NO_ROOM_REALS = (
    "these keys have no room to compare real numbers: make them with "
    "st.Owner.new(comparisons=2**-8), the gap as a share of the range"
)
_ONE_LIMIT = (
    "encrypted whole numbers are compared with one number: to compare two arrays encrypt floats "
    "with the keys of st.Owner.new(comparisons=2**-8)"
)
_NO_ROOM_INTEGERS = (
    "these keys do not compare whole numbers: make them with "
    "st.Owner.new(integer_range=(lowest, highest)), at most 256 numbers"
)
