"""Encrypted columns of pandas frames. To select rows costs nothing until a sum is asked for."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, SupportsFloat

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray, ExtensionDtype, register_extension_dtype

from sotto._array import EncryptedArray
from sotto._errors import OutOfRange, ShapeMismatch
from sotto._owner import Owner
from sotto._parts import objects

#: The reductions that pandas may ask for.
_REDUCTIONS = ("sum", "mean", "var", "std")


@register_extension_dtype
class EncryptedDtype(ExtensionDtype):
    """The dtype of encrypted columns."""

    name = "encrypted"
    type = EncryptedArray
    na_value = pd.NA
    _is_numeric = True

    @classmethod
    def construct_array_type(cls) -> builtins.type[EncryptedColumn]:
        """Return the class of its arrays."""
        return EncryptedColumn

    @classmethod
    def construct_from_string(cls, string: str) -> EncryptedDtype:
        """Return the dtype of this name."""
        if string != cls.name:
            raise TypeError(f"no dtype named {string!r}")
        return cls()


class _Hidden:
    """Stands for a value in printed frames."""

    def __repr__(self) -> str:
        return "encrypted"


class EncryptedColumn(ExtensionArray):
    """A column whose values only the owner can read. Lengths and missing values are public."""

    def __init__(
        self,
        array: EncryptedArray,
        valid: np.ndarray[Any, Any] | None = None,
        rows: np.ndarray[Any, Any] | None = None,
    ) -> None:
        """Take an encrypted vector, its valid values, and the rows of it that the column has."""
        if array.ndim != 1:
            raise ShapeMismatch(f"a column is a vector, not of shape {array.shape}")
        self._array = array
        self._valid = np.ones(len(array), dtype=bool) if valid is None else valid
        self._rows = np.arange(len(array)) if rows is None else rows

    # What pandas asks of every extension array.

    @classmethod
    def _from_sequence(cls, scalars: Any, **_: Any) -> EncryptedColumn:
        if isinstance(scalars, EncryptedColumn):
            return scalars
        raise TypeError("st.encrypt_frame(df, owner, ranges=…) makes encrypted columns")

    _from_factorized = _from_sequence

    @property
    def dtype(self) -> EncryptedDtype:
        """The dtype of encrypted columns."""
        return EncryptedDtype()

    @property
    def nbytes(self) -> int:
        """Bytes of the ciphertexts in memory."""
        return self._array.nbytes

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def isna(self) -> np.ndarray[Any, Any]:
        """Return the missing values, which are public."""
        present = self._rows >= 0
        present[present] = self._valid[self._rows[present]]
        return ~present

    def copy(self) -> EncryptedColumn:
        """Return the column: ciphertexts never change."""
        return EncryptedColumn(self._array, self._valid, self._rows.copy())

    def __getitem__(self, item: Any) -> Any:
        """Return one encrypted value, or a column of some rows."""
        item = pd.api.indexers.check_array_indexer(self, item)
        rows = self._rows[item]
        if isinstance(rows, np.ndarray):
            return EncryptedColumn(self._array, self._valid, rows)
        return pd.NA if rows < 0 or not self._valid[rows] else self._array[int(rows)]

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        """Raise TypeError."""
        raise TypeError("encrypted columns do not change: compute a new one")

    def take(
        self, indices: Any, *, allow_fill: bool = False, fill_value: Any = None
    ) -> EncryptedColumn:
        """Return a column of these rows; with `allow_fill`, -1 stands for a missing value."""
        indices = np.asarray(indices, dtype=np.intp)
        if allow_fill and (indices < -1).any():
            raise ValueError("indices below -1")
        if not allow_fill:
            return EncryptedColumn(self._array, self._valid, self._rows[indices])
        if indices.size and indices.max() >= len(self):
            raise IndexError("an index beyond the column")
        padded = np.append(self._rows, -1)
        return EncryptedColumn(self._array, self._valid, padded[indices])

    @classmethod
    def _concat_same_type(cls, to_concat: Sequence[EncryptedColumn]) -> EncryptedColumn:
        first = to_concat[0]
        if any(column._array is not first._array for column in to_concat):
            raise TypeError("encrypted columns are not joined: concatenate before you encrypt")
        rows = np.concatenate([column._rows for column in to_concat])
        return EncryptedColumn(first._array, first._valid, rows)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Return placeholders for printing; raise TypeError for numbers."""
        if dtype is None or np.dtype(dtype) != object:
            return self._array.__array__()
        shown = np.empty(len(self), dtype=object)
        missing = self.isna()
        for row in range(len(self)):
            shown[row] = pd.NA if missing[row] else _Hidden()
        return shown

    def _formatter(self, boxed: bool = False) -> Callable[[Any], str]:
        return str

    # Arithmetic, on all rows of the vector at once.

    def _operand(self, other: Any) -> tuple[Any, np.ndarray[Any, Any]]:
        if isinstance(other, EncryptedColumn):
            if not np.array_equal(self._rows, other._rows):
                raise TypeError("the columns have different rows: select them in the same way")
            return other._array, self._valid & other._valid
        if np.ndim(other) == 0:
            return other, self._valid
        values = np.asarray(other)
        if len(np.unique(self._rows)) != len(self._rows) or (self._rows < 0).any():
            raise TypeError("a public column meets an encrypted one whose rows occur once")
        spread = np.zeros(len(self._array), dtype=values.dtype)
        spread[self._rows] = values
        return spread, self._valid

    def _combined(self, other: Any, run: Callable[[Any, Any], EncryptedArray]) -> Any:
        if isinstance(other, (pd.Series, pd.Index, pd.DataFrame)):
            return NotImplemented
        operand, valid = self._operand(other)
        return EncryptedColumn(run(self._array, operand), valid, self._rows)

    def __add__(self, other: Any) -> Any:
        """Add a column or a number."""
        return self._combined(other, lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        """Subtract a column or a number."""
        return self._combined(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        """Subtract from a number."""
        return self._combined(other, lambda a, b: -a + b)

    def __mul__(self, other: Any) -> Any:
        """Multiply by a column or a number."""
        return self._combined(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        """Divide by a number."""
        return self._combined(other, lambda a, b: a / b)

    def __pow__(self, exponent: int) -> EncryptedColumn:
        """Raise to a whole power."""
        return EncryptedColumn(self._array**exponent, self._valid, self._rows)

    def _cmp(self, other: Any) -> Any:
        return self._array < other

    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _cmp

    # Reductions.

    def _reduce(
        self, name: str, *, skipna: bool = True, keepdims: bool = False, **kwargs: Any
    ) -> Any:
        if not skipna and self.isna().any():
            return pd.NA
        groups = np.zeros(len(self), dtype=np.intp)
        found = self._grouped(name, groups, 1, kwargs.get("ddof", 1), kwargs.get("min_count", 0))
        return found if keepdims else found[0]

    def _groupby_op(
        self,
        *,
        how: str,
        min_count: int,
        ngroups: int,
        ids: np.ndarray[Any, Any],
        **kwargs: Any,
    ) -> EncryptedColumn:
        # pandas 2 names `has_dropna` too, pandas 3 does not.
        return self._grouped(how, ids, ngroups, kwargs.get("ddof", 1), max(min_count, 0))

    def _grouped(
        self, how: str, ids: np.ndarray[Any, Any], groups: int, ddof: int, least: int
    ) -> EncryptedColumn:
        """Reduce each group of rows: sums with public weights."""
        if how not in _REDUCTIONS:
            raise TypeError(f"{how} of encrypted values: these work: {', '.join(_REDUCTIONS)}")
        counted = ~self.isna() & (ids >= 0)
        weights = np.zeros((groups, len(self._array)))
        np.add.at(weights, (ids[counted], self._rows[counted]), 1.0)
        counts = weights.sum(axis=1)
        valid = counts >= max(least, 1, ddof + 1 if how in ("var", "std") else 1)
        if not valid.any():
            raise ShapeMismatch(f"no group has enough values for its {how}")
        # A missing result is never read; the first valid one takes its place.
        used = np.where(valid, np.arange(groups), int(np.argmax(valid)))
        weights, counts = weights[valid], counts[valid]
        found = _reduced(how, self._array, weights, counts, ddof)
        place = np.cumsum(valid) - 1
        parts = objects((found._parts[place[group]] for group in used), (groups,))
        result = EncryptedArray._of(
            parts, None, grid=found._grid, finish=found._finish, trail=found._trail
        )
        return EncryptedColumn(result, valid)


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
        found = array.__rmatmul__(weights)
        found._grid = array._grid
        return found
    shares = weights / counts[:, None]
    mean = array.__rmatmul__(shares)
    if how == "mean":
        return mean
    squares = (array**2).__rmatmul__(shares)
    variance: EncryptedArray = (squares - mean**2) * (counts / (counts - ddof))
    if how == "std":
        variance._finish = ("root", 1.0)
    return variance


def encrypt_frame(
    frame: pd.DataFrame,
    owner: Owner,
    ranges: Mapping[str, tuple[SupportsFloat, SupportsFloat]],
    resolutions: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Encrypt the columns that `ranges` names; the others stay as they are, readable by all.

    Missing values stay missing, which everybody sees.
    """
    if not ranges:
        raise OutOfRange("ranges={column: (lowest, highest)} names the columns to encrypt")
    unknown = [name for name in ranges if name not in frame.columns]
    if unknown:
        raise KeyError(f"no column {unknown[0]!r}; there are {', '.join(map(str, frame.columns))}")
    hidden = frame.copy()
    for name, limits in ranges.items():
        missing = frame[name].isna().to_numpy()
        if missing.all():
            raise ShapeMismatch(f"column {name!r} has no value")
        filled = frame[name].fillna(frame[name][~missing].iloc[0]).to_numpy()
        try:
            array = owner.encrypt(filled, limits, (resolutions or {}).get(name))
        except OutOfRange as error:
            raise OutOfRange(f"column {name!r}: {error}") from None
        hidden[name] = EncryptedColumn(array, ~missing)
    return hidden


def decrypt_frame(hidden: pd.DataFrame | pd.Series, owner: Owner) -> Any:
    """Decrypt the encrypted columns of a frame or a series.

    `attrs["bound"]` of the result has a bound on the errors, by column.
    """
    if isinstance(hidden, pd.Series):
        clear = decrypt_frame(hidden.to_frame("values"), owner)
        series = clear["values"].rename(hidden.name)
        series.attrs["bound"] = clear.attrs["bound"].get("values", 0.0)
        return series
    clear, bounds = hidden.copy(), {}
    for name in hidden.columns:
        column = hidden[name].array
        if not isinstance(column, EncryptedColumn):
            continue
        found = owner.decrypt(column._array)
        missing = column.isna()
        values = np.asarray(found)[np.where(missing, 0, column._rows)]
        if missing.any():
            values = np.where(missing, np.nan, values.astype(np.float64))
        clear[name], bounds[str(name)] = values, float(found.bound)
    clear.attrs["bound"] = bounds
    return clear
