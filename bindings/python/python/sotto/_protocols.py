"""NumPy's protocols: its functions run on ciphertexts, and nothing decrypts by accident."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NoReturn

from sotto import _numpy
from sotto._errors import NO_DECRYPTION, NO_ORDER


class Protocols:
    """The protocols of encrypted arrays that need none of their parts."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    __array_priority__ = 1000

    # Nothing decrypts by accident.

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        """Raise TypeError."""
        raise TypeError(NO_DECRYPTION)

    def __float__(self) -> NoReturn:
        """Raise TypeError."""
        raise TypeError(NO_DECRYPTION)

    __int__ = __index__ = __complex__ = __float__

    def __bool__(self) -> NoReturn:
        """Raise TypeError."""
        raise TypeError(NO_DECRYPTION)

    def _no_order(self, _other: Any) -> Any:
        raise TypeError(NO_ORDER)

    __lt__ = __le__ = __gt__ = __ge__ = _no_order
    __eq__ = __ne__ = _no_order

    # NumPy.

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Run NumPy's own functions on ciphertexts."""
        return _numpy.ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        """Run NumPy's functions over arrays on ciphertexts."""
        return _numpy.function(function, args, options)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return `sotto.array_api`."""
        # Its types name arrays, whose module imports this one.
        array_api = import_module("sotto.array_api")
        if api_version not in (None, array_api.__array_api_version__):
            raise ValueError(f"version {array_api.__array_api_version__}, not {api_version!r}")
        return array_api
