"""Computations on tables of cells, by a party that reads none of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from sotto._errors import ShapeMismatch
from sotto._owner import Evaluator, Owner
from sotto._table import arrow as _arrow
from sotto._table.cells import EncryptedCells
from sotto._table.library import library
from sotto._table.question import Asked, Question, questions
from sotto._table.source import Source


def compute_frame(
    frame: Any,
    party: Owner | Evaluator,
    computed: Mapping[str, Asked],
    by: str | Sequence[str] | None = None,
) -> Any:
    """Compute on the cells of a table. The owner decrypts the answers: `decrypt_frame`.

    Args:
        frame: A table of pandas, polars, Arrow, or of the Arrow PyCapsule interface, whose cells
            `encrypt_frame(…, by=…)` made; an engine may have filtered, joined, and grouped it.
        party: The Evaluator or Owner whose public keys compute.
        computed: What to compute, by result: "sum", "mean", "var" or "std" of all readings of the
            cells, or a function of the column (`EncryptedCells`). For a result of another name, or
            of several columns, a tuple with them: `("mean", "temperature")`.
        by: Clear columns; the result has one row for each group, in the order of the first rows.
            Without them, all cells are one group; for a function that gives a value for each
            cell, the table keeps its rows and clear columns.

    Returns:
        A table of the same kind: clear columns, and a column of answers for each result.
    """
    asked = questions(computed)
    table = _arrow.table(frame)
    sources: dict[str, Source] = {}
    for name in dict.fromkeys(column for question in asked for column in question.columns):
        if name not in table.column_names:
            raise KeyError(f"no column {name!r}; there are {', '.join(table.column_names)}")
        sources[name] = Source(_arrow.Cells(table[name], name), party)
    if by is None:
        results = {q.name: q([sources[name] for name in q.columns]) for q in asked}
        found = _ungrouped(table, results)
    else:
        keys = [by] if isinstance(by, str) else list(by)
        found = _grouped(table, asked, sources, keys)
    return _arrow.exported(found, library(frame))


def _ungrouped(table: pa.Table, results: dict[str, EncryptedCells]) -> pa.Table:
    pooled = {result._pooled for result in results.values()}
    if len(pooled) > 1:
        raise ShapeMismatch(
            "some results have a value for each cell, others one for all: ask for them apart"
        )
    clear = []
    if pooled == {False}:
        kinds = {name: _arrow.kind_of(table, name) for name in table.column_names}
        clear = [n for n, kind in kinds.items() if kind is None and n not in results]
    made = {name: table[name] for name in clear}
    return pa.table({**made, **{name: result.to_arrow() for name, result in results.items()}})


def _grouped(
    table: pa.Table, asked: list[Question], sources: dict[str, Source], by: list[str]
) -> pa.Table:
    for key in by:
        if key not in table.column_names or key in {question.name for question in asked}:
            raise KeyError(f"by={key!r}: it is a clear column of the table, and no result")
    numbered = table.select(by).append_column("_row_", pa.array(range(table.num_rows)))
    groups = numbered.group_by(by, use_threads=False).aggregate([("_row_", "list")])
    found = {key: groups[key] for key in by}
    for question in asked:
        cells: list[bytes | None] = []
        for rows in groups["_row__list"].to_pylist():
            result = question([sources[name].chosen(rows) for name in question.columns])
            if not result._pooled:
                raise ShapeMismatch(
                    f"{question.name!r} has a value for each cell: with by= it needs one for each "
                    "group, as sum, mean, var and std of the column give"
                )
            cells += result.cells()
        found[question.name] = _arrow.column(cells)
    return pa.table(found)
