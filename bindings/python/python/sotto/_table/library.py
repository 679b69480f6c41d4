"""Which library a table or a column is of. Nothing is imported for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sotto._errors import OutOfRange


def library(frame: Any) -> str:
    """Return "pandas", "polars" or "arrow", for everything else."""
    name = type(frame).__module__.split(".")[0]
    return name if name in ("pandas", "polars") else "arrow"


def need_pyarrow() -> None:
    """Raise ImportError, with the way out, if there is no pyarrow."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "Arrow and polars tables, and cells, need pyarrow: pip install pyarrow"
        ) from error


def named(columns: list[str], ranges: Mapping[str, Any]) -> None:
    """Check that a table has the columns to encrypt.

    Raises:
        KeyError: It has no such column.
        OutOfRange: No column is named.
    """
    if not ranges:
        raise OutOfRange("ranges={column: (lowest, highest)} names the columns to encrypt")
    for name in ranges:
        if name not in columns:
            raise KeyError(f"no column {name!r}; there are {', '.join(map(str, columns))}")
