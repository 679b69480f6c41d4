"""Exceptions: each says what was refused and what to do instead."""

from __future__ import annotations


class SottoError(Exception):
    """Base class of all errors of this package."""


class OutOfRange(SottoError, ValueError):
    """A value outside its declared range, not a number, or a result beyond its bound."""


class PublicZero(SottoError, ValueError):
    """An array that hides nothing, as `x - x`: it does not travel; `x * 0` does."""


class ShapeMismatch(SottoError, ValueError):
    """Arrays whose shapes do not go together."""


class OutOfDepth(SottoError, ArithmeticError):
    """A computation with more products one after another than the keys have room for."""


class ConstantTooLarge(OutOfDepth):
    """A public number too large for a function that needs it in one slot with encrypted ones."""


class WrongKeys(SottoError, ValueError):
    """Arrays of different keys, or an array without keys to compute with."""


class NotTrusted(SottoError, ValueError):
    """An answer from elsewhere that no plan describes, or that differs from its plan."""


class BadBytes(SottoError, ValueError):
    """Bytes that are damaged, or of another object."""


class BadFormula(SottoError, ValueError):
    """A text that is no formula, or a computation that no formula describes."""


class NotFitted(SottoError, ValueError):
    """A model that was not fitted."""


class PlantError(SottoError):
    """A plant's folder, its sotto.toml or a key file that cannot be used."""


class QuestionError(SottoError, ValueError):
    """A question that cannot be read or answered; the text points at the place."""


class CloudError(SottoError):
    """A request that the cloud refuses, or an answer that cannot be read."""


class CloudAway(CloudError, ConnectionError):
    """A cloud that cannot be reached: the same question may be answered later."""


class WrongParameters(SottoError, ValueError):
    """Parameters that are invalid, below the required security, or those of another object."""


class WrongLevel(SottoError, ValueError):
    """Ciphertexts whose levels, scales, factors or components do not go together."""


NO_DECRYPTION = "encrypted values are not numbers until their owner decrypts them: owner.decrypt(x)"
NO_ORDER = (
    "encrypted values are compared by >, >=, < and <= alone, as arrays of "
    "st.Owner.new(comparisons=2**-8): x = owner.encrypt(values, range=…), then x > limit"
)
