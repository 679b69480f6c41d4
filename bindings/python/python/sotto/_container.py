"""Bytes of arrays, of public keys and of named arrays."""

from __future__ import annotations

from sotto._array import DetachedArray, EncryptedArray, unpack
from sotto._errors import BadBytes
from sotto._frames import pack, read, sliced, written

__all__ = ["pack_keys", "pack_sums", "unpack", "unpack_keys", "unpack_sums"]

_KEYS = b"sotto.keys\x01\x00"
_SUMS = b"sotto.sums\x01\x00"


def pack_keys(reals: bytes, integers: bytes | None) -> bytes:
    """Return the bytes of public keys."""
    return written(_KEYS, {}, [reals] if integers is None else [reals, integers])


def unpack_keys(data: bytes) -> tuple[bytes, bytes | None]:
    """Read the bytes of public keys."""
    data = bytes(data)
    frames = sliced(data, read(_KEYS, data, "public keys")[1])
    if len(frames) not in (1, 2):
        raise BadBytes("the public keys are damaged")
    return frames[0], frames[1] if len(frames) == 2 else None


def pack_sums(sums: dict[str, EncryptedArray]) -> bytes:
    """Return the bytes of named arrays."""
    return written(_SUMS, {"names": list(sums)}, [pack(array) for array in sums.values()])


def unpack_sums(data: bytes) -> dict[str, DetachedArray]:
    """Read the bytes of named arrays."""
    data = bytes(data)
    header, spans = read(_SUMS, data, "encrypted sums")
    frames = sliced(data, spans)
    names = header.get("names")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BadBytes("the header of encrypted sums is damaged")
    if len(names) != len(frames) or len(set(names)) != len(names):
        raise BadBytes("the encrypted sums have not one name each")
    return dict(zip(names, map(DetachedArray, frames), strict=True))
