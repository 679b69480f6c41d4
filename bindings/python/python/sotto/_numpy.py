"""NumPy's own functions on encrypted arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from sotto import _shapes
from sotto._base import EncryptedBase
from sotto._errors import NO_ORDER

_UFUNCS: dict[Any, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.power: operator.pow,
    np.square: lambda x: x**2,
    np.matmul: operator.matmul,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.less: operator.lt,
    np.less_equal: operator.le,
}
#: The methods of the right operand, where the left one is public.
_REVERSED = {
    operator.add: "__radd__",
    operator.sub: "__rsub__",
    operator.mul: "__rmul__",
    operator.gt: "__lt__",
    operator.ge: "__le__",
    operator.lt: "__gt__",
    operator.le: "__ge__",
}


def ufunc(function: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Answer `__array_ufunc__`."""
    if function in (np.equal, np.not_equal):
        raise TypeError(NO_ORDER)
    if options.pop("out", None) is not None:
        raise TypeError("encrypted arrays do not change: leave out `out=`")
    if method == "reduce" and function is np.add:
        return _reduction("sum")(inputs[0], options.pop("axis", 0), **options)
    run = _UFUNCS.get(function)
    if run is None or method != "__call__" or options:
        raise TypeError(
            f"np.{function.__name__} does not work on encrypted values; sums, products and "
            "x.polynomial(…) do, so fit a polynomial on the declared range"
        )
    if len(inputs) == 2 and not isinstance(inputs[0], EncryptedBase):
        left, right = inputs
        name = _REVERSED.get(run, f"__r{run.__name__}__")
        if not hasattr(right, name):
            raise TypeError(f"np.{function.__name__} of a public and an encrypted array")
        return getattr(right, name)(left)
    return run(*inputs)


if hasattr(np, "vecdot"):  # NumPy 2
    _UFUNCS[np.vecdot] = lambda x, y: (x * y).sum(axis=-1)


def _without(options: dict[str, Any], *allowed: str) -> dict[str, Any]:
    given = {k: v for k, v in options.items() if v is not np._NoValue and v is not None}
    other = sorted(set(given) - set(allowed))
    if other:
        raise TypeError(f"encrypted arrays do not take {', '.join(other)}")
    return given


def _reduction(name: str, *allowed: str) -> Callable[..., Any]:
    def run(x: Any, axis: Any = None, **options: Any) -> Any:
        given = _without(options, "keepdims", *allowed)
        kept = bool(given.pop("keepdims", False))
        if "correction" in given:
            given["ddof"] = given.pop("correction")
        return _shapes.reduced(x, lambda y, one: getattr(y, name)(one, **given), axis, kept)

    return run


def _shaped(name: str) -> Callable[..., Any]:
    """Return a function of `_shapes`, without options that were not given."""

    def run(*args: Any, **options: Any) -> Any:
        given = {key: value for key, value in options.items() if value is not np._NoValue}
        return getattr(_shapes, name)(*args, **given)

    return run


def _reshape(x: Any, shape: Any, order: str = "C", **options: Any) -> Any:
    if order != "C":
        raise TypeError(f"order={order!r}: encrypted arrays are reshaped in C order")
    return _shaped("reshape")(x, shape, **options)


def _dot(left: Any, right: Any, **options: Any) -> Any:
    _without(options)
    return left @ right


def _polyval(coefficients: Any, x: Any) -> Any:
    return x.polynomial(np.asarray(coefficients)[::-1])


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _reduction("sum"),
    np.mean: _reduction("mean"),
    np.var: _reduction("var", "ddof", "correction"),
    np.std: _reduction("std", "ddof", "correction"),
    np.dot: _dot,
    np.polyval: _polyval,
    np.expand_dims: _shaped("expand_dims"),
    np.squeeze: _shaped("squeeze"),
    np.moveaxis: _shaped("moveaxis"),
    np.reshape: _reshape,
    np.broadcast_to: _shaped("broadcast_to"),
    np.stack: _shaped("stack"),
    np.concatenate: _shaped("concat"),
    np.take: _shaped("take"),
    np.flip: _shaped("flip"),
    np.roll: _shaped("roll"),
    np.diff: _shaped("diff"),
    np.cumsum: _shaped("cumulative_sum"),
    np.prod: _shaped("prod"),
    np.tensordot: _shaped("tensordot"),
    np.where: _shaped("where"),
    np.transpose: _shaped("permute_dims"),
    np.shape: lambda x: x.shape,
    np.ndim: lambda x: x.ndim,
    np.size: lambda x: x.size,
}


def function(called: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Answer `__array_function__`."""
    run = _FUNCTIONS.get(called)
    if run is None:
        raise TypeError(
            f"np.{called.__name__} does not work on encrypted arrays; these do: "
            + ", ".join(sorted(name.__name__ for name in _FUNCTIONS))
        )
    return run(*args, **options)
