"""The Python array API standard over encrypted arrays: `x.__array_namespace__()`.

Functions of public arrays alone are NumPy's, and so is each name that this module does not define.
NumPy's functions run on encrypted arrays or raise TypeError with the way out: see `NOT_APPLICABLE`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from sotto import _shapes
from sotto._base import EncryptedBase

if TYPE_CHECKING:
    # Public arrays, and the rest of the names that programs on both kinds of arrays use.
    from numpy import arange as arange
    from numpy import asarray as asarray
    from numpy import bool_ as bool_
    from numpy import e as e
    from numpy import empty as empty
    from numpy import eye as eye
    from numpy import float64 as float64
    from numpy import full as full
    from numpy import inf as inf
    from numpy import int64 as int64
    from numpy import linspace as linspace
    from numpy import nan as nan
    from numpy import newaxis as newaxis
    from numpy import ones as ones
    from numpy import pi as pi
    from numpy import tril as tril
    from numpy import triu as triu
    from numpy import zeros as zeros
    from numpy.typing import DTypeLike, NDArray

    from sotto._array import EncryptedArray
    from sotto._namespace import Binary, Chooses, Compares, Moves, Public, Puts, Unary

    Axis = int | tuple[int, ...] | None

#: The version of the standard.
__array_api_version__ = "2024.12"

_ORDER = "needs a comparison whose result is a public truth value, or a number"
_FLAGS = "gives encrypted flags, of arrays of Owner.new(comparisons=…) alone, and no truth values"
_DIVISION = "needs a division by, or of, encrypted values"
_CURVE = "is no polynomial: fit one on the declared range, x.polynomial(coefficients)"
_BITS = "is for bits and truth values"
_SIZE = "has a result whose shape depends on encrypted values"

#: Names of the standard that do not work on encrypted arrays, with the reason.
NOT_APPLICABLE: dict[str, str] = {
    **dict.fromkeys(
        "abs all any argmax argmin argsort ceil clip copysign count_nonzero equal floor "
        "isfinite isin isinf isnan logical_and logical_not "
        "logical_or logical_xor max maximum min minimum not_equal round searchsorted sign signbit "
        "sort trunc".split(),
        _ORDER,
    ),
    **dict.fromkeys("greater greater_equal less less_equal".split(), _FLAGS),
    **dict.fromkeys("floor_divide reciprocal remainder".split(), _DIVISION),
    **dict.fromkeys(
        "acos acosh asin asinh atan atan2 atanh cos cosh exp expm1 hypot log log10 log1p log2 "
        "logaddexp nextafter sin sinh sqrt tan tanh".split(),
        _CURVE,
    ),
    **dict.fromkeys(
        "bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift "
        "bitwise_xor".split(),
        _BITS,
    ),
    **dict.fromkeys(
        "nonzero unique_all unique_counts unique_inverse unique_values take_along_axis".split(),
        _SIZE,
    ),
    **dict.fromkeys("conj imag real".split(), "is for complex numbers"),
    **dict.fromkeys(
        "astype asarray from_dlpack empty_like full_like ones_like zeros_like".split(),
        "would decrypt, or make an array that is not encrypted",
    ),
    **dict.fromkeys(
        "matrix_transpose repeat tile cumulative_prod meshgrid tril triu broadcast_arrays".split(),
        "would move or repeat rows that share ciphertexts",
    ),
}


def _hidden(*arrays: Any) -> bool:
    return any(isinstance(x, EncryptedBase) for x in arrays)


def _reduction(name: str, x: Any, axis: Any, keepdims: bool, **options: Any) -> Any:
    if not _hidden(x):
        return getattr(np, name)(x, axis=axis, keepdims=keepdims, **options)
    return _shapes.reduced(x, lambda y, one: getattr(y, name)(one, **options), axis, keepdims)


@overload
def sum(
    x: EncryptedArray,
    /,
    *,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
) -> EncryptedArray: ...
@overload
def sum(
    x: NDArray[Any], /, *, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> Any: ...
def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Add values."""
    if dtype is not None and np.dtype(dtype) != x.dtype:
        raise TypeError(f"encrypted {x.dtype} values are added as such, not as {np.dtype(dtype)}")
    return _reduction("sum", x, axis, keepdims)


@overload
def mean(x: EncryptedArray, /, *, axis: Axis = None, keepdims: bool = False) -> EncryptedArray: ...
@overload
def mean(x: NDArray[Any], /, *, axis: Axis = None, keepdims: bool = False) -> Any: ...
def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Average values."""
    return _reduction("mean", x, axis, keepdims)


def _degrees(correction: float) -> int:
    if correction != int(correction):
        raise TypeError(f"correction={correction} is not a whole number")
    return int(correction)


@overload
def var(
    x: EncryptedArray, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> EncryptedArray: ...
@overload
def var(
    x: NDArray[Any], /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Any: ...
def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """Return the variance."""
    return _reduction("var", x, axis, keepdims, ddof=_degrees(correction))


@overload
def std(
    x: EncryptedArray, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> EncryptedArray: ...
@overload
def std(
    x: NDArray[Any], /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Any: ...
def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """Return the standard deviation, of which the owner takes the root."""
    return _reduction("std", x, axis, keepdims, ddof=_degrees(correction))


@overload
def prod(
    x: EncryptedArray,
    /,
    *,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
) -> EncryptedArray: ...
@overload
def prod(
    x: NDArray[Any], /, *, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> Any: ...
def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Multiply values."""
    if not _hidden(x):
        return np.prod(x, axis=axis, dtype=dtype, keepdims=keepdims)
    return _shapes.reduced(x, _shapes.prod, axis, keepdims)


@overload
def divide(x1: EncryptedArray, x2: Public, /) -> EncryptedArray: ...
@overload
def divide(x1: Public, x2: Public, /) -> NDArray[Any]: ...
def divide(x1: Any, x2: Any, /) -> Any:
    """Divide by a public array."""
    return x1 / x2


@overload
def permute_dims(x: EncryptedArray, /, axes: tuple[int, ...]) -> EncryptedArray: ...
@overload
def permute_dims(x: NDArray[Any], /, axes: tuple[int, ...]) -> NDArray[Any]: ...
def permute_dims(x: Any, /, axes: tuple[int, ...]) -> Any:
    """Reorder the axes."""
    return _shapes.permute_dims(x, axes) if _hidden(x) else np.transpose(x, axes)


@overload
def concat(arrays: Sequence[EncryptedArray], /, *, axis: int | None = 0) -> EncryptedArray: ...
@overload
def concat(arrays: Sequence[NDArray[Any]], /, *, axis: int | None = 0) -> NDArray[Any]: ...
def concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
    """Join arrays along an axis."""
    return np.concatenate(arrays, axis)


@overload
def cumulative_sum(
    x: EncryptedArray, /, *, axis: int | None = None, include_initial: bool = False
) -> EncryptedArray: ...
@overload
def cumulative_sum(
    x: NDArray[Any], /, *, axis: int | None = None, include_initial: bool = False
) -> NDArray[Any]: ...
def cumulative_sum(x: Any, /, *, axis: int | None = None, include_initial: bool = False) -> Any:
    """Add up values along an axis."""
    if _hidden(x):
        if include_initial:
            raise TypeError("include_initial would add a public zero to encrypted values")
        return _shapes.cumulative_sum(x, axis)
    return np.cumulative_sum(x, axis=axis, include_initial=include_initial)


@overload
def unstack(x: EncryptedArray, /, *, axis: int = 0) -> tuple[EncryptedArray, ...]: ...
@overload
def unstack(x: NDArray[Any], /, *, axis: int = 0) -> tuple[NDArray[Any], ...]: ...
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """Return the parts of an array along an axis. Rows cost one level."""
    return tuple(np.take(x, index, axis) for index in range(x.shape[axis]))


if TYPE_CHECKING:
    # NumPy's functions that run on encrypted arrays: so a type checker refuses all others.
    negative: Unary
    positive: Unary
    square: Unary
    add: Binary
    subtract: Binary
    multiply: Binary
    pow: Binary
    matmul: Binary
    tensordot: Moves
    vecdot: Moves
    expand_dims: Moves
    squeeze: Moves
    moveaxis: Moves
    reshape: Moves
    broadcast_to: Moves
    take: Moves
    flip: Moves
    roll: Moves
    diff: Moves
    stack: Puts
    greater: Compares
    greater_equal: Compares
    less: Compares
    less_equal: Compares
    where: Chooses
else:

    def __getattr__(name: str) -> Any:
        """Return NumPy's object of this name."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(np, name)
