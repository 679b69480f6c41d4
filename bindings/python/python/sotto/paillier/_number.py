"""Encrypted numbers."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from sotto._errors import OutOfRange
from sotto._native import paillier as native
from sotto.paillier import _json
from sotto.paillier._encoding import EncodedNumber, checked, whole

if TYPE_CHECKING:
    from sotto.paillier._public import PaillierPublicKey


class EncryptedNumber:
    """An encrypted integer modulo n and its exponent, which is public.

    Takes part in `+` and `-` with encrypted and public numbers, and in `*` and `/` with public
    ones. NumPy's object arrays of such numbers do as well.

    Each product by a float makes the integer some 53 bits longer. How long it may be is followed
    from the exponents, for numbers that were within ±2^64 when they were encrypted; a product by
    a float for which the key has no room is refused.

    Args:
        public_key: the key.
        ciphertext: from 1 to n² - 1, without a factor of n.
        exponent: within ±65536.

    Raises:
        OutOfRange, BadBytes: the ciphertext is no unit modulo n².
    """

    def __init__(self, public_key: PaillierPublicKey, ciphertext: int, exponent: int = 0) -> None:
        """Take a number that somebody encrypted."""
        from sotto.paillier._public import PaillierPublicKey

        if not isinstance(public_key, PaillierPublicKey):
            raise TypeError(f"public_key is a {type(public_key).__name__}, not a PaillierPublicKey")
        if not isinstance(ciphertext, int):
            raise TypeError(f"a ciphertext is an int, not a {type(ciphertext).__name__}")
        if not 0 < ciphertext < public_key.nsquare:
            raise OutOfRange(
                "the ciphertext is not from 1 to n² - 1: it was not made with this key"
            )
        length = public_key._native.ciphertext_bytes
        self.public_key = public_key
        self.exponent = checked(exponent)
        self._native = public_key._native.read(ciphertext.to_bytes(length, "big"))
        self._is_obfuscated = False
        self._bits = usual_bits(self.exponent)

    @classmethod
    def _of(
        cls,
        key: PaillierPublicKey,
        inner: native.Ciphertext,
        exponent: int,
        bits: float,
        *,
        obfuscated: bool = False,
    ) -> EncryptedNumber:
        number = cls.__new__(cls)
        number.public_key = key
        number.exponent = checked(exponent)
        number._native = inner
        number._is_obfuscated = obfuscated
        number._bits = bits
        return number

    def ciphertext(self, be_secure: bool = True) -> int:
        """Return the ciphertext as an integer.

        Args:
            be_secure: put it under a new mask first, unless it has one of its own. Without one,
                a holder of the operands finds the public numbers of a sum or product.
        """
        if be_secure and not self._is_obfuscated:
            self.obfuscate()
        return int.from_bytes(self.public_key._native.write(self._native), "big")

    def obfuscate(self) -> None:
        """Put the ciphertext under a new random mask, in place."""
        self._native = self.public_key._native.rerandomise(self._native)
        self._is_obfuscated = True

    def decrease_exponent_to(self, new_exp: int) -> EncryptedNumber:
        """Return the same number with a lower exponent. Integers beyond n wrap around unnoticed.

        Raises:
            OutOfRange: the new exponent is higher, or no integer modulo n has room for it.
        """
        factor = EncodedNumber._shift(self.public_key, self.exponent, new_exp)
        if factor > self.public_key.max_int:
            raise OutOfRange(f"exponent {new_exp} is further down than this key has room for")
        longer = math.log2(factor)
        return self._of(self.public_key, self._times(factor), new_exp, self._bits + longer)

    def to_json(self, exponent: int | None = -32) -> str:
        """Write ciphertext and exponent as `pheutil` does, under a new mask.

        Args:
            exponent: the exponent to which a higher one is lowered, so that it shows no precision.
        """
        number = self
        if exponent is not None and number.exponent > exponent:
            number = number.decrease_exponent_to(exponent)
        return json.dumps({"v": str(number.ciphertext()), "e": number.exponent})

    @classmethod
    def from_json(cls, public_key: PaillierPublicKey, text: str | bytes) -> EncryptedNumber:
        """Read a number that `pheutil` or `to_json` wrote.

        Raises:
            BadBytes: the text is no such number.
            OutOfRange: the ciphertext is not one of this key.
        """
        return cls(public_key, *_json.encrypted_fields(_json.parsed(text)))

    def __add__(self, other: EncryptedNumber | EncodedNumber | float) -> EncryptedNumber:
        """Add an encrypted, encoded or public number."""
        if not isinstance(other, (EncryptedNumber, EncodedNumber)):
            other = EncodedNumber.encode(self.public_key, other, max_exponent=self.exponent)
        if other.public_key != self.public_key:
            raise _json.other_key("the other number was made")
        lowest = min(self.exponent, other.exponent)
        a = self if self.exponent == lowest else self.decrease_exponent_to(lowest)
        key = self.public_key._native
        if isinstance(other, EncodedNumber):
            b = other if other.exponent == lowest else other.decrease_exponent_to(lowest)
            return self._of(
                self.public_key,
                key.add_plain(a._native, self.public_key._plain(b.encoding)),
                lowest,
                either(a._bits, max(b.signed_bits(), 0)),
            )
        c = other if other.exponent == lowest else other.decrease_exponent_to(lowest)
        bits = either(a._bits, c._bits)
        return self._of(self.public_key, key.add(a._native, c._native), lowest, bits)

    __radd__ = __add__

    def __mul__(self, other: EncodedNumber | float) -> EncryptedNumber:
        """Multiply by a public or encoded number.

        Raises:
            OutOfRange: the key has no room for a product by a float: it could wrap around n.
        """
        if isinstance(other, EncryptedNumber):
            raise TypeError(
                "Paillier's scheme has no product of two encrypted numbers: use st.Owner, "
                "or let one of them be public"
            )
        if not isinstance(other, EncodedNumber):
            other = EncodedNumber.encode(self.public_key, other)
        if other.public_key != self.public_key:
            raise _json.other_key("the other number was encoded")
        factor = other.signed()
        bits = self._bits + math.log2(abs(factor)) if factor else 0.0
        # Less the rounding of the logarithms.
        room = math.log2(self.public_key.max_int) - 1e-6
        if bits > room and other.exponent != 0:
            raise OutOfRange(
                f"the product may take {bits:.0f} bits at exponent "
                f"{self.exponent + other.exponent}, and the key has room for {room:.0f}: multiply "
                "the public numbers first and encode them with a coarser precision, "
                "x * EncodedNumber.encode(key, a * b, precision=1e-6), or decrypt in between"
            )
        return self._of(self.public_key, self._times(factor), self.exponent + other.exponent, bits)

    __rmul__ = __mul__

    def __neg__(self) -> EncryptedNumber:
        """Negate."""
        negative = self.public_key._native.negate(self._native)
        return self._of(self.public_key, negative, self.exponent, self._bits)

    def __sub__(self, other: EncryptedNumber | EncodedNumber | float) -> EncryptedNumber:
        """Subtract an encrypted, encoded or public number."""
        if isinstance(other, EncodedNumber):
            return self + EncodedNumber(
                other.public_key, -other.encoding % other.public_key.n, other.exponent
            )
        if isinstance(other, (float, EncryptedNumber)):
            return self + -other
        # Narrow integers of NumPy would wrap round.
        return self + -whole(other)

    def __rsub__(self, other: EncodedNumber | float) -> EncryptedNumber:
        """Subtract from a public number."""
        return -self + other

    def __truediv__(self, scalar: float) -> EncryptedNumber:
        """Multiply by 1/scalar, which is a float."""
        return self * (1 / scalar)

    def _times(self, factor: int) -> native.Ciphertext:
        """Return the ciphertext times a public integer within ±max_int."""
        key = self.public_key._native
        base = key.negate(self._native) if factor < 0 else self._native
        size = abs(factor)
        return key.multiply(base, self.public_key._plain(size), size.bit_length())

    def __repr__(self) -> str:
        """Show key and exponent."""
        return f"<EncryptedNumber for {self.public_key!r}, exponent {self.exponent}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle key, ciphertext under a new mask, and exponent."""
        return (EncryptedNumber, (self.public_key, self.ciphertext(), self.exponent))


def usual_bits(exponent: int) -> float:
    """Return the bits of the integer of a number within ±2^64 at an exponent."""
    return 64.0 + EncodedNumber.LOG2_BASE * max(-exponent, 0)


def either(a: float, b: float) -> float:
    """Return the bits of a sum of integers of so many bits each."""
    return max(a, b) + math.log2(1.0 + 2.0 ** -abs(a - b))
