"""Decryption of Arrow tables, column by column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from sotto._errors import BadBytes, NotTrusted, ShapeMismatch
from sotto._owner import Owner
from sotto._table import arrow as _arrow
from sotto._table import cell as _cell
from sotto._table.catalog import Catalog, Entry, clear_keys
from sotto._table.question import Question, questions
from sotto._table.source import fresh, naming
from sotto._table.vectors import NO_CATALOG, rows_of, unchanged


class _Opened(NamedTuple):
    """The decrypted values of a column, and what stands beside them."""

    values: list[Any]
    bounds: list[float | None]
    counts: list[int | None] | None


def table(
    hidden: pa.Table, owner: Owner, catalog: Catalog | None, computed: Mapping[str, Any] | None
) -> pa.Table:
    """Decrypt the encrypted columns of an Arrow table."""
    asked = {} if computed is None else {q.name: q for q in questions(computed)}
    kinds = {name: _arrow.kind_of(hidden, name) for name in hidden.column_names}
    keys = clear_keys(hidden, kinds)
    known = Catalog() if catalog is None else catalog
    columns: dict[str, Any] = {}
    # How many readings took part is the catalog's word, not that of a column that came along.
    counted = {f"{name}_count" for name, kind in kinds.items() if kind not in (None, "row")}
    for name, kind in kinds.items():
        if name in counted and kind is None:
            continue
        if kind is None:
            values = hidden[name]
            expected = name in asked or (name in known.columns and _arrow.is_binary(values.type))
            if expected and values.null_count < len(values):
                raise BadBytes(f"column {name!r} has no cells: it is damaged, or not encrypted")
            columns[name] = values
            continue
        if kind != "missing" and catalog is None:
            raise NotTrusted(f"{name}: {NO_CATALOG}")
        cells = _arrow.Cells(hidden[name], name)
        if kind == "row":
            array, rows = _cell.read_rows(cells)
            found = rows_of(array, rows, name, owner, known, None)
            values = [None if row < 0 else found[row].item() for row in rows]
            opened = _Opened(values, [None if row < 0 else found.bound for row in rows], None)
        elif kind == "answer":
            if name not in asked:
                raise NotTrusted(
                    f"{name}: answers are decrypted by the plan of their computation: "
                    'decrypt_frame(…, computed={"' + name + '": …}) says what was computed'
                )
            opened = _answers(cells, keys, asked[name], owner, known)
        else:
            opened = _fresh(cells, keys, owner, known)
        if f"{name}_bound" in hidden.column_names:
            raise ShapeMismatch(f"column {name}_bound is made here: rename the one in the table")
        empty = all(value is None for value in opened.values)
        columns[name] = pa.array(opened.values, pa.float64() if empty else None)
        columns[f"{name}_bound"] = pa.array(opened.bounds, pa.float64())
        if opened.counts is not None:
            columns[f"{name}_count"] = pa.array(opened.counts, pa.int64())
    return pa.table(columns)


def _fresh(
    cells: _arrow.Cells, keys: list[dict[str, str]], owner: Owner, catalog: Catalog
) -> _Opened:
    """Decrypt cells that nobody computed on: the readings of each."""
    values: list[Any] = []
    bounds: list[float | None] = []
    for row, cell in enumerate(cells):
        if cell is None:
            values.append(None)
            bounds.append(None)
            continue
        with naming(cells.name, row):
            array = fresh(cell)
            entry = catalog.known(_cell.digest(cell))
            _beside(entry, keys[row])
            found = unchanged(array, entry, cells.name, owner)
        values.append(found.tolist())
        bounds.append(float(found.bound))
    return _Opened(values, bounds, None)


def _answers(
    cells: _arrow.Cells,
    keys: list[dict[str, str]],
    question: Question,
    owner: Owner,
    catalog: Catalog,
) -> _Opened:
    """Decrypt answers, each by the plan of its computation on the cells that it names."""
    values: list[Any] = []
    bounds: list[float | None] = []
    counts: list[int | None] = []
    for row, cell in enumerate(cells):
        if cell is None:
            values.append(None)
            bounds.append(None)
            counts.append(None)
            continue
        with naming(cells.name, row):
            if _cell.kind(cell) != "answer":
                raise BadBytes("the other cells are answers, this one is not")
            array, sources = _cell.read_answer(cell)
            plan, entries = question.plan(sources, catalog, owner)
            for entry in entries:
                _beside(entry, keys[row])
            found = owner.decrypt(array, plan)
        first = entries[0].column
        values.append(found.tolist())
        bounds.append(float(found.bound))
        counts.append(sum(e.like.shape[0] for e in entries if e.column == first))
    return _Opened(values, bounds, counts)


def _beside(entry: Entry, keys: dict[str, str]) -> None:
    """Compare the clear values of a row with those beside which its cells were encrypted."""
    for name, value in entry.keys.items():
        if keys.get(name, value) != value:
            raise NotTrusted(
                f"it stands beside {name}={keys[name]!r}, and comes from a cell that was encrypted "
                f"beside {name}={value!r}: do not act on it"
            )
