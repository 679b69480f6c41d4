"""Cells as they arrive: read, and given keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sotto._array import DetachedArray, EncryptedArray
from sotto._errors import BadBytes, SottoError, WrongKeys
from sotto._owner import Evaluator, Owner
from sotto._table import cell as _cell
from sotto._table.arrow import Cells


class Source:
    """A column of cells as it was read: opened one by one, with somebody's public keys."""

    def __init__(
        self, cells: Cells, party: Owner | Evaluator, rows: Sequence[int] | None = None
    ) -> None:
        """Take cells, who computes, and the rows to read; by default all."""
        if not isinstance(party, (Owner, Evaluator)):
            raise TypeError(f"{type(party).__name__} is not an Owner or an Evaluator")
        self._cells, self._party = cells, party
        self._rows = range(len(cells)) if rows is None else rows
        self.missing = cells.storage.is_null().to_numpy()[self._rows]
        self._digests: dict[int, bytes] = {}

    def chosen(self, rows: Sequence[int]) -> Source:
        """Return some rows of the column."""
        part = Source(self._cells, self._party, [self._rows[row] for row in rows])
        part._digests = self._digests
        return part

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def bytes_of(self, row: int) -> bytes:
        """Return a cell that is not missing."""
        found = self._cells[self._rows[row]]
        assert found is not None
        return found

    def detached(self, row: int) -> DetachedArray:
        """Read a cell, without keys."""
        with naming(self._cells.name, self._rows[row]):
            return fresh(self.bytes_of(row))

    def digest(self, row: int) -> bytes:
        """Return the name of a cell."""
        at = self._rows[row]
        if at not in self._digests:
            self._digests[at] = _cell.digest(self.bytes_of(row))
        return self._digests[at]

    def array(self, row: int) -> EncryptedArray:
        """Read a cell, to compute with."""
        with naming(self._cells.name, self._rows[row]):
            found = fresh(self.bytes_of(row))
            self._cells.expect_key(_cell.label(found).key)
            return attached(found, self._party)


def fresh(cell: bytes) -> DetachedArray:
    """Read a cell to compute with."""
    kind = _cell.kind(cell)
    if kind == "row":
        raise BadBytes(
            "the column has rows of one vector, not whole cells: st.EncryptedColumn.from_arrow "
            "reads it, and st.encrypt_frame(…, by=…) makes whole cells"
        )
    if kind == "answer":
        raise BadBytes("the cell is an answer already: only its owner reads it")
    array = DetachedArray(cell)
    if len(array.shape) != 1 or array._finish is not None:
        raise BadBytes(f"a cell holds an array of shape {array.shape}, not a vector of readings")
    return array


def attached(array: DetachedArray, party: Owner | Evaluator) -> EncryptedArray:
    """Give an array keys to compute with.

    Raises:
        WrongKeys: The array is of another key.
    """
    theirs = _cell.label(array).key
    if isinstance(party, Owner):
        mine = party.key_id if array._real else str(party._integers(1.0)[0].id)
    else:
        keys = party._reals if array._real else party._integers
        mine = theirs if keys is None else str(keys.id)
    if mine != theirs:
        raise WrongKeys(f"encrypted with the key {theirs[:8]}…, these keys are of {mine[:8]}…")
    return party.attach(array)


@contextmanager
def naming(name: str, row: int) -> Iterator[None]:
    """Name column and row in refusals of a cell."""
    try:
        yield
    except SottoError as error:
        raise type(error)(f"{name}, row {row}: {error}") from None
