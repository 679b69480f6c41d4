"""Numbers as integers modulo n and a power of sixteen."""

from __future__ import annotations

import math
import operator
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sotto._errors import OutOfRange

if TYPE_CHECKING:
    from sotto.paillier._public import PaillierPublicKey

LARGEST_EXPONENT = 1 << 16
"""Exponents beyond it would make integers that fill the memory."""


class Overflow(OutOfRange, OverflowError):
    """A decrypted number in the middle third of the integers modulo n, or too large for a float."""


class EncodedNumber:
    """An integer modulo n and an exponent: the number `encoding * BASE ** exponent`.

    Integers up to `max_int` are positive, those from `n - max_int` negative. The others are an
    overflow. The exponent is public.

    Args:
        public_key: the key whose n counts.
        encoding: from 0 to n - 1.
        exponent: within ±65536.
    """

    # Subclasses may choose another base.
    BASE: ClassVar[int] = 16
    LOG2_BASE: ClassVar[float] = 4.0
    FLOAT_MANTISSA_BITS: ClassVar[int] = sys.float_info.mant_dig

    def __init__(self, public_key: PaillierPublicKey, encoding: int, exponent: int) -> None:
        """Take the parts."""
        self.public_key = public_key
        self.encoding = encoding
        self.exponent = checked(exponent)

    @classmethod
    def encode(
        cls,
        public_key: PaillierPublicKey,
        scalar: float,
        precision: float | None = None,
        max_exponent: int | None = None,
    ) -> EncodedNumber:
        """Encode an int or a float.

        Args:
            public_key: the key whose n counts.
            scalar: an int within ±`max_int`, or a float.
            precision: the step to which the number is rounded, at most; without it ints and floats
                are exact.
            max_exponent: an upper bound on the exponent.

        Raises:
            OutOfRange: the integer exceeds `max_int`, or the scalar is not finite.
            TypeError: the scalar is no number.
        """
        if not isinstance(scalar, (int, float)):
            scalar = whole(scalar)
        if isinstance(scalar, float) and not math.isfinite(scalar):
            raise OutOfRange("NaN and infinities cannot be encrypted: remove or replace them")
        exponent = cls._exponent(scalar, precision)
        if max_exponent is not None:
            exponent = min(max_exponent, exponent)
        # A quotient of integers: a float would overflow.
        encoding = round(Fraction(scalar) * Fraction(cls.BASE) ** -checked(exponent))
        if abs(encoding) > public_key.max_int:
            raise OutOfRange(
                f"the number takes {encoding.bit_length()} bits at exponent {exponent}, and the "
                f"key has room for {public_key.max_int.bit_length()}: give a coarser precision"
            )
        return cls(public_key, encoding % public_key.n, exponent)

    @classmethod
    def _exponent(cls, scalar: float, precision: float | None) -> int:
        if precision is not None:
            if not 0 < precision < math.inf:
                raise OutOfRange("a precision is positive and finite")
            return math.floor(math.log(precision, cls.BASE))
        if isinstance(scalar, int):
            return 0
        # The weight of the last bit of the float.
        last_bit = math.frexp(scalar)[1] - cls.FLOAT_MANTISSA_BITS
        return math.floor(last_bit / cls.LOG2_BASE)

    def decode(self) -> float:
        """Return the number: an int if the exponent is not negative, else a float.

        Raises:
            Overflow: the integer exceeds a third of n, or the number is too large for a float.
        """
        mantissa = self.signed()
        if self.exponent >= 0:
            return mantissa * self._power(self.exponent)
        try:
            return mantissa / self._power(-self.exponent)
        except OverflowError:
            raise Overflow("the decrypted number is too large for a float") from None

    def signed(self) -> int:
        """Return the integer from -max_int to max_int."""
        key = self.public_key
        if not 0 <= self.encoding < key.n:
            raise OutOfRange(
                "the encoded integer is not from 0 to n - 1: it was not made with this key"
            )
        if self.encoding <= key.max_int:
            return self.encoding
        if self.encoding >= key.n - key.max_int:
            return self.encoding - key.n
        raise Overflow("the decrypted number overflowed: it exceeds a third of the key's n")

    def signed_bits(self) -> int:
        """Return the bits of the integer without its sign."""
        return min(self.encoding, self.public_key.n - self.encoding).bit_length()

    def decrease_exponent_to(self, new_exp: int) -> EncodedNumber:
        """Return the same number with a lower exponent. Integers beyond n wrap around.

        Raises:
            OutOfRange: the new exponent is higher, or no integer modulo n has room for it.
        """
        factor = self._shift(self.public_key, self.exponent, new_exp)
        return type(self)(self.public_key, self.encoding * factor % self.public_key.n, new_exp)

    @classmethod
    def _shift(cls, public_key: PaillierPublicKey, old: int, new: int) -> int:
        """Return the factor from one exponent to a lower one."""
        if new > old:
            raise OutOfRange(f"the exponent {old} cannot be raised to {new}: give a lower one")
        # Checked before the power is computed.
        if (old - new) * cls.LOG2_BASE > public_key.n.bit_length():
            raise OutOfRange(f"from exponent {old} to {new} is further than this key has room for")
        return cls._power(old - new)

    @classmethod
    def _power(cls, exponent: int) -> int:
        """Return the base to an exponent that is not negative."""
        result: int = cls.BASE**exponent
        return result


def checked(exponent: int) -> int:
    """Return an exponent that powers can be computed of."""
    exponent = whole(exponent)
    if abs(exponent) > LARGEST_EXPONENT:
        raise OutOfRange(f"exponents are within ±{LARGEST_EXPONENT}")
    return exponent


def whole(value: object) -> int:
    """Return an integer of NumPy or another library as a Python integer."""
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(
            f"a {type(value).__name__} cannot be encoded: give an int or a float"
        ) from None
