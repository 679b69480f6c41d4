"""The Arrow type of encrypted columns, and columns of cells from and to other libraries."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from sotto._array import DetachedArray
from sotto._errors import BadBytes, SottoError, WrongKeys
from sotto._table import cell as _cell
from sotto._table.library import library

NAME = "sotto.ciphertext"
#: Larger metadata are refused.
_LONGEST = 1 << 16


class CiphertextType(pa.ExtensionType):
    """The Arrow extension type `sotto.ciphertext` over large_binary.

    `facts` are public: version, scheme, ids of parameters and key, dtype, bound, resolution. They
    are for people and engines; reading takes the facts from the cells themselves.
    """

    def __init__(self, facts: dict[str, Any] | None = None) -> None:
        """Take the public facts of a column."""
        self.facts = {"version": 1, **(facts or {})}
        super().__init__(pa.large_binary(), NAME)

    def __arrow_ext_serialize__(self) -> bytes:
        """Return the facts as JSON."""
        return json.dumps(self.facts, sort_keys=True, allow_nan=False).encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> CiphertextType:
        """Read the facts."""
        if storage != pa.large_binary():
            raise BadBytes(f"{NAME} over {storage}: it is over large_binary")
        try:
            facts = json.loads(serialized) if len(serialized) <= _LONGEST else None
            right = isinstance(facts, dict) and facts.get("version") == 1
        except (ValueError, RecursionError):
            right = False
        if not right:
            raise BadBytes(f"the metadata of a column of {NAME} are damaged, or of a newer version")
        return cls(facts)

    def to_pandas_dtype(self) -> Any:
        """Return the dtype of rows in pandas."""
        from sotto._table.frame import EncryptedDtype

        return EncryptedDtype() if self.facts.get("cells") == "row" else super().to_pandas_dtype()


try:
    pa.register_extension_type(CiphertextType())
except pa.ArrowKeyError:
    # Registered already, by this package before it was reloaded.
    pass


def column(cells: Sequence[bytes | None]) -> pa.ExtensionArray:
    """Return an Arrow array of cells; the first one has the facts of all."""
    first = next((cell for cell in cells if cell is not None), None)
    facts = {} if first is None else facts_of(first)
    storage = pa.array(cells, pa.large_binary())
    return pa.ExtensionArray.from_storage(CiphertextType(facts), storage)


def facts_of(cell: bytes) -> dict[str, Any]:
    """Return the facts that a cell says of itself."""
    kind = _cell.kind(cell)
    if kind == "row":
        array, _ = _cell.read_rows([cell])
    elif kind == "answer":
        array, _ = _cell.read_answer(cell)
    else:
        array = DetachedArray(cell)
    assert array is not None
    label = _cell.label(array)
    return {
        "cells": kind,
        "scheme": label.scheme,
        "parameters": label.parameters,
        "key": label.key,
        "dtype": "float64" if label.real or array._finish else "int64",
        "bound": label.bound,
        "resolution": label.grid,
    }


class Cells:
    """The cells of a column, copied one by one when they are asked for."""

    def __init__(self, data: Any, name: str = "column") -> None:
        """Take a column of any library: Arrow, polars, pandas, a list of bytes."""
        self.name = name
        self.storage, self.type = _storage(data, name)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.storage)

    def __getitem__(self, row: int) -> bytes | None:
        """Return the bytes of a cell; None for a missing one."""
        value: bytes | None = self.storage[row].as_py()
        return value

    def __iter__(self) -> Iterator[bytes | None]:
        """Iterate over the cells."""
        return (self[row] for row in range(len(self)))

    def expect_key(self, key: str) -> None:
        """Compare the metadata's key with the one of a cell.

        Raises:
            WrongKeys: They differ.
        """
        claimed = None if self.type is None else self.type.facts.get("key")
        if claimed is not None and claimed != key:
            raise WrongKeys(
                f"column {self.name!r} is one of key {str(claimed)[:8]}…, its cells of {key[:8]}…"
            )


def chunked(data: Any) -> pa.ChunkedArray:
    """Import a column: by `to_arrow`, the Arrow PyCapsule interface, or value by value."""
    if isinstance(data, pa.ChunkedArray):
        return data
    if isinstance(data, pa.Array):
        return pa.chunked_array([data])
    # polars' own stream of extension columns cannot be read by pyarrow 26; `to_arrow` can.
    if hasattr(data, "to_arrow"):
        return chunked(data.to_arrow())
    if hasattr(data, "__arrow_c_stream__"):
        return pa.chunked_array(data)
    if hasattr(data, "__arrow_c_array__"):
        return pa.chunked_array([pa.array(data)])
    if hasattr(data, "__arrow_array__"):
        return chunked(data.__arrow_array__())
    if hasattr(data, "array") and hasattr(data.array, "__arrow_array__"):
        return chunked(data.array.__arrow_array__())
    return pa.chunked_array([pa.array(data, from_pandas=True)])


def _storage(data: Any, name: str) -> tuple[pa.ChunkedArray, CiphertextType | None]:
    try:
        found = chunked(data)
    except SottoError:
        raise
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise TypeError(
            f"{name}: {type(data).__name__} is not a column of cells: {error}"
        ) from None
    kind = found.type
    if isinstance(kind, pa.BaseExtensionType):
        if kind.extension_name != NAME:
            raise TypeError(f"{name}: a column of {kind.extension_name}, not of {NAME}")
        found = pa.chunked_array([c.storage for c in found.chunks], kind.storage_type)
    if pa.types.is_null(found.type):
        found = found.cast(pa.large_binary())
    if not is_binary(found.type):
        raise TypeError(f"{name}: a column of {found.type} is not encrypted")
    return found, kind if isinstance(kind, CiphertextType) else None


def kind_of(found: pa.Table, name: str) -> str | None:
    """Return the kind of an encrypted column's cells: "array", "answer" or "row".

    None stands for clear columns, "missing" for columns of the type that have no cell.
    """
    field, values = found.schema.field(name), found[name]
    extension = getattr(field.type, "extension_name", None)
    typed = (field.metadata or {}).get(b"ARROW:extension:name") == NAME.encode()
    typed |= extension == NAME
    if not typed and (extension is not None or not is_binary(field.type)):
        return None
    for chunk in values.chunks:
        for cell in chunk:
            if cell.is_valid:
                try:
                    return _cell.kind(cell.as_py())
                except BadBytes:
                    if typed:
                        raise
                    return None
    return "missing" if typed else None


def is_binary(type: pa.DataType) -> bool:
    """True for the types of bytes."""
    checks = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view)
    return any(check(type) for check in checks)


def table(frame: Any) -> pa.Table:
    """Import a table: Arrow, polars, pandas, or anything of the Arrow PyCapsule interface."""
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if library(frame) == "pandas":
        return pa.Table.from_pandas(frame, preserve_index=False)
    for name in ("to_arrow", "to_arrow_table"):
        if hasattr(frame, name):
            return getattr(frame, name)()
    if hasattr(frame, "__arrow_c_stream__"):
        return pa.table(frame)
    raise TypeError(
        f"{type(frame).__name__} is not a table: pandas and polars DataFrames and Arrow tables are"
        + ("; call .collect() first" if type(frame).__name__ == "LazyFrame" else "")
    )


def exported(found: pa.Table, kind: str) -> Any:
    """Return a table as one of `library`'s kinds."""
    if kind == "polars":
        import polars

        try:
            return polars.from_arrow(found)
        except polars.exceptions.ComputeError:
            # polars before extension types, 1.30 among them.
            return polars.from_arrow(_plain(found, ("array", "answer", "row")))
    if kind != "pandas":
        return found
    import pandas as pd

    # pandas reads large_binary from its files again, but no extension type without a dtype.
    kept = {pa.large_binary(): pd.ArrowDtype(pa.large_binary())}
    return _plain(found, ("array", "answer")).to_pandas(types_mapper=kept.get)


def _plain(found: pa.Table, kinds: tuple[str, ...]) -> pa.Table:
    """Drop the extension type of columns with cells of these kinds."""
    for at, field in enumerate(found.schema):
        if isinstance(field.type, CiphertextType) and field.type.facts.get("cells") in kinds:
            chunks = [chunk.storage for chunk in found[at].chunks]
            found = found.set_column(at, field.name, pa.chunked_array(chunks, pa.large_binary()))
    return found
