"""Encrypted arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from sotto import _arithmetic, _container
from sotto._errors import OutOfRange, ShapeMismatch
from sotto._native import Array, Vector
from sotto._parts import Step, computed, computed_alone, joined, objects
from sotto._protocols import Protocols

if TYPE_CHECKING:
    from sotto._flags import EncryptedFlags


class EncryptedArray(Protocols, Array):
    """An array whose values only the owner of the key can read.

    Axis 0 lies in the slots of ciphertexts; every index of the other axes has ciphertexts of its
    own. So operations along axis 0 with few rows cost as much as with thousands, and other axes
    are for few columns. Results of a sum along axis 0 are single values.

    Shape, dtype, bounds on values and the computation itself are public.
    """

    __slots__ = ()

    @classmethod
    def _of(
        cls,
        parts: np.ndarray[Any, Any] | Vector,
        length: int | None,
        *,
        grid: float | None = None,
        finish: tuple[str, float] | None = None,
        trail: tuple[Step, ...] = (),
    ) -> EncryptedArray:
        if isinstance(parts, np.ndarray) and parts.ndim == 0:
            parts = parts.item()
        return cls(parts, length, grid, finish, trail)

    def _with(self, **facts: Any) -> EncryptedArray:
        """Return the same array with other facts."""
        one = self._vector
        kept = {
            "parts": self._parts if one is None else one,
            "length": self._length,
            "grid": self._grid,
            "finish": self._finish,
            "trail": self._trail,
        }
        return EncryptedArray._of(**{**kept, **facts})

    # Public facts.

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        inner = self._parts.shape if self._vector is None else ()
        return inner if self._length is None else (self._length, *inner)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of values."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def dtype(self) -> np.dtype[Any]:
        """float64 or int64."""
        real = self._real or self._finish is not None
        return np.dtype(np.float64 if real else np.int64)

    @property
    def nbytes(self) -> int:
        """Bytes of the ciphertexts in memory."""
        return sum(vector.nbytes for vector in self._parts.flat)

    @property
    def magnitude(self) -> float:
        """A bound on the absolute values, from the declared ranges and the computation."""
        return max(float(vector.magnitude) for vector in self._parts.flat)

    @property
    def levels_left(self) -> int:
        """Levels left: of real numbers every product of two arrays takes one."""
        return min(int(vector.levels_left) for vector in self._parts.flat)

    @property
    def T(self) -> Transposed:  # noqa: N802
        """The transpose of a matrix, for products: `x.T @ y`."""
        return Transposed(self)

    @property
    def _real(self) -> bool:
        one = self._vector
        return (next(iter(self._parts.flat)) if one is None else one).is_real

    @property
    def _vectors(self) -> list[Vector]:
        return list(self._parts.flat)

    def __len__(self) -> int:
        """Return the length of axis 0."""
        if not self.shape:
            raise TypeError("a single value has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[EncryptedArray]:
        """Iterate over single values; refused for rows, which share ciphertexts."""
        if self._length is not None or not self.shape:
            raise TypeError("rows share ciphertexts: x[i] takes one out, or compute on all of x")
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        """Return shape and type; never a value."""
        return f"EncryptedArray(shape={self.shape}, dtype={self.dtype})"

    def __getattr__(self, name: str) -> NoReturn:
        """Say what encrypted arrays have instead of a method of NumPy's."""
        if hasattr(np.ndarray, name) and not name.startswith("__"):
            raise AttributeError(
                f"encrypted arrays have no .{name}: there are sum, mean, var, std, cov, dot, "
                "polynomial, T, indexing and arithmetic"
            )
        raise AttributeError(f"'EncryptedArray' object has no attribute {name!r}")

    # Arithmetic.

    def _computed(
        self, operation: str, run: Callable[[], Any], *others: EncryptedArray
    ) -> EncryptedArray:
        operands = [vector for array in (self, *others) for vector in array._vectors]
        trail = joined(*(array._trail for array in (self, *others)))
        parts, trail = computed(operation, run, operands, trail)
        return EncryptedArray._of(parts, self._length, trail=trail)

    def _open_ended(self) -> None:
        if self._finish is not None:
            raise TypeError(
                f"the owner finishes this value ({self._finish[0]}) when it is decrypted: it is "
                "the last step; compute on the sums or the variance instead"
            )

    def _plain(self, values: Any) -> Any:
        self._open_ended()
        if np.ma.is_masked(values):
            raise OutOfRange("masked values would count as data: fill them first")
        array = np.asarray(values)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"a public operand of dtype {array.dtype} is not a number")
        if self._real:
            return array.astype(np.float64, copy=False)
        if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
            raise OutOfRange("whole numbers beyond int64 are not computed with")
        if array.dtype.kind == "f":
            raise TypeError(
                "encrypted whole numbers take whole numbers: to compute with fractions encrypt "
                "floats, owner.encrypt(np.asarray(values, dtype=float), …)"
            )
        return array.astype(np.int64, copy=False)

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
        return self * (1.0 / divisor)

    def __rtruediv__(self, other: Any) -> NoReturn:
        """Raise TypeError."""
        raise TypeError("no division by encrypted values: decrypt first")

    def __neg__(self) -> EncryptedArray:
        """Negate."""
        self._open_ended()
        return self._each("-", Vector.negate)._with(grid=self._grid)

    def __pos__(self) -> EncryptedArray:
        """Return the array itself."""
        return self

    def __pow__(self, exponent: Any) -> EncryptedArray:
        """Raise to a whole power ≥ 1: ⌈log2 exponent⌉ levels."""
        self._open_ended()
        power = int(exponent)
        if power != exponent or power < 1:
            raise TypeError(f"the exponent {exponent!r} is not a whole number of at least 1")
        if power == 1:
            return self
        if power == 2:
            return self._each("** 2", Vector.square)
        return self._each(f"** {power}", lambda vector: vector.power(power))

    def polynomial(self, coefficients: Any) -> EncryptedArray:
        """Return c0 + c1·x + c2·x² + …, value by value."""
        weights = np.ascontiguousarray(self._plain(coefficients))
        return self._each("polynomial", lambda vector: vector.polynomial(weights))

    def _alone(self, operation: str, run: Callable[..., Vector], *others: Any) -> EncryptedArray:
        """Run an operation on the one vector of this array and of others, or on a public one."""
        arrays = [self, *(other for other in others if isinstance(other, EncryptedArray))]
        operands = [vector for array in arrays if (vector := array._vector) is not None]
        trail = joined(*[array._trail for array in arrays])
        public = others[len(arrays) - 1 :]
        vector, trail = computed_alone(operation, run, operands, trail, *public)
        return EncryptedArray._of(vector, self._length, trail=trail)

    def _each(self, operation: str, run: Callable[[Vector], Vector]) -> EncryptedArray:
        if self._vector is not None:
            return self._alone(operation, run)
        return self._computed(
            operation, lambda: objects((run(v) for v in self._parts.flat), self._parts.shape)
        )

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
        from sotto import _flags

        return _flags.compared(self, sign, other)

    # Products of matrices.

    def __matmul__(self, other: Any) -> EncryptedArray:
        """Multiply matrices or vectors, encrypted or public."""
        from sotto import _matmul

        if isinstance(other, EncryptedArray):
            return _matmul.encrypted(self, other)
        return _matmul.with_plain(self, other)

    def __rmatmul__(self, other: Any) -> EncryptedArray:
        """Multiply a public matrix or vector by this one."""
        from sotto import _matmul

        return _matmul.plain_with(other, self)

    def dot(self, other: Any) -> EncryptedArray:
        """Return `self @ other`."""
        result: EncryptedArray = self @ other
        return result

    # Reductions.

    def sum(self, axis: int | None = None) -> EncryptedArray:
        """Add all values, or those along one axis."""
        from sotto import _reduce

        return _reduce.total(self, axis)

    def mean(self, axis: int | None = None) -> EncryptedArray:
        """Average all values, or those along one axis."""
        from sotto import _reduce

        return _reduce.mean(self, axis)

    def var(self, axis: int | None = None, ddof: int = 0) -> EncryptedArray:
        """Return the variance; two levels."""
        from sotto import _reduce

        return _reduce.variance(self, axis, ddof)

    def std(self, axis: int | None = None, ddof: int = 0) -> EncryptedArray:
        """Return the standard deviation: the variance, of which the owner takes the root."""
        from sotto import _reduce

        return _reduce.deviation(self, axis, ddof)

    def cov(self, other: EncryptedArray | None = None, ddof: int = 1) -> EncryptedArray:
        """Return the covariance with another vector, or the matrix of this one's columns."""
        from sotto import _reduce

        return _reduce.covariance(self, other, ddof)

    # Parts.

    def __getitem__(self, key: Any) -> EncryptedArray:
        """Take values out. Rows cost one level; columns cost nothing."""
        if self._length is None:
            parts = _chosen(self._parts, key)
            return EncryptedArray._of(
                parts, None, grid=self._grid, finish=self._finish, trail=self._trail
            )
        self._open_ended()
        keys = key if isinstance(key, tuple) else (key,)
        first, rest = (keys[0], keys[1:]) if keys else (slice(None), ())
        if first is Ellipsis:
            first, rest = slice(None), (Ellipsis, *rest)
        if first is None:
            raise ShapeMismatch("axis 0 stays axis 0: add axes behind it, x[:, None]")
        _indices(first, rest)
        parts = _chosen(self._parts, rest)
        kept = EncryptedArray._of(parts, self._length, grid=self._grid, trail=self._trail)
        if isinstance(first, slice) and first == slice(None):
            return kept
        rows = np.arange(self._length)[first]
        single = rows.ndim == 0
        rows = rows.reshape(-1)
        if rows.size == 0:
            raise IndexError("an encrypted array has at least one value")
        wanted = [int(row) for row in rows]
        result = kept._each("[…]", lambda vector: vector.select(wanted))
        return result._with(length=None if single else len(wanted), grid=self._grid)

    # Bytes.

    def __bytes__(self) -> bytes:
        """Return the array as bytes, for a file or another computer."""
        return _container.pack(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the ciphertexts; `attach` gives them keys again."""
        return _container.unpack, (bytes(self),)


def _chosen(parts: np.ndarray[Any, Any], key: Any) -> np.ndarray[Any, Any]:
    chosen = parts[key]
    if not isinstance(chosen, np.ndarray):
        return objects([chosen], ())
    if chosen.size == 0:
        raise IndexError("an encrypted array has at least one value")
    return chosen


def _indices(first: Any, rest: tuple[Any, ...]) -> None:
    """Refuse keys that NumPy would pair or move across axis 0."""
    listed = [isinstance(key, (list, np.ndarray)) and np.ndim(key) > 0 for key in (first, *rest)]
    if isinstance(first, (bool, np.bool_)) or (listed[0] and np.ndim(first) > 1):
        raise ShapeMismatch("rows are taken by a number, a slice, or a list of numbers or of bools")
    if not any(listed[1:]):
        return
    advanced = [
        place
        for place, key in enumerate((first, *rest))
        if listed[place] or isinstance(key, (int, np.integer))
    ]
    apart = advanced[-1] - advanced[0] >= len(advanced)
    if listed[0] or apart:
        raise ShapeMismatch(
            "several lists of indices at once: take rows first, x[rows][:, columns]"
        )


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
        from sotto import _matmul

        return _matmul.over_rows(self._array, other)
