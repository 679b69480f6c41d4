"""Values with their bound, as text: digits end where the bound begins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: A bound below this share of the largest value is the rounding of float64 itself.
_ROUNDING = 2.0**-51
#: From here on, and below its inverse, values are written with an exponent.
_LARGE = 1e16


def decimals(bound: float, largest: float) -> int | None:
    """Return the place of the bound's first digit: 2 for 0.05, -1 for 20; None for exact values."""
    if not 0.0 < bound < math.inf or bound <= largest * _ROUNDING:
        return None
    return -math.floor(math.log10(bound))


def number(value: float, places: int | None) -> str:
    """Write a value to this many decimals; with None to 15 digits."""
    if not math.isfinite(value):
        return str(value)
    if places is None:
        return repr(float(f"{value:.15g}"))
    value = rounded(value, places)
    if places <= 0 and abs(value) < _LARGE:
        return f"{value + 0.0:.0f}"
    if value == 0.0:
        return f"{0.0:.{places}f}" if places <= 15 else "0.0"
    digits = math.floor(math.log10(abs(value))) + places
    if abs(value) >= _LARGE or places > 15:
        return f"{value:.{min(max(digits, 0), 16)}e}"
    return f"{value:.{max(places, 0)}f}"


def rounded(value: Any, places: int | None) -> Any:
    """Round a value or an array to this many decimals, as far as float64 can."""
    if places is None:
        return value
    # 10^places or its inverse is infinite beyond 308.
    return np.round(value, max(min(places, 300), -300)) if abs(places) <= 300 else value


def margin(bound: float) -> str:
    """Write a bound with two digits, rounded up."""
    if bound == 0.0 or not math.isfinite(bound):
        return f"{bound:g}"
    text = f"{bound:.1e}"
    if float(text) < bound:
        place = math.floor(math.log10(bound)) - 1
        text = f"{float(text) + 10.0**place:.1e}"
    return f"{float(text):.2g}"


def shown(values: np.ndarray[Any, Any], bound: float) -> tuple[str, str]:
    """Return the values as text, and the bound on the error of what is written there."""
    if values.dtype.kind != "f":
        return np.array2string(values), margin(bound)
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max()) if finite.size else 0.0
    places = decimals(bound, largest)
    written_by: Any = {"float_kind": lambda value: number(value, places)}
    text = np.array2string(values, formatter=written_by)
    if places is None:
        return text, margin(0.0 if bound <= largest * _ROUNDING else bound)
    written = rounded(values, places)
    with np.errstate(invalid="ignore"):
        off = np.abs(written - values)
    off = off[np.isfinite(off)]
    return text, margin(bound + (float(off.max()) if off.size else 0.0))
