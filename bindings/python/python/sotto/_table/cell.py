"""Bytes of the cells of encrypted columns. They describe themselves: engines may drop the type.

A cell is one of three things:

- the bytes of an encrypted vector, as `bytes(array)` gives them;
- an answer: an encrypted array, and digests of the cells that it was computed from;
- a row: the digest of an encrypted vector, and an index. Some row of a column has the vector too.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sotto._array import DetachedArray
from sotto._errors import BadBytes, ShapeMismatch, WrongKeys
from sotto._frames import ARRAY, read, sliced, written

_ANSWER = b"sotto.answer\x01"
_ROW = b"sotto.row\x01"
#: The first bytes of cells.
MAGICS = (ARRAY, _ANSWER, _ROW)
_REFERENCE = struct.Struct("<Q32s")
#: Larger indices are refused: a vector has at most 2^28 values.
_MOST_ROWS = 1 << 28
_DIGEST = 32
#: Of a vector's frame (docs/concepts/wire.md): values, padding, unit, bound, parts; then a length
#: and the frame of a ciphertext, whose payload starts with the ids of parameters and of the key.
_VECTOR = struct.Struct("<4sBB2xQ QBddI Q 16x 32s16s")


@dataclass(frozen=True)
class Label:
    """The public facts of an encrypted array's bytes."""

    shape: tuple[int, ...]
    bound: float
    real: bool
    grid: float | None
    parameters: str
    key: str

    @property
    def scheme(self) -> str:
        """Name of the scheme."""
        return "CKKS" if self.real else "BFV"


def digest(data: bytes) -> bytes:
    """Return the name of a cell: SHA-256."""
    return hashlib.sha256(data).digest()


def kind(cell: bytes) -> str:
    """Return "array", "answer" or "row".

    Raises:
        BadBytes: The bytes are no cell.
    """
    for magic, name in zip(MAGICS, ("array", "answer", "row"), strict=True):
        if cell.startswith(magic):
            return name
    raise BadBytes(
        "these bytes are not a cell of an encrypted column: st.encrypt_frame makes such columns"
    )


def label(array: DetachedArray) -> Label:
    """Return the facts that the bytes of an array claim."""
    found: list[tuple[float, str, str]] = []
    for frame in array._frames:
        if len(frame) < _VECTOR.size:
            raise BadBytes("a ciphertext of the cell is too short")
        magic, version, form, _, _, _, _, bound, _, _, parameters, key = _VECTOR.unpack_from(frame)
        if (magic, version, form) != (b"sott", 1, 30) or not 0 < bound < np.inf:
            raise BadBytes("the cell holds bytes that are not an encrypted vector")
        found.append((bound, parameters.hex(), key.hex()))
    bounds, parameters, keys = zip(*found, strict=True)
    if len(set(keys)) > 1 or len(set(parameters)) > 1:
        raise WrongKeys("the ciphertexts of one cell have different keys")
    return Label(array.shape, max(bounds), array._real, array._grid, parameters[0], keys[0])


def answer(array: bytes, sources: Sequence[bytes]) -> bytes:
    """Return the cell of an array that was computed from cells."""
    return written(_ANSWER, {}, [array, b"".join(sources)])


def read_answer(cell: bytes) -> tuple[DetachedArray, list[bytes]]:
    """Return the array of an answer and the digests of its sources."""
    frames = sliced(cell, read(_ANSWER, cell, "an answer")[1])
    if len(frames) != 2 or not frames[1] or len(frames[1]) % _DIGEST:
        raise BadBytes("the list of cells that an answer was computed from is damaged")
    starts = range(0, len(frames[1]), _DIGEST)
    return DetachedArray(frames[0]), [frames[1][at : at + _DIGEST] for at in starts]


def rows(array: bytes, indices: np.ndarray[Any, Any]) -> list[bytes | None]:
    """Return a cell for each index, None for negative ones. The first carries the array."""
    name, carried = digest(array), False
    cells: list[bytes | None] = []
    for index in indices.tolist():
        if index < 0:
            cells.append(None)
            continue
        reference = _ROW + _REFERENCE.pack(index, name)
        cells.append(reference if carried else reference + array)
        carried = True
    return cells


def read_rows(
    cells: Iterable[bytes | None],
) -> tuple[DetachedArray | None, np.ndarray[Any, Any]]:
    """Return the vector of a column of rows, and the index of each row: -1 for missing ones.

    None stands for the vector of a column whose values are all missing.

    Raises:
        BadBytes: Damaged cells, or rows beyond the vector.
        ShapeMismatch: Rows of several vectors, or no row carries the vector.
    """
    indices: list[int] = []
    names: set[bytes] = set()
    carried: bytes | None = None
    start = len(_ROW) + _REFERENCE.size
    for cell in cells:
        if cell is None:
            indices.append(-1)
            continue
        if not cell.startswith(_ROW) or len(cell) < start:
            raise BadBytes(f"row {len(indices)} of the column is not a row of an encrypted vector")
        index, name = _REFERENCE.unpack_from(cell, len(_ROW))
        if index >= _MOST_ROWS:
            raise BadBytes(f"row {len(indices)} of the column refers to value {index}")
        names.add(name)
        indices.append(index)
        if len(names) > 1:
            raise ShapeMismatch(
                "the column has rows of several encrypted vectors: read the files one by one, or "
                "encrypt all rows at once"
            )
        if len(cell) > start and carried is None:
            carried = cell[start:]
            if digest(carried) != name:
                raise BadBytes(f"row {len(indices) - 1} carries another vector than it refers to")
    found = np.array(indices, dtype=np.intp)
    if not names:
        return None, found
    if carried is None:
        raise ShapeMismatch(
            "no row of the column carries its ciphertexts: a filter dropped that row. Filter after "
            "reading, or encrypt with st.encrypt_frame(…, by=…), where every cell stands alone"
        )
    array = DetachedArray(carried)
    if len(array.shape) != 1 or found.max() >= array.shape[0]:
        raise BadBytes(f"rows refer to values beyond a vector of shape {array.shape}")
    return array, found
