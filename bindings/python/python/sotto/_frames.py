"""The form of bytes: a JSON header that everybody may read, and frames."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from sotto._errors import BadBytes

ARRAY = b"sotto.array\x01"
#: Larger headers are refused before they are read.
_LONGEST_HEADER = 1 << 16
_MOST_FRAMES = 1 << 16
_FINISHES = ("division", "root", "flags")


def written(magic: bytes, header: dict[str, Any], frames: list[bytes]) -> bytes:
    """Return a header and frames as bytes."""
    text = json.dumps({**header, "frames": [len(frame) for frame in frames]}).encode()
    return b"".join([magic, struct.pack("<I", len(text)), text, *frames])


#: Places of frames in the bytes around them.
Spans = list[tuple[int, int]]


def _split(magic: bytes, data: bytes, name: str) -> tuple[bytes, int]:
    """Return the header, and the place of the first frame."""
    start = len(magic) + 4
    if not data.startswith(magic) or len(data) < start:
        raise BadBytes(f"these bytes are not {name}")
    (length,) = struct.unpack_from("<I", data, len(magic))
    if length > _LONGEST_HEADER or start + length > len(data):
        raise BadBytes(f"the header of {name} is damaged")
    return data[start : start + length], start + length


def _parsed(text: bytes, name: str) -> tuple[dict[str, Any], list[int]]:
    """Return the entries of a header, and the sizes of the frames."""
    try:
        header = json.loads(text)
        sizes = header.pop("frames")
        whole = all(type(size) is int and size >= 0 for size in sizes)
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise BadBytes(f"the header of {name} is damaged") from None
    if not whole or len(sizes) > _MOST_FRAMES:
        raise BadBytes(f"the header of {name} is damaged")
    return header, sizes


def _spans(data: bytes, at: int, sizes: Iterable[int], name: str) -> Spans:
    spans = []
    for size in sizes:
        spans.append((at, at + size))
        at += size
    if at != len(data):
        raise BadBytes(f"{name} has {len(data)} bytes, not as many as its header says")
    return spans


def read(magic: bytes, data: bytes, name: str) -> tuple[dict[str, Any], Spans]:
    """Return the entries of the header, and the places of the frames."""
    text, start = _split(magic, data, name)
    header, sizes = _parsed(text, name)
    return header, _spans(data, start, sizes, name)


def sliced(data: bytes, spans: Spans) -> list[bytes]:
    """Return the frames in these places."""
    return [data[start:stop] for start, stop in spans]


class Packed(Protocol):
    """An array, or flags."""

    @property
    def _parts(self) -> np.ndarray[Any, Any]: ...
    @property
    def _length(self) -> int | None: ...
    @property
    def _real(self) -> bool: ...
    @property
    def _grid(self) -> float | None: ...
    @property
    def _finish(self) -> tuple[str, float] | None: ...
    @property
    def _vectors(self) -> list[Any]: ...


def pack(array: Packed) -> bytes:
    """Return the bytes of an array, or of flags."""
    header = {
        "shape": list(array._parts.shape),
        "length": array._length,
        "real": array._real,
        "grid": array._grid,
        "finish": list(array._finish) if array._finish else None,
    }
    return written(ARRAY, header, [vector.to_bytes() for vector in array._vectors])


class Facts(NamedTuple):
    """The header of an array."""

    inner: tuple[int, ...]
    length: int | None
    grid: float | None
    finish: tuple[str, float] | None
    real: bool
    sizes: tuple[int, ...]


def _facts(text: bytes) -> Facts:
    header, sizes = _parsed(text, "an encrypted array")
    try:
        shape, length = header["shape"], header["length"]
        grid, finish, real = header["grid"], header["finish"], header["real"]
        inner: tuple[int, ...] = tuple(shape)
        right = all(type(axis) is int and axis > 0 for axis in inner)
        right &= math.prod(inner) == len(sizes) and len(inner) <= 32
        right &= length is None or (type(length) is int and length > 0)
        right &= grid is None or (type(grid) in (int, float) and 0 < grid < math.inf)
        right &= type(real) is bool
        if finish is not None:
            name, number = finish
            right &= name in _FINISHES and isinstance(number, (int, float)) and number > 0
            finish = (name, number)
    except (KeyError, TypeError, ValueError):
        right = False
    if not right:
        raise BadBytes("the header of an encrypted array is damaged")
    return Facts(inner, length, grid, finish, real, tuple(sizes))


#: Arrays of one form have equal headers, and to read one takes longer than to add two arrays.
_known_facts = lru_cache(maxsize=64)(_facts)
_LONGEST_KNOWN = 512


def facts_of(data: bytes) -> tuple[Facts, Spans]:
    """Read the header of an array, and the places of its ciphertexts."""
    text, start = _split(ARRAY, data, "an encrypted array")
    facts = (_known_facts if len(text) <= _LONGEST_KNOWN else _facts)(text)
    return facts, _spans(data, start, facts.sizes, "an encrypted array")
