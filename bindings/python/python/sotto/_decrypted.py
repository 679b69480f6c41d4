"""Decrypted values, and the steps that the owner finishes."""

from __future__ import annotations

from typing import Any

import numpy as np


class Decrypted(np.ndarray[Any, Any]):
    """Decrypted values, with a bound on the error of each: `.bound`."""

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
        """Keep the bound in views; results of arithmetic have none."""
        self.bound = getattr(source, "bound", float("nan"))

    def __array_wrap__(self, values: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Return plain values from arithmetic, for which the bound does not hold."""
        plain = np.asarray(values)
        return plain[()] if return_scalar else plain


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
    if grid is not None and bound < grid / 2:
        largest = float(np.abs(values).max()) if values.size else 0.0
        return Decrypted(np.round(values / grid) * grid, largest * 2.0**-52)
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
