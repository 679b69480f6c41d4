"""Decryption of tables. What came as bytes is decrypted by plans that start from a catalog."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from sotto._errors import ShapeMismatch
from sotto._owner import Owner
from sotto._program import Plan
from sotto._table import cell as _cell
from sotto._table.catalog import Catalog
from sotto._table.library import library, need_pyarrow
from sotto._table.vectors import rows_of


def decrypt_frame(
    hidden: Any,
    owner: Owner,
    catalog: Catalog | None = None,
    computed: Mapping[str, Any] | None = None,
    plans: Mapping[str, Plan] | None = None,
) -> Any:
    """Decrypt the encrypted columns of a table or a pandas series.

    For rows of pandas `attrs["bound"]` of the result has a bound on the errors, by column. All
    others have their bound in a column `<name>_bound`; answers have the number of readings that
    they were computed from, as the catalog knows it, in `<name>_count`.

    Args:
        hidden: A table of pandas, polars, Arrow, or of the Arrow PyCapsule interface.
        owner: The holder of the key.
        catalog: The facts of the cells, `Catalog.of` the table that you encrypted. Columns that
            came as bytes need it.
        computed: For answers of `compute_frame`: its argument, what was computed.
        plans: For rows that others computed on in pandas: `plan_frame` of the computation.

    Raises:
        NotTrusted: A column that the catalog, or the plan, does not describe.
    """
    if library(hidden) == "pandas":
        return _pandas(hidden, owner, catalog, computed, plans)
    need_pyarrow()
    from sotto._table import arrow as _arrow
    from sotto._table import open as _open

    clear = _open.table(_arrow.table(hidden), owner, catalog, computed)
    return _arrow.exported(clear, library(hidden))


def _pandas(
    hidden: Any,
    owner: Owner,
    catalog: Catalog | None,
    computed: Mapping[str, Any] | None,
    plans: Mapping[str, Plan] | None,
) -> Any:
    import pandas as pd

    from sotto._shown_frames import DecryptedFrame, DecryptedSeries
    from sotto._table.frame import EncryptedColumn

    if isinstance(hidden, pd.Series):
        name = "values" if hidden.name is None else hidden.name
        frame = _pandas(hidden.to_frame(name), owner, catalog, computed, plans)
        series = DecryptedSeries(frame[name].rename(hidden.name))
        series.attrs["bound"] = frame.attrs["bound"].get(str(name), 0.0)
        return series
    if not hidden.columns.is_unique:
        raise ShapeMismatch("two columns of one name: rename them")
    clear, bounds = hidden.copy(), {}
    for name in hidden.columns:
        column = hidden[name].array
        if not isinstance(column, EncryptedColumn):
            continue
        plan = (plans or {}).get(str(name))
        rows = np.where(column.isna(), -1, column._rows)
        found = rows_of(column._held, rows, str(name), owner, catalog, plan)
        clear[name] = _values(found, rows)
        bounds[str(name)] = float(found.bound)
        largest = float(np.abs(found).max())
        # Values that are all zero are imprecise only beside the range that they were declared with.
        least = largest / 4 or 1e-6 * float(getattr(column._held, "magnitude", 0.0))
        if found.bound > least:
            warnings.warn(
                f"column {str(name)!r}: the values may be off by {found.bound:.2g}, and none is "
                f"larger than {largest:.2g}; declare a tighter range, or encrypt groups apart, "
                "encrypt_frame(…, by=…)",
                stacklevel=3,
            )
    if any(_has_cells(clear[name], catalog) for name in clear.columns):
        need_pyarrow()
        from sotto._table import arrow as _arrow
        from sotto._table import open as _open

        opened = _open.table(_arrow.table(clear), owner, catalog, computed)
        clear = _arrow.exported(opened, "pandas").set_axis(clear.index)
    if bounds:
        clear = DecryptedFrame(clear)
    clear.attrs["bound"] = bounds
    return clear


def _has_cells(column: Any, catalog: Catalog | None) -> bool:
    """True if the first value is a cell; with a catalog, also if it is other bytes."""
    if column.dtype.kind != "O":
        return False
    present = column.dropna()
    first = present.iloc[0] if len(present) else None
    return isinstance(first, bytes) and (catalog is not None or first.startswith(_cell.MAGICS))


def _values(found: np.ndarray[Any, Any], rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    missing = rows < 0
    values: np.ndarray[Any, Any] = np.asarray(found)[np.where(missing, 0, rows)]
    return np.where(missing, np.nan, values.astype(np.float64)) if missing.any() else values
