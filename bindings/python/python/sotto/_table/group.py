"""Clear Arrow tables to encrypted ones: rows that share ciphertexts, or a cell for each group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, SupportsFloat

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sotto._errors import OutOfRange, ShapeMismatch
from sotto._owner import Evaluator, Owner
from sotto._table import cell as _cell
from sotto._table.arrow import column

_Ranges = Mapping[str, tuple[SupportsFloat, SupportsFloat]]


def rows(
    table: pa.Table, owner: Owner | Evaluator, ranges: _Ranges, resolutions: Mapping[str, float]
) -> pa.Table:
    """Encrypt columns, each as one vector."""
    for name in ranges:
        values = table[name].combine_chunks()
        missing = values.is_null().to_numpy(zero_copy_only=False)
        if missing.all():
            raise ShapeMismatch(f"column {name!r} has no value")
        filled = pc.fill_null(values, values[int(np.argmin(missing))])
        array = _encrypted(owner, name, filled, ranges, resolutions)
        indices = np.where(missing, -1, np.arange(len(values)))
        at = table.column_names.index(name)
        table = table.set_column(at, name, column(_cell.rows(array, indices)))
    return table


def cells(
    table: pa.Table,
    owner: Owner | Evaluator,
    ranges: _Ranges,
    resolutions: Mapping[str, float],
    by: list[str],
) -> pa.Table:
    """Encrypt columns, each group of rows as a cell."""
    for key in by:
        if key not in table.column_names:
            raise KeyError(f"no column {key!r}; there are {', '.join(table.column_names)}")
        if key in ranges:
            raise ShapeMismatch(f"column {key!r} is encrypted: rows are grouped by clear columns")
    if not by or not table.num_rows:
        raise ShapeMismatch("by=[…] names the columns to group rows by; there is at least one row")
    for name in ranges:
        if f"{name}_count" in by:
            raise ShapeMismatch(f"column {name}_count is made here: rename the one in the table")
    # With one thread, groups and their rows keep their order.
    groups = table.group_by(by, use_threads=False).aggregate([(name, "list") for name in ranges])
    found = {key: groups[key] for key in by}
    for name in ranges:
        made: list[bytes | None] = []
        counts: list[int] = []
        for group in groups[f"{name}_list"]:
            values = group.values.drop_null()
            counts.append(len(values))
            full = len(values) > 0
            made.append(_encrypted(owner, name, values, ranges, resolutions) if full else None)
        found[name] = column(made)
        found[f"{name}_count"] = pa.array(counts, pa.int64())
    return pa.table(found)


def _encrypted(
    owner: Owner | Evaluator,
    name: str,
    values: pa.Array,
    ranges: _Ranges,
    resolutions: Mapping[str, float],
) -> bytes:
    numbers: Any = values.to_numpy(zero_copy_only=False)
    try:
        return bytes(owner.encrypt(numbers, ranges[name], resolutions.get(name)))
    except OutOfRange as error:
        raise OutOfRange(f"column {name!r}: {error}") from None
    except TypeError as error:
        raise TypeError(f"column {name!r}, of type {values.type}: {error}") from None
