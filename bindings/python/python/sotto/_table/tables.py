"""Tables with encrypted columns: pandas, polars, Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat

from sotto._errors import OutOfRange, ShapeMismatch
from sotto._owner import Evaluator, Owner
from sotto._table.library import library, named, need_pyarrow

#: The lowest and highest possible value of each column.
Ranges = Mapping[str, tuple[SupportsFloat, SupportsFloat]]


def encrypt_frame(
    frame: Any,
    owner: Owner | Evaluator,
    ranges: Ranges,
    resolutions: Mapping[str, float] | None = None,
    by: str | Sequence[str] | None = None,
) -> Any:
    """Encrypt the columns that `ranges` names; the others stay as they are, readable by all.

    Missing values stay missing, which everybody sees.

    Args:
        frame: A pandas or polars DataFrame, an Arrow table, or anything of the Arrow PyCapsule
            interface, for which an Arrow table comes back. Otherwise the same kind comes back.
        owner: Who encrypts.
        ranges: The lowest and highest possible value of each column to encrypt.
        resolutions: The steps of the readings, as in `Owner.encrypt`.
        by: Clear columns to group the rows by. The result has one row for each group: these
            columns, and for each encrypted column a cell with all readings of the group in their
            order, missing ones left out, and their number as `<column>_count`. Each cell stands
            alone, so filters, joins and files keep it. Without `by`, rows share ciphertexts.

    Raises:
        OutOfRange: A value outside its range.
        KeyError: A column that the table does not have.
    """
    if by is None and library(frame) == "pandas":
        return _pandas_rows(frame, owner, ranges, resolutions or {})
    need_pyarrow()
    from sotto._table import arrow as _arrow
    from sotto._table import group as _group

    table = _arrow.table(frame)
    named(table.column_names, ranges)
    if by is None:
        hidden = _group.rows(table, owner, ranges, resolutions or {})
    else:
        keys = [by] if isinstance(by, str) else list(by)
        hidden = _group.cells(table, owner, ranges, resolutions or {}, keys)
    return _arrow.exported(hidden, library(frame))


def _pandas_rows(
    frame: Any, owner: Owner | Evaluator, ranges: Ranges, resolutions: Mapping[str, float]
) -> Any:
    from sotto._table.frame import EncryptedColumn

    named(list(frame.columns), ranges)
    hidden = frame.copy()
    for name, limits in ranges.items():
        missing = frame[name].isna().to_numpy()
        if missing.all():
            raise ShapeMismatch(f"column {name!r} has no value")
        filled = frame[name].fillna(frame[name][~missing].iloc[0]).to_numpy()
        try:
            array = owner.encrypt(filled, limits, resolutions.get(name))
        except OutOfRange as error:
            raise OutOfRange(f"column {name!r}: {error}") from None
        hidden[name] = EncryptedColumn(array, ~missing)
    return hidden


def attach_frame(frame: Any, party: Owner | Evaluator) -> Any:
    """Return a pandas frame whose columns of encrypted rows have keys to compute with.

    For a frame that came from a file or another engine. Whole cells, which `by=` makes, stay as
    they are: `compute_frame` and `st.column` read those.

    Args:
        frame: A table of pandas, polars, Arrow, or of the Arrow PyCapsule interface.
        party: The Evaluator or Owner whose keys it gets.
    """
    from sotto._table.frame import EncryptedColumn

    if library(frame) == "pandas":
        found = frame.copy()
        for name in found.columns:
            if isinstance(found[name].array, EncryptedColumn):
                found[name] = found[name].array.attach(party)
        return found
    need_pyarrow()
    from sotto._table import arrow as _arrow

    table = _arrow.table(frame)
    kinds = {name: _arrow.kind_of(table, name) for name in table.column_names}
    clear = [name for name, kind in kinds.items() if kind != "row"]
    found = _arrow.exported(table.select(clear), "pandas")
    for at, (name, kind) in enumerate(kinds.items()):
        if kind == "row":
            found.insert(at, name, EncryptedColumn.from_arrow(table[name], party))
    return found
