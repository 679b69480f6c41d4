"""What an owner knows of its encrypted cells: the facts that plans of answers start from."""

from __future__ import annotations

import datetime
import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sotto._array import DetachedArray
from sotto._errors import BadBytes, NotTrusted
from sotto._program import Like
from sotto._table import cell as _cell
from sotto._table.library import need_pyarrow

_FORMAT = "sotto.catalog"
_LARGEST_FILE = 1 << 30


@dataclass(frozen=True)
class Entry:
    """One encrypted vector: its column, the clear values beside it, its facts.

    `missing` has the places of a vector of rows that hold no reading.
    """

    column: str
    keys: dict[str, str]
    like: Like
    missing: frozenset[int] = frozenset()


class Catalog:
    """The facts of an owner's encrypted cells, by the digests of their bytes. No secret.

    An answer that came from elsewhere is decrypted by a plan, and a plan starts from facts that
    the owner knows: how many readings a cell holds, their range and resolution. Make the catalog
    before the table leaves, and keep it with the key: `st.Catalog.of(hidden)`.
    """

    def __init__(self, entries: Mapping[bytes, Entry] | None = None) -> None:
        """Take entries by digest."""
        self._entries = dict(entries or {})

    @classmethod
    def of(cls, *tables: Any) -> Catalog:
        """List the cells of tables (pandas, polars, Arrow) that you encrypted yourself.

        Of a table that others could have changed, the catalog lists their claims.
        """
        need_pyarrow()
        found = cls()
        for table in tables:
            found |= cls(_entries(table))
        return found

    def __len__(self) -> int:
        """Return the number of encrypted vectors."""
        return len(self._entries)

    def __contains__(self, digest: bytes) -> bool:
        """Return true for the digest of a cell that is listed."""
        return digest in self._entries

    def __iter__(self) -> Iterator[bytes]:
        """Iterate over the digests."""
        return iter(self._entries)

    def __or__(self, other: Catalog) -> Catalog:
        """Join two catalogs. A reading that either one has is not missing."""
        joined = {**self._entries, **other._entries}
        for name in self._entries.keys() & other._entries.keys():
            both = self._entries[name].missing & joined[name].missing
            joined[name] = replace(joined[name], missing=both)
        return Catalog(joined)

    def __repr__(self) -> str:
        """Return the number of vectors by column."""
        counts = Counter(entry.column for entry in self._entries.values())
        return f"Catalog({', '.join(f'{name}: {count}' for name, count in counts.items())})"

    @property
    def columns(self) -> set[str]:
        """Names of the encrypted columns."""
        return {entry.column for entry in self._entries.values()}

    def known(self, digest: bytes) -> Entry:
        """Return the facts of a cell.

        Raises:
            NotTrusted: The cell is not in the catalog.
        """
        try:
            return self._entries[digest]
        except KeyError:
            raise NotTrusted(
                f"the cell {digest.hex()[:12]}… is not in the catalog: it is not one that you "
                "encrypted, or its table was left out of st.Catalog.of(…); do not act on it"
            ) from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the catalog as JSON."""
        cells = {
            name.hex(): {
                "column": entry.column,
                "keys": entry.keys,
                "shape": list(entry.like.shape),
                "bound": entry.like.bound,
                "real": entry.like.real,
                "grid": entry.like.grid,
                "missing": sorted(entry.missing),
            }
            for name, entry in self._entries.items()
        }
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"format": _FORMAT, "version": 1, "cells": cells}, file, allow_nan=False)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Catalog:
        """Read a catalog that you saved."""
        if os.path.getsize(path) > _LARGEST_FILE:
            raise BadBytes(f"{os.fspath(path)} has more than 2^30 bytes: not a catalog")
        try:
            with open(path, encoding="utf-8") as file:
                read = json.load(file)
            if (read["format"], read["version"]) != (_FORMAT, 1):
                raise ValueError
            return cls({bytes.fromhex(name): _entry(c) for name, c in read["cells"].items()})
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise BadBytes(f"{os.fspath(path)} is not a catalog of version 1") from None


def _entry(read: dict[str, Any]) -> Entry:
    shape, bound, real, grid = tuple(read["shape"]), read["bound"], read["real"], read["grid"]
    keys = {str(name): str(value) for name, value in read["keys"].items()}
    right = all(type(axis) is int and axis > 0 for axis in shape) and type(real) is bool
    numbers = (bound,) if grid is None else (bound, grid)
    right &= all(type(number) in (int, float) and 0 < number < math.inf for number in numbers)
    missing = read.get("missing", [])
    right &= all(type(row) is int for row in missing)
    if not right:
        raise ValueError
    like = Like(shape, float(bound), real, grid)
    return Entry(str(read["column"]), keys, like, frozenset(missing))


def _entries(frame: Any) -> dict[bytes, Entry]:
    """List the cells of a table, with the clear values of their rows."""
    from sotto._table import arrow as _arrow

    table = _arrow.table(frame)
    kinds = {name: _arrow.kind_of(table, name) for name in table.column_names}
    keys = clear_keys(table, kinds)
    found: dict[bytes, Entry] = {}
    for name, kind in kinds.items():
        cells = _arrow.Cells(table[name], name) if kind is not None else ()
        if kind == "row":
            array, rows = _cell.read_rows(cells)
            assert array is not None
            missing = frozenset(range(array.shape[0])).difference(rows.tolist())
            known = replace(entry(array, name, {}), missing=missing)
            found[_cell.digest(bytes(array))] = known
        elif kind == "array":
            for row, cell in enumerate(cells):
                if cell is not None:
                    found[_cell.digest(cell)] = entry(DetachedArray(cell), name, keys[row])
    return found


def clear_keys(table: Any, kinds: Mapping[str, str | None]) -> list[dict[str, str]]:
    """Return the clear values of every row, as text; counts of cells are none of them."""
    hidden = [name for name, kind in kinds.items() if kind is not None]
    counts = {f"{name}_count" for name in hidden}
    names = [name for name in table.column_names if name not in (*hidden, *counts)]
    rows = table.select(names).to_pylist()
    if not names:
        rows = [{}] * table.num_rows
    return [{name: text(value) for name, value in row.items()} for row in rows]


def entry(array: DetachedArray, column: str, keys: dict[str, str]) -> Entry:
    """Return the facts of an encrypted vector and of the row that it stands in."""
    label = _cell.label(array)
    return Entry(column, keys, Like(label.shape, label.bound, label.real, label.grid))


def text(value: Any) -> str:
    """Return a clear value as engines agree on it: a midnight is its date, an instant in UTC."""
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            return value.astimezone(datetime.timezone.utc).isoformat()
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
