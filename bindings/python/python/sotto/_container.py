"""Bytes of arrays and of public keys: a JSON header that everybody may read, and frames."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sotto._errors import BadBytes, WrongKeys
from sotto._parts import objects

if TYPE_CHECKING:
    from sotto._array import EncryptedArray
    from sotto._flags import EncryptedFlags

_ARRAY = b"sotto.array\x01"
_KEYS = b"sotto.keys\x01\x00"
_SUMS = b"sotto.sums\x01\x00"
#: Larger headers are refused before they are read.
_LONGEST_HEADER = 1 << 16
_MOST_FRAMES = 1 << 16
_FINISHES = ("division", "root", "flags")


def _written(magic: bytes, header: dict[str, Any], frames: list[bytes]) -> bytes:
    text = json.dumps({**header, "frames": [len(frame) for frame in frames]}).encode()
    return b"".join([magic, struct.pack("<I", len(text)), text, *frames])


#: Places of frames in the bytes around them.
_Spans = list[tuple[int, int]]


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


def _spans(data: bytes, at: int, sizes: Iterable[int], name: str) -> _Spans:
    spans = []
    for size in sizes:
        spans.append((at, at + size))
        at += size
    if at != len(data):
        raise BadBytes(f"{name} has {len(data)} bytes, not as many as its header says")
    return spans


def _read(magic: bytes, data: bytes, name: str) -> tuple[dict[str, Any], _Spans]:
    text, start = _split(magic, data, name)
    header, sizes = _parsed(text, name)
    return header, _spans(data, start, sizes, name)


def sliced(data: bytes, spans: _Spans) -> list[bytes]:
    """Return the frames in these places."""
    return [data[start:stop] for start, stop in spans]


def pack(array: EncryptedArray | EncryptedFlags) -> bytes:
    """Return the bytes of an array, or of flags."""
    header = {
        "shape": list(array._parts.shape),
        "length": array._length,
        "real": array._real,
        "grid": array._grid,
        "finish": list(array._finish) if array._finish else None,
    }
    return _written(_ARRAY, header, [vector.to_bytes() for vector in array._vectors])


class _Facts(NamedTuple):
    """The header of an array."""

    inner: tuple[int, ...]
    length: int | None
    grid: float | None
    finish: tuple[str, float] | None
    real: bool
    sizes: tuple[int, ...]


def _facts(text: bytes) -> _Facts:
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
    return _Facts(inner, length, grid, finish, real, tuple(sizes))


#: Arrays of one form have equal headers, and to read one takes longer than to add two arrays.
_known_facts = lru_cache(maxsize=64)(_facts)
_LONGEST_KNOWN = 512


class DetachedArray:
    """Bytes of an encrypted array, without keys to compute with.

    `evaluator.attach(x)` or `owner.attach(x)` makes an `EncryptedArray` of it. Its facts are the
    sender's claim.
    """

    __slots__ = ("_data", "_spans", "_grid", "_finish", "_inner", "_length", "_real")

    def __init__(self, data: bytes) -> None:
        """Read the header; the ciphertexts are read when keys are attached."""
        self._data = bytes(data)
        text, start = _split(_ARRAY, self._data, "an encrypted array")
        facts = (_known_facts if len(text) <= _LONGEST_KNOWN else _facts)(text)
        self._inner, self._length, self._grid, self._finish, self._real, sizes = facts
        self._spans = _spans(self._data, start, sizes, "an encrypted array")

    @property
    def _frames(self) -> list[bytes]:
        return sliced(self._data, self._spans)

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return self._inner if self._length is None else (self._length, *self._inner)

    def __bytes__(self) -> bytes:
        """Return the bytes."""
        return self._data

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the bytes."""
        return unpack, (bytes(self),)

    def __repr__(self) -> str:
        """Return shape and size."""
        size = sum(stop - start for start, stop in self._spans)
        return f"DetachedArray(shape={self.shape}, {size} bytes)"

    def attach(self, reals: Any, integers: Any) -> EncryptedArray:
        """Read the ciphertexts with the public keys of their scheme."""
        from sotto._array import EncryptedArray

        keys = reals if self._real else integers
        if keys is None:
            raise WrongKeys(
                "these keys are for real numbers alone, the array has whole numbers: take "
                "the owner's public_bundle(integers=True)"
            )
        if self._finish is not None and self._finish[0] == "flags":
            raise TypeError(
                "encrypted flags are a last step: owner.decrypt(flags, plan), with the plan of the "
                "comparison, reads them"
            )
        vectors = [keys.read(self._data, start, stop) for start, stop in self._spans]
        length = self._length or 1
        if any([len(vector) != length for vector in vectors]):
            raise BadBytes("the ciphertexts of the array have another length than its header says")
        parts = vectors[0] if self._inner == () else objects(vectors, self._inner)
        return EncryptedArray._of(parts, self._length, grid=self._grid, finish=self._finish)


def unpack(data: bytes) -> DetachedArray:
    """Read the bytes of an array."""
    return DetachedArray(data)


def pack_keys(reals: bytes, integers: bytes | None) -> bytes:
    """Return the bytes of public keys."""
    return _written(_KEYS, {}, [reals] if integers is None else [reals, integers])


def unpack_keys(data: bytes) -> tuple[bytes, bytes | None]:
    """Read the bytes of public keys."""
    data = bytes(data)
    frames = sliced(data, _read(_KEYS, data, "public keys")[1])
    if len(frames) not in (1, 2):
        raise BadBytes("the public keys are damaged")
    return frames[0], frames[1] if len(frames) == 2 else None


def pack_sums(sums: dict[str, EncryptedArray]) -> bytes:
    """Return the bytes of named arrays."""
    return _written(_SUMS, {"names": list(sums)}, [pack(array) for array in sums.values()])


def unpack_sums(data: bytes) -> dict[str, DetachedArray]:
    """Read the bytes of named arrays."""
    data = bytes(data)
    header, spans = _read(_SUMS, data, "encrypted sums")
    frames = sliced(data, spans)
    names = header.get("names")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BadBytes("the header of encrypted sums is damaged")
    if len(names) != len(frames) or len(set(names)) != len(names):
        raise BadBytes("the encrypted sums have not one name each")
    return dict(zip(names, map(DetachedArray, frames), strict=True))
