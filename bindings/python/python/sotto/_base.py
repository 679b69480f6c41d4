"""The data of encrypted arrays, and operations on each of their vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from sotto._errors import OutOfRange, ShapeMismatch
from sotto._native import Array, Vector
from sotto._parts import Step, computed, computed_alone, joined, objects

#: The class of the arrays that a function takes and returns.
A = TypeVar("A", bound="EncryptedBase")


class EncryptedBase(Array):
    """Ciphertexts, their public facts, and what is computed on each ciphertext alone."""

    __slots__ = ()

    @classmethod
    def _of(
        cls: type[A],
        parts: np.ndarray[Any, Any] | Vector,
        length: int | None,
        *,
        grid: float | None = None,
        finish: tuple[str, float] | None = None,
        trail: tuple[Step, ...] = (),
    ) -> A:
        if isinstance(parts, np.ndarray) and parts.ndim == 0:
            parts = parts.item()
        return cls(parts, length, grid, finish, trail)

    def _with(self: A, **facts: Any) -> A:
        """Return the same array with other facts."""
        one = self._vector
        kept = {
            "parts": self._parts if one is None else one,
            "length": self._length,
            "grid": self._grid,
            "finish": self._finish,
            "trail": self._trail,
        }
        return self._of(**{**kept, **facts})

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

    # Computation, vector by vector.

    def _computed(self: A, operation: str, run: Callable[[], Any], *others: EncryptedBase) -> A:
        arrays: list[EncryptedBase] = [self, *others]
        operands = [vector for array in arrays for vector in array._vectors]
        trail = joined(*(array._trail for array in arrays))
        parts, trail = computed(operation, run, operands, trail)
        return self._of(parts, self._length, trail=trail)

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

    def _alone(self: A, operation: str, run: Callable[..., Vector], *others: Any) -> A:
        """Run an operation on the one vector of this array and of others, or on a public one."""
        arrays: list[EncryptedBase] = [self]
        arrays += (other for other in others if isinstance(other, EncryptedBase))
        operands = [vector for array in arrays if (vector := array._vector) is not None]
        trail = joined(*[array._trail for array in arrays])
        public = others[len(arrays) - 1 :]
        vector, trail = computed_alone(operation, run, operands, trail, *public)
        return self._of(vector, self._length, trail=trail)

    def _each(self: A, operation: str, run: Callable[[Vector], Vector]) -> A:
        if self._vector is not None:
            return self._alone(operation, run)
        return self._computed(
            operation, lambda: objects((run(v) for v in self._parts.flat), self._parts.shape)
        )

    def _over(self: A, divisor: Any) -> A:
        """Return the quotient with public numbers: the product with their reciprocals."""
        quotient: A = self * (1.0 / divisor)
        if np.all(np.abs(np.frexp(divisor)[0]) == 0.5):
            return quotient  # The reciprocals of powers of two are exact.
        return quotient._each("/", Vector.with_rounded_factor)

    def __neg__(self: A) -> A:
        """Negate."""
        self._open_ended()
        return self._each("-", Vector.negate)._with(grid=self._grid)

    def __pow__(self: A, exponent: Any) -> A:
        """Raise to a whole power ≥ 1: ⌈log2 exponent⌉ levels."""
        found = self._raised(exponent)
        if found is not None:
            return found
        self._open_ended()
        power = int(exponent)
        if power != exponent or power < 1:
            raise TypeError(f"the exponent {exponent!r} is not a whole number of at least 1")
        if power == 1:
            return self
        if power == 2:
            return self._each("** 2", Vector.square)
        return self._each(f"** {power}", lambda vector: vector.power(power))

    # Parts.

    def __getitem__(self: A, key: Any) -> A:
        """Take values out. Rows cost one level; columns cost nothing."""
        found = self._selected(key)
        if found is not None:
            return found
        if self._length is None:
            parts = _chosen(self._parts, key)
            return self._of(parts, None, grid=self._grid, finish=self._finish, trail=self._trail)
        self._open_ended()
        keys = key if isinstance(key, tuple) else (key,)
        first, rest = (keys[0], keys[1:]) if keys else (slice(None), ())
        if first is Ellipsis:
            first, rest = slice(None), (Ellipsis, *rest)
        if first is None:
            raise ShapeMismatch("axis 0 stays axis 0: add axes behind it, x[:, None]")
        _indices(first, rest)
        parts = _chosen(self._parts, rest)
        kept = self._of(parts, self._length, grid=self._grid, trail=self._trail)
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
