"""Exceptions: each says what was refused and what to do instead."""

from __future__ import annotations


class SottoError(Exception):
    """Base class of all errors of this package."""


class OutOfRange(SottoError, ValueError):
    """A value outside its declared range, not a number, or a result beyond its bound."""


class ShapeMismatch(SottoError, ValueError):
    """Arrays whose shapes do not go together."""


class OutOfDepth(SottoError, ArithmeticError):
    """A computation with more products one after another than the keys have room for."""


class WrongKeys(SottoError, ValueError):
    """Arrays of different keys, or an array without keys to compute with."""


class NotTrusted(SottoError, ValueError):
    """An answer from elsewhere that no plan describes, or that differs from its plan."""


class BadBytes(SottoError, ValueError):
    """Bytes that are not what they should be."""


class WrongParameters(SottoError, ValueError):
    """Parameters that are invalid, below the required security, or those of another object."""


class WrongLevel(SottoError, ValueError):
    """Ciphertexts whose levels, scales, factors or components do not go together."""
