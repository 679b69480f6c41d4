"""Encrypted columns of pandas frames. To select rows costs nothing until a sum is asked for."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray, ExtensionDtype, register_extension_dtype

from sotto._array import DetachedArray, EncryptedArray
from sotto._errors import NO_DECRYPTION, NO_ORDER, ShapeMismatch, WrongKeys
from sotto._table import cell as _cell
from sotto._table import frame_groups as _frame_groups


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

    def __from_arrow__(self, array: Any) -> EncryptedColumn:
        """Read a column of Arrow, for pandas: `EncryptedColumn.from_arrow`."""
        return EncryptedColumn.from_arrow(array)


class _Hidden:
    """Stands for a value in printed frames."""

    def __repr__(self) -> str:
        return "encrypted"


class EncryptedColumn(ExtensionArray):
    """A column whose values only the owner can read. Lengths and missing values are public."""

    def __init__(
        self,
        array: EncryptedArray | DetachedArray | None,
        valid: np.ndarray[Any, Any] | None = None,
        rows: np.ndarray[Any, Any] | None = None,
    ) -> None:
        """Take an encrypted vector, its valid values, and the rows of it that the column has.

        Without a vector all values are missing, and `rows` are -1.
        """
        if array is not None and len(array.shape) != 1:
            raise ShapeMismatch(f"a column is a vector, not of shape {array.shape}")
        length = 0 if array is None else array.shape[0]
        self._held = array
        self._valid = np.ones(length, dtype=bool) if valid is None else valid
        self._rows = np.arange(length) if rows is None else rows

    @property
    def _array(self) -> EncryptedArray:
        """The vector, to compute with."""
        if self._held is None:
            raise ShapeMismatch("every value of the column is missing")
        if isinstance(self._held, DetachedArray):
            raise WrongKeys(
                "the column came as bytes, without keys: st.attach_frame(frame, cloud) gives it "
                "the keys of an Evaluator or an Owner"
            )
        return self._held

    # Arrow.

    @classmethod
    def from_arrow(cls, data: Any, party: Any = None) -> EncryptedColumn:
        """Read rows of an encrypted vector: Arrow, polars, pandas, the PyCapsule interface.

        Args:
            data: A column of `sotto.ciphertext`, or of its bytes.
            party: The Owner or Evaluator whose keys the column computes with; later by `attach`.
        """
        from sotto._table.arrow import Cells

        cells = Cells(data)
        array, rows = _cell.read_rows(cells)
        if array is None:
            return cls(None, None, rows)
        cells.expect_key(_cell.label(array).key)
        valid = np.zeros(array.shape[0], dtype=bool)
        valid[rows[rows >= 0]] = True
        column = cls(array, valid, rows)
        return column if party is None else column.attach(party)

    def attach(self, party: Any) -> EncryptedColumn:
        """Give a column that came as bytes the keys of an Owner or an Evaluator."""
        from sotto._table.source import attached

        if not isinstance(self._held, DetachedArray):
            return self
        return EncryptedColumn(attached(self._held, party), self._valid, self._rows)

    def __arrow_array__(self, type: Any = None) -> Any:
        """Return an Arrow array of `sotto.ciphertext`: a reference for each row.

        The first row carries the ciphertexts.
        """
        from sotto._table.arrow import column

        rows = np.where(self.isna(), -1, self._rows)
        return column(_cell.rows(b"" if self._held is None else bytes(self._held), rows))

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        """Export by the Arrow PyCapsule interface."""
        return self.__arrow_array__().__arrow_c_array__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        """Export the type by the Arrow PyCapsule interface."""
        return self.__arrow_array__().type.__arrow_c_schema__()

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
        if isinstance(self._held, EncryptedArray):
            return self._held.nbytes
        return 0 if self._held is None else sum(stop - start for start, stop in self._held._spans)

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
        return EncryptedColumn(self._held, self._valid, self._rows.copy())

    def __getitem__(self, item: Any) -> Any:
        """Return one encrypted value, or a column of some rows."""
        item = pd.api.indexers.check_array_indexer(self, item)
        rows = self._rows[item]
        if isinstance(rows, np.ndarray):
            return EncryptedColumn(self._held, self._valid, rows)
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
            return EncryptedColumn(self._held, self._valid, self._rows[indices])
        if indices.size and indices.max() >= len(self):
            raise IndexError("an index beyond the column")
        padded = np.append(self._rows, -1)
        return EncryptedColumn(self._held, self._valid, padded[indices])

    @classmethod
    def _concat_same_type(cls, to_concat: Sequence[EncryptedColumn]) -> EncryptedColumn:
        first = to_concat[0]
        if any(column._held is not first._held for column in to_concat):
            raise TypeError("encrypted columns are not joined: concatenate before you encrypt")
        rows = np.concatenate([column._rows for column in to_concat])
        return EncryptedColumn(first._held, first._valid, rows)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Return placeholders for printing; raise TypeError for numbers."""
        if dtype is None or np.dtype(dtype) != object:
            raise TypeError(NO_DECRYPTION)
        shown = np.empty(len(self), dtype=object)
        missing = self.isna()
        for row in range(len(self)):
            shown[row] = pd.NA if missing[row] else _Hidden()
        return shown

    def _formatter(self, boxed: bool = False) -> Callable[[Any], str]:
        return str

    # Arithmetic, on all rows of the vector at once.

    def _operand(self, other: Any) -> tuple[Any, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        if isinstance(other, EncryptedColumn):
            if len(self) != len(other):
                raise TypeError(f"columns of {len(self)} and {len(other)} rows")
            both = (self._rows >= 0) & (other._rows >= 0)
            if (self._rows[both] != other._rows[both]).any():
                raise TypeError("the columns have different rows: select them in the same way")
            return other._array, self._valid & other._valid, np.where(both, self._rows, -1)
        if np.ndim(other) == 0:
            return other, self._valid, self._rows
        values, present = np.asarray(other), self._rows >= 0
        rows = self._rows[present]
        if len(np.unique(rows)) != len(rows):
            raise TypeError("a public column meets an encrypted one whose rows occur once")
        # Rows that are not in the column are never read; by ones they can be divided.
        spread = np.ones(len(self._array), dtype=values.dtype)
        spread[rows] = values[present]
        return spread, self._valid, self._rows

    def _combined(self, other: Any, run: Callable[[Any, Any], EncryptedArray]) -> Any:
        if isinstance(other, (pd.Series, pd.Index, pd.DataFrame)):
            return NotImplemented
        operand, valid, rows = self._operand(other)
        return EncryptedColumn(run(self._array, operand), valid, rows)

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

    def _cmp(self, other: Any) -> NoReturn:
        raise TypeError(NO_ORDER)

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
        found = self._grouped(how, ids, ngroups, kwargs.get("ddof", 1), max(min_count, 0))
        if not kwargs.get("skipna", True):
            gaps = ids[self.isna() & (ids >= 0)]
            found._valid = found._valid & ~np.isin(np.arange(ngroups), gaps)
        return found

    def _grouped(
        self, how: str, ids: np.ndarray[Any, Any], groups: int, ddof: int, least: int
    ) -> EncryptedColumn:
        counted = ~self.isna() & (ids >= 0)
        found, valid = _frame_groups.reduced(
            how, self._array, (ids[counted], self._rows[counted]), groups, ddof, least
        )
        return EncryptedColumn(found, valid)
