"""Columns whose every cell is an encrypted vector: the readings of one device, one day."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np

from sotto._array import EncryptedArray
from sotto._errors import NO_DECRYPTION, NO_ORDER, ShapeMismatch
from sotto._owner import Evaluator, Owner
from sotto._program import trimmed
from sotto._reduce import root
from sotto._table import arrow as _arrow
from sotto._table import cell as _cell
from sotto._table import pool as _pool
from sotto._table.source import Source


class EncryptedCells:
    """A column of encrypted vectors, one for each row; missing cells stay missing.

    Arithmetic is cell by cell. `sum`, `mean`, `var` and `std` pool the readings of all cells; with
    `axis=1` they give one value for each cell. Nothing runs until `to_arrow()`, or until another
    library takes the column. Make it with `st.column(data, party)`.
    """

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None

    def __init__(
        self,
        sources: tuple[Any, ...],
        groups: list[list[int]],
        value: Callable[[list[int]], EncryptedArray],
        pooled: bool = False,
        read: bool = False,
    ) -> None:
        """Take the columns read, the rows behind each value, and the computation of a value."""
        self._sources, self._groups, self._value = sources, groups, value
        self._pooled, self._read = pooled, read
        self._made: Any = None

    @classmethod
    def of(cls, source: Any) -> EncryptedCells:
        """Return the column of a source, not computed on."""
        rows = [[row] if not source.missing[row] else [] for row in range(len(source))]
        return cls((source,), rows, lambda row: source.array(row[0]), read=True)

    @classmethod
    def from_arrow(cls, data: Any, party: Owner | Evaluator) -> EncryptedCells:
        """Read a column: Arrow, polars, pandas, or anything of the Arrow PyCapsule interface."""
        return cls.of(Source(_arrow.Cells(data), party))

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._groups)

    def __repr__(self) -> str:
        """Return the number of rows; never a value."""
        return f"EncryptedCells({len(self)} rows)"

    def __bool__(self) -> NoReturn:
        """Raise TypeError."""
        raise TypeError(NO_DECRYPTION)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        """Raise TypeError."""
        raise TypeError(NO_DECRYPTION)

    def __iter__(self) -> NoReturn:
        """Raise TypeError."""
        raise TypeError("column[i] takes a row out; column.each(function) computes on every one")

    def isna(self) -> np.ndarray[Any, Any]:
        """Return the missing cells, which are public."""
        return np.array([not rows for rows in self._groups], dtype=bool)

    @property
    def counts(self) -> np.ndarray[Any, Any]:
        """Number of readings behind each row, of the first column; as the cells claim."""
        first = self._sources[0]
        sizes = [sum(first.detached(row).shape[0] for row in rows) for rows in self._groups]
        return np.array(sizes, dtype=np.int64)

    def __getitem__(self, rows: Any) -> EncryptedCells:
        """Return the column of some rows: a slice, indices, or a mask."""
        if isinstance(rows, (int, np.integer)):
            rows = [rows]
        chosen = np.arange(len(self))[rows].tolist()
        groups = [self._groups[row] for row in chosen]
        return EncryptedCells(self._sources, groups, self._value, self._pooled, self._read)

    # Cell by cell.

    def each(self, function: Callable[[EncryptedArray], EncryptedArray]) -> EncryptedCells:
        """Compute with every cell on its own, by a function of encrypted arrays."""
        value = self._value
        return EncryptedCells(
            self._sources, self._groups, lambda rows: function(value(rows)), self._pooled
        )

    def _with(self, other: Any, run: Callable[[Any, Any], EncryptedArray]) -> EncryptedCells:
        if not isinstance(other, EncryptedCells):
            if np.ndim(other):
                raise TypeError("a column of cells goes with numbers and with columns of cells")
            return self.each(lambda array: run(array, other))
        if len(other) != len(self) or other._pooled != self._pooled:
            raise ShapeMismatch(f"columns of {len(self)} and {len(other)} rows do not go together")
        both = [a if b else b for a, b in zip(self._groups, other._groups, strict=True)]
        if any(a and b and a != b for a, b in zip(self._groups, other._groups, strict=True)):
            raise ShapeMismatch("the columns have different rows: select them in the same way")
        left, right = self._value, other._value
        return EncryptedCells(
            tuple(dict.fromkeys((*self._sources, *other._sources))),
            both,
            lambda rows: run(left(rows), right(rows)),
            self._pooled,
        )

    def __add__(self, other: Any) -> EncryptedCells:
        """Add a column or a number."""
        return self._with(other, lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other: Any) -> EncryptedCells:
        """Subtract a column or a number."""
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> EncryptedCells:
        """Subtract from a number."""
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> EncryptedCells:
        """Multiply by a column or a number."""
        return self._with(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> EncryptedCells:
        """Divide by a number."""
        return self._with(other, lambda a, b: a / b)

    def __neg__(self) -> EncryptedCells:
        """Negate."""
        return self.each(lambda array: -array)

    def __pow__(self, exponent: int) -> EncryptedCells:
        """Raise to a whole power."""
        return self.each(lambda array: array**exponent)

    def __eq__(self, other: object) -> NoReturn:
        """Raise TypeError, as all comparisons do."""
        raise TypeError(NO_ORDER)

    __lt__ = __le__ = __gt__ = __ge__ = __ne__ = __eq__

    # Over the readings.

    def _reduced(
        self,
        axis: int | None,
        pool: _pool.Pool,
        one: Callable[[EncryptedArray], EncryptedArray],
    ) -> EncryptedCells:
        if axis == 1:
            return self.each(one)
        if axis is not None:
            raise ShapeMismatch(f"axis={axis}: None pools all cells, 1 gives a value for each cell")
        if self._pooled:
            raise ShapeMismatch("the column is pooled already, to one value")
        rows = [row for group in self._groups for row in group]
        if len(set(rows)) < len(rows) or any(_repeats(source, rows) for source in self._sources):
            raise ShapeMismatch("the same cell twice in one sum, as a join makes: drop duplicates")
        value = self._value
        return EncryptedCells(
            self._sources, [rows], lambda rows: pool(value([row]) for row in rows), True
        )

    def sum(self, axis: int | None = None) -> EncryptedCells:
        """Add all readings, or those of each cell (`axis=1`)."""
        return self._reduced(axis, _pool.total, lambda x: x.sum())

    def mean(self, axis: int | None = None) -> EncryptedCells:
        """Average all readings, or those of each cell (`axis=1`)."""
        return self._reduced(axis, _pool.mean, lambda x: x.mean())

    def var(self, axis: int | None = None, ddof: int = 1) -> EncryptedCells:
        """Return the variance; two levels. `ddof` is 1 as in pandas, polars and SQL.

        Of no more than `ddof` readings it is missing.
        """
        return self._reduced(axis, _pool.variance(ddof), lambda x: _pool.of_one(x, ddof))

    def std(self, axis: int | None = None, ddof: int = 1) -> EncryptedCells:
        """Return the standard deviation: the variance, of which the owner takes the root."""
        return self._reduced(axis, _pool.deviation(ddof), lambda x: root(_pool.of_one(x, ddof)))

    # To other libraries.

    def cells(self) -> list[bytes | None]:
        """Compute, and return the bytes of each row: an answer, with the digests of its cells."""
        return [self._made_of(rows) if rows else None for rows in self._groups]

    def _made_of(self, rows: list[int]) -> bytes | None:
        if self._read:
            return bytes(self._sources[0].bytes_of(rows[0]))
        try:
            answer = bytes(trimmed(self._value(rows)))
        except _pool.TooFew:
            return None
        return _cell.answer(answer, [s.digest(row) for row in rows for s in self._sources])

    def to_arrow(self) -> Any:
        """Compute, and return an Arrow array of type `sotto.ciphertext`."""
        if self._made is None:
            self._made = _arrow.column(self.cells())
        return self._made

    def __arrow_array__(self, type: Any = None) -> Any:
        """Return `to_arrow()`, for pyarrow."""
        return self.to_arrow()

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        """Export by the Arrow PyCapsule interface."""
        return self.to_arrow().__arrow_c_array__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        """Export the type by the Arrow PyCapsule interface."""
        return self.to_arrow().type.__arrow_c_schema__()


def column(data: Any, party: Owner | Evaluator) -> EncryptedCells:
    """Read a column of cells to compute with.

    Args:
        data: A column of Arrow, polars, pandas, or of the Arrow PyCapsule interface, whose cells
            `encrypt_frame(…, by=…)` made, or a list of `bytes(array)`.
        party: The Evaluator or Owner whose public keys compute.
    """
    return EncryptedCells.from_arrow(data, party)


def _repeats(source: Any, rows: Iterable[int]) -> bool:
    digests = [source.digest(row) for row in rows]
    return len(set(digests)) < len(digests)
