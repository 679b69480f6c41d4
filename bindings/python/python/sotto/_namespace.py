"""Types of the functions of `sotto.array_api`, for type checkers alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from sotto._array import EncryptedArray, EncryptedFlags

#: A public operand.
Public = NDArray[Any] | float


class Unary(Protocol):
    """A function of one array."""

    @overload
    def __call__(self, x: EncryptedArray, /) -> EncryptedArray: ...
    @overload
    def __call__(self, x: NDArray[Any], /) -> NDArray[Any]: ...


class Binary(Protocol):
    """A function of two arrays, encrypted if one of them is."""

    @overload
    def __call__(self, x1: EncryptedArray, x2: EncryptedArray | Public, /) -> EncryptedArray: ...
    @overload
    def __call__(self, x1: Public, x2: EncryptedArray, /) -> EncryptedArray: ...
    @overload
    def __call__(self, x1: Public, x2: Public, /) -> NDArray[Any]: ...


class Moves(Protocol):
    """A function of one array and further arguments."""

    @overload
    def __call__(self, x: EncryptedArray, /, *args: Any, **options: Any) -> EncryptedArray: ...
    @overload
    def __call__(self, x: NDArray[Any], /, *args: Any, **options: Any) -> NDArray[Any]: ...


class Puts(Protocol):
    """A function of several arrays."""

    @overload
    def __call__(self, arrays: Sequence[EncryptedArray], /, *, axis: int = 0) -> EncryptedArray: ...
    @overload
    def __call__(self, arrays: Sequence[NDArray[Any]], /, *, axis: int = 0) -> NDArray[Any]: ...


class Compares(Protocol):
    """A comparison."""

    @overload
    def __call__(self, x1: EncryptedArray, x2: EncryptedArray | Public, /) -> EncryptedFlags: ...
    @overload
    def __call__(self, x1: Public, x2: EncryptedArray, /) -> EncryptedFlags: ...
    @overload
    def __call__(self, x1: Public, x2: Public, /) -> NDArray[np.bool_]: ...


class Chooses(Protocol):
    """A choice by a public condition."""

    @overload
    def __call__(
        self, condition: NDArray[np.bool_], x1: EncryptedArray, x2: EncryptedArray | Public, /
    ) -> EncryptedArray: ...
    @overload
    def __call__(
        self, condition: NDArray[np.bool_], x1: Public, x2: EncryptedArray, /
    ) -> EncryptedArray: ...
    @overload
    def __call__(self, condition: NDArray[np.bool_], x1: Public, x2: Public, /) -> NDArray[Any]: ...
