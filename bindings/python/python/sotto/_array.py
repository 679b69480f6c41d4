"""Encrypted arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from sotto import _arithmetic, _flags, _frames, _matmul, _reduce
from sotto._base import EncryptedBase
from sotto._errors import BadBytes, OutOfRange, ShapeMismatch, WrongKeys
from sotto._native import Secret, Vector
from sotto._parts import objects
from sotto._progress import tracked
from sotto._protocols import Protocols


class EncryptedArray(Protocols, EncryptedBase):
    """An array whose values only the owner of the key can read.

    Axis 0 lies in the slots of ciphertexts; every index of the other axes has ciphertexts of its
    own. So operations along axis 0 with few rows cost as much as with thousands, and other axes
    are for few columns. Results of a sum along axis 0 are single values.

    Shape, dtype, bounds on values and the computation itself are public.
    """

    __slots__ = ()

    @property
    def T(self) -> Transposed:  # noqa: N802
        """The transpose of a matrix, for products: `x.T @ y`."""
        return Transposed(self)

    def __iter__(self) -> Iterator[EncryptedArray]:
        """Iterate over single values; refused for rows, which share ciphertexts."""
        if self._length is not None or not self.shape:
            raise TypeError("rows share ciphertexts: x[i] takes one out, or compute on all of x")
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        """Return shape and type; never a value."""
        return f"EncryptedArray(shape={self.shape}, dtype={self.dtype})"

    if not TYPE_CHECKING:  # A type checker refuses names that are not there.

        def __getattr__(self, name: str) -> NoReturn:
            """Say what encrypted arrays have instead of a method of NumPy's."""
            if hasattr(np.ndarray, name) and not name.startswith("__"):
                raise AttributeError(
                    f"encrypted arrays have no .{name}: there are sum, mean, var, std, cov, dot, "
                    "polynomial, T, indexing and arithmetic"
                )
            raise AttributeError(f"'EncryptedArray' object has no attribute {name!r}")

    # The base class has the operators, and comes here unless both operands are single vectors, or
    # one is and the other is public and needs no broadcasting.

    def _same_grid(self, other: EncryptedArray, result: EncryptedArray) -> EncryptedArray:
        return result._with(grid=self._grid if self._grid == other._grid else None)

    def _add(self, other: Any) -> EncryptedArray:
        if isinstance(other, EncryptedArray):
            return self._same_grid(other, _arithmetic.with_encrypted(self, "+", other, Vector.add))
        return _arithmetic.with_plain(self, "+", other, Vector.add_scalar, Vector.add_plain)

    def _subtract(self, other: Any) -> EncryptedArray:
        if isinstance(other, EncryptedArray):
            return self._same_grid(
                other, _arithmetic.with_encrypted(self, "-", other, Vector.subtract)
            )
        plain = self._plain(other)
        if plain.dtype.kind == "i" and plain.size and plain.min() == np.iinfo(np.int64).min:
            raise OutOfRange("-2^63 is not subtracted: its negative is beyond int64")
        difference: EncryptedArray = self + (-plain)
        return difference

    def _subtract_from(self, other: Any) -> EncryptedArray:
        result: EncryptedArray = -self + other
        return result

    def _multiply(self, other: Any) -> EncryptedArray:
        if isinstance(other, EncryptedArray):
            return _arithmetic.with_encrypted(self, "*", other, Vector.multiply)
        return _arithmetic.with_plain(
            self, "*", other, Vector.multiply_scalar, Vector.multiply_plain
        )

    def __truediv__(self, other: Any) -> EncryptedArray:
        """Divide by a public array."""
        if isinstance(other, EncryptedArray):
            raise TypeError("no division by encrypted values: decrypt both and divide")
        if not self._real:
            raise TypeError(
                "encrypted whole numbers are not divided: encrypt floats, "
                "owner.encrypt(np.asarray(values, dtype=float), …)"
            )
        divisor = np.asarray(other, dtype=np.float64)
        if not np.all(divisor):
            raise ZeroDivisionError("division of an encrypted array by zero")
        return self._over(divisor)

    def __rtruediv__(self, other: Any) -> NoReturn:
        """Raise TypeError."""
        raise TypeError("no division by encrypted values: decrypt first")

    def __pos__(self) -> EncryptedArray:
        """Return the array itself."""
        return self

    def polynomial(self, coefficients: Any) -> EncryptedArray:
        """Return c0 + c1·x + c2·x² + …, value by value."""
        found: EncryptedArray | None = self._polynomial(coefficients)
        if found is not None:
            return found
        weights = np.ascontiguousarray(self._plain(coefficients))
        return self._each("polynomial", lambda vector: vector.polynomial(weights))

    # Comparisons: with a number, or by the sign of a difference.

    def __gt__(self, other: Any) -> EncryptedFlags:
        """Return encrypted flags, by keys of `Owner.new(comparisons=…)` or `integer_range=…`.

        The other side is a number. Of real numbers it may be an array: the difference is compared
        with 0.

        Raises:
            TypeError: for other keys, which have no room to compare.
            OutOfRange: for a limit that no value passes, or all do, by the declared range.
            OutOfDepth: after more products than the keys have room for before a comparison.
        """
        return self._compared(">", other)

    def __ge__(self, other: Any) -> EncryptedFlags:
        """Compare, as `>`."""
        return self._compared(">=", other)

    def __lt__(self, other: Any) -> EncryptedFlags:
        """Compare, as `>`."""
        return self._compared("<", other)

    def __le__(self, other: Any) -> EncryptedFlags:
        """Compare, as `>`."""
        return self._compared("<=", other)

    def _compared(self, sign: str, other: Any) -> EncryptedFlags:
        return EncryptedFlags._of(*_flags.compared(self, sign, other))

    # Products of matrices.

    def __matmul__(self, other: Any) -> EncryptedArray:
        """Multiply matrices or vectors, encrypted or public."""
        found: EncryptedArray | None = self._dotted(other)
        if found is not None:
            return found
        if isinstance(other, EncryptedArray):
            return _matmul.encrypted(self, other)
        return _matmul.with_plain(self, other)

    def __rmatmul__(self, other: Any) -> EncryptedArray:
        """Multiply a public matrix or vector by this one."""
        return _matmul.plain_with(other, self)

    def dot(self, other: Any) -> EncryptedArray:
        """Return `self @ other`."""
        result: EncryptedArray = self @ other
        return result

    # Reductions.

    def sum(self, axis: int | None = None) -> EncryptedArray:
        """Add all values, or those along one axis."""
        found: EncryptedArray | None = self._summed() if axis is None else None
        return _reduce.total(self, axis) if found is None else found

    def mean(self, axis: int | None = None) -> EncryptedArray:
        """Average all values, or those along one axis."""
        return _reduce.mean(self, axis)

    def var(self, axis: int | None = None, ddof: int = 0) -> EncryptedArray:
        """Return the variance; two levels."""
        return _reduce.variance(self, axis, ddof)

    def std(self, axis: int | None = None, ddof: int = 0) -> EncryptedArray:
        """Return the standard deviation: the variance, of which the owner takes the root."""
        return _reduce.deviation(self, axis, ddof)

    def cov(self, other: EncryptedArray | None = None, ddof: int = 1) -> EncryptedArray:
        """Return the covariance with another vector, or the matrix of this one's columns."""
        return _reduce.covariance(self, other, ddof)

    # Bytes.

    def __bytes__(self) -> bytes:
        """Return the array as bytes, for a file or another computer."""
        return _frames.pack(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the ciphertexts; `attach` gives them keys again."""
        return unpack, (bytes(self),)


class Transposed:
    """The transpose of an encrypted matrix, for products alone."""

    def __init__(self, array: EncryptedArray) -> None:
        """Refuse anything but a matrix."""
        if array.ndim != 2:
            raise ShapeMismatch(f"the transpose of a matrix, not of shape {array.shape}")
        self._array = array

    @property
    def shape(self) -> tuple[int, int]:
        """Lengths of the axes."""
        rows, columns = self._array.shape
        return columns, rows

    def __matmul__(self, other: Any) -> EncryptedArray:
        """Return Xᵀ·Y: sums over the rows of both."""
        return _matmul.over_rows(self._array, other)


class EncryptedFlags(Protocols):
    """The answers of a comparison, one for each value, which only the owner of the key can read.

    `owner.decrypt(flags)` gives `DecryptedFlags` for real numbers, and for whole numbers, which
    are compared exactly, `ExactFlags`, an array of bools. Shape, limit and gap are public.
    """

    __slots__ = ("_parts", "_length")

    _parts: np.ndarray[Any, Any]
    _length: int | None
    _grid = None

    def __init__(self) -> None:
        """Raise: `x > limit` makes flags."""
        raise TypeError("x > limit makes encrypted flags of an encrypted array x")

    @classmethod
    def _of(cls, parts: np.ndarray[Any, Any], length: int | None) -> EncryptedFlags:
        flags = object.__new__(cls)
        flags._parts, flags._length = parts, length
        return flags

    @property
    def _real(self) -> bool:
        return not isinstance(next(iter(self._parts.flat)), Vector)

    @property
    def _vectors(self) -> list[Any]:
        return list(self._parts.flat)

    @property
    def _finish(self) -> tuple[str, float]:
        """The entry of the container. Its number is positive."""
        return ("flags", self.gap or 1.0)

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        inner = self._parts.shape
        return inner if self._length is None else (self._length, *inner)

    @property
    def gap(self) -> float:
        """Distance from the limit from which on every flag is decided, in the unit of the values.

        The largest of all columns; 0 for whole numbers.
        """
        return max(flags.gap for flags in self._vectors) if self._real else 0.0

    @property
    def share(self) -> float:
        """The gap as a share of the largest possible distance from the limit."""
        return max(flags.share for flags in self._vectors) if self._real else 0.0

    @property
    def nbytes(self) -> int:
        """Bytes of the ciphertexts in memory."""
        return sum(part.nbytes for part in self._vectors)

    def numbers(self) -> EncryptedArray:
        """Return 1 for yes and 0 for no as an int64 array to compute on: whole numbers alone.

        Raises:
            TypeError: for real numbers, whose undecided flags have no value.
        """
        if self._real:
            raise TypeError(
                "flags of real numbers may be undecided, so no sum or product of them has a sound "
                "bound: decrypt them, found = owner.decrypt(flags), and count found.yes, or "
                "compare whole numbers, which is exact"
            )
        return EncryptedArray._of(self._parts, self._length)

    def sum(self, axis: int | None = None) -> EncryptedArray:
        """Count the flags that are yes, all or along one axis: whole numbers alone, exactly.

        Raises:
            TypeError: for real numbers, as `numbers`.
        """
        return self.numbers().sum(axis)

    def __len__(self) -> int:
        """Return the length of axis 0."""
        if not self.shape:
            raise TypeError("a single flag has no length")
        return self.shape[0]

    def __iter__(self) -> NoReturn:
        """Raise TypeError: flags share ciphertexts."""
        raise TypeError("encrypted flags share ciphertexts: owner.decrypt(flags) reads them")

    def __repr__(self) -> str:
        """Return shape and gap; never a flag."""
        kind = f"gap={self.gap:.3g}" if self._real else "exact"
        return f"EncryptedFlags(shape={self.shape}, {kind})"

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        """Raise TypeError: flags are decrypted, or computed on as numbers."""
        raise TypeError(
            f"np.{function.__name__} does not work on encrypted flags: owner.decrypt(flags), or "
            "flags.numbers() of whole numbers"
        )

    def __bytes__(self) -> bytes:
        """Return the flags as bytes, for a file or another computer."""
        return _frames.pack(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the ciphertexts, which the owner decrypts by the plan of the comparison."""
        return unpack, (bytes(self),)

    def _decrypted(self, secret: Secret) -> _flags.DecryptedFlags | _flags.ExactFlags:
        vectors, real = self._vectors, self._real
        opened = (secret.decrypt_flags(v) if real else secret.decrypt(v)[0] for v in vectors)
        found = list(tracked(opened, len(vectors)))
        return _flags.assembled(found, self.shape, self._length, self.gap if self._real else None)


class DetachedArray:
    """Bytes of an encrypted array, without keys to compute with.

    `evaluator.attach(x)` or `owner.attach(x)` makes an `EncryptedArray` of it. Its facts are the
    sender's claim.
    """

    __slots__ = ("_data", "_spans", "_grid", "_finish", "_inner", "_length", "_real")

    def __init__(self, data: bytes) -> None:
        """Read the header; the ciphertexts are read when keys are attached."""
        self._data = bytes(data)
        facts, self._spans = _frames.facts_of(self._data)
        self._inner, self._length, self._grid, self._finish, self._real, _ = facts

    @property
    def _frames(self) -> list[bytes]:
        return _frames.sliced(self._data, self._spans)

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


# Pickles name the module of the package's bytes.
unpack.__module__ = "sotto._container"
