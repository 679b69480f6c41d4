"""Decrypted values, and the steps that the owner finishes."""

from __future__ import annotations

import html
import math
import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from sotto._parts import depth_of_caller
from sotto._shown import margin, shown

#: Whole numbers up to here are exact in float64.
_WHOLE = 2.0**53


class DecryptedValue(np.float64):
    """One decrypted value, with a bound on its error: `.bound`. Arithmetic gives plain numbers."""

    bound: float

    def __new__(cls, value: Any, bound: float) -> DecryptedValue:
        """Make a value with its bound."""
        made = super().__new__(cls, value)
        made.bound = bound
        return made

    def __str__(self) -> str:
        """Return the value and its bound; digits end where the bound begins."""
        return _text(np.asarray(float(self)), self.bound)

    def __repr__(self) -> str:
        """Return the value and its bound."""
        return f"DecryptedValue({self})"

    def __format__(self, form: str) -> str:
        """Format the value alone where a format is given."""
        return format(float(self), form) if form else str(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the bound in pickles and copies."""
        return DecryptedValue, (float(self), self.bound)

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(str(self))}</code>"


class Decrypted(np.ndarray[Any, Any]):
    """Decrypted values, with a bound on the error of each: `.bound`.

    `print` shows values and bound; digits end where the bound begins. Elements have the bound too.
    """

    bound: float

    def __new__(cls, values: Any, bound: float) -> Decrypted:
        """Make an array of values."""
        return cls._of(np.asarray(values), bound)

    @classmethod
    def _of(cls, values: np.ndarray[Any, Any], bound: float) -> Decrypted:
        array = values.view(cls)
        array.bound = bound
        return array

    def __array_finalize__(self, source: Any) -> None:
        """Keep the bound in views; results of arithmetic, and other types, have none."""
        kept = isinstance(source, Decrypted) and source.dtype == self.dtype
        self.bound = source.bound if kept else math.nan

    def __array_wrap__(self, values: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Return plain values from arithmetic, for which the bound does not hold."""
        plain = np.asarray(values)
        return plain[()] if return_scalar else plain

    def __getitem__(self, key: Any) -> Any:
        """Return elements, and parts, with the bound."""
        found = super().__getitem__(key)
        return DecryptedValue(found, self.bound) if type(found) is np.float64 else found

    def __iter__(self) -> Iterator[Any]:
        """Iterate over elements, or rows, with the bound."""
        return (self[index] for index in range(len(self)))

    def __str__(self) -> str:
        """Return the values and the bound; digits end where the bound begins."""
        return _text(np.asarray(self), self.bound)

    def __repr__(self) -> str:
        """Return the values and the bound."""
        return f"Decrypted({self})"

    def __format__(self, form: str) -> str:
        """Format a single value alone where a format is given."""
        return super().__format__(form) if form else str(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the bound in pickles and copies."""
        return Decrypted, (np.asarray(self), self.bound)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def _text(values: np.ndarray[Any, Any], bound: float) -> str:
    text, margin = shown(values, bound)
    return text if bound != bound else f"{text} ± {margin}"


def assembled(
    opened: list[tuple[Any, float]],
    shape: tuple[int, ...],
    length: int | None,
    grid: float | None,
    finish: tuple[str, float] | None,
) -> Decrypted:
    """Put decrypted parts together, and finish them."""
    if len(opened) == 1 and length is not None:
        values = opened[0][0].reshape(shape)
    else:
        columns = np.stack([values for values, _ in opened], axis=-1)
        values = columns.reshape(shape) if length is not None else columns[0].reshape(shape)
    bound = max(error for _, error in opened)
    if grid is not None:
        # The readings themselves are steps rounded to float64: by less than a 16th of the bound.
        if bound * (1 + 1 / 16) < grid / 2:
            return Decrypted(*_whole_steps(values, grid))
        warnings.warn(
            f"the answer may be off by {margin(bound)}, which is not below half of the step "
            f"{grid:g}, so it is not rounded to steps: declare a tighter range, or make the owner "
            "with a smaller error_within",
            stacklevel=depth_of_caller(),
        )
    if finish is None:
        return Decrypted(values, bound)
    name, divisor = finish
    values, bound = values / divisor, bound / divisor
    bound += float(np.abs(values).max()) * 2.0**-52
    if name == "root":
        root = np.sqrt(np.maximum(values, 0.0))
        # |√a − √b| ≤ |a − b| / √a, and ≤ √|a − b|.
        with np.errstate(divide="ignore", invalid="ignore"):
            bound = float(np.fmin(bound / root, np.sqrt(bound)).max()) + root.max() * 2.0**-52
        values = root
    return Decrypted(values, bound)


def finished(
    bound: float, magnitude: float, finish: tuple[str, float] | None
) -> tuple[float, float]:
    """Return a bound on the error of values that the owner finishes, and one on the values.

    Of values within ±`magnitude`, off by at most `bound` before.
    """
    if finish is None or finish[0] == "flags":
        return bound, magnitude
    name, divisor = finish
    bound, magnitude = bound / divisor, magnitude / divisor
    bound += (magnitude + bound) * 2.0**-52
    if name == "root":
        # The root of a variance of 0 is off by as much as the root of the bound.
        largest = math.sqrt(magnitude + bound)
        return math.sqrt(bound) + largest * 2.0**-52, largest
    return bound, magnitude


def _whole_steps(values: np.ndarray[Any, Any], grid: float) -> tuple[np.ndarray[Any, Any], float]:
    """Return the nearest multiples of a step, and a bound on their error.

    The step is the decimal number that Python writes, 0.1 is 1 / 10: one rounding gives the float64
    nearest to a multiple, without an error beyond that of writing it down.
    """
    counts = np.round(values / grid)
    step = Fraction(repr(grid))
    largest = float(np.abs(counts).max()) if counts.size else 0.0
    if largest * step.numerator < _WHOLE and step.denominator < _WHOLE:
        return counts * float(step.numerator) / float(step.denominator), 0.0
    return counts * grid, largest * grid * 2.0**-52
