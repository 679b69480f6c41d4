"""The public key."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sotto._errors import OutOfRange
from sotto._native import paillier as native
from sotto.paillier import _json
from sotto.paillier._encoding import EncodedNumber
from sotto.paillier._number import EncryptedNumber, usual_bits

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Bits of the integer of a float that is encoded exactly.
EXACT_BITS = EncodedNumber.FLOAT_MANTISSA_BITS + EncodedNumber.LOG2_BASE - 1

DEFAULT_KEYSIZE = 3072
"""Bits of n, for 128 bits of security."""


class PaillierPublicKey:
    """A key that encrypts and computes.

    Args:
        n: the modulus, of 2048, 3072 or 4096 bits.

    Raises:
        WrongParameters: n has another length, or is even.
    """

    def __init__(self, n: int) -> None:
        """Make the key of a modulus."""
        self._take(n, native.PublicKey(as_bytes(n)))

    @classmethod
    def insecure_any_length(cls, n: int) -> PaillierPublicKey:
        """Make a key of a modulus of any length, for tests."""
        key = cls.__new__(cls)
        key._take(n, native.PublicKey.insecure_any_length(as_bytes(n)))
        return key

    @classmethod
    def _of_native(cls, inner: native.PublicKey) -> PaillierPublicKey:
        key = cls.__new__(cls)
        key._take(int.from_bytes(inner.n, "big"), inner)
        return key

    def _take(self, n: int, inner: native.PublicKey) -> None:
        self.n = n
        self.g = n + 1
        self.nsquare = n * n
        self.max_int = n // 3 - 1
        self._native = inner

    @property
    def is_insecure(self) -> bool:
        """True if n has a length for tests alone."""
        return self.n.bit_length() not in (2048, 3072, 4096)

    def encrypt(
        self,
        value: float | EncodedNumber,
        precision: float | None = None,
        r_value: int | None = None,
    ) -> EncryptedNumber:
        """Encrypt an int, a float or an encoded number.

        Args:
            value: the number; its exponent is public.
            precision: see `EncodedNumber.encode`.
            r_value: the base of the mask, for known answers. Anybody who knows it reads the number.

        Raises:
            OutOfRange: the number does not fit.
        """
        known = isinstance(value, EncodedNumber)
        encoded = value if known else EncodedNumber.encode(self, value, precision)  # type: ignore[arg-type]
        number = self.encrypt_encoded(encoded, r_value)  # type: ignore[arg-type]
        if isinstance(value, float) and precision is None:
            number._bits = EXACT_BITS
        return number

    def encrypt_encoded(self, encoding: EncodedNumber, r_value: int | None) -> EncryptedNumber:
        """Encrypt an encoded number: see `encrypt`."""
        if encoding.public_key != self:
            raise _json.other_key("the number was encoded")
        number = self._plain(encoding.encoding)
        if r_value is None:
            inner = self._native.encrypt(number)
        else:
            inner = self._native.insecure_encrypt_with(number, self._plain(r_value))
        bits = usual_bits(encoding.exponent)
        return EncryptedNumber._of(self, inner, encoding.exponent, bits, obfuscated=r_value is None)

    def encrypt_array(self, values: ArrayLike, precision: float | None = None) -> NDArray[Any]:
        """Encrypt an array without holding the interpreter's lock.

        Args:
            values: integers or floats of any shape.
            precision: see `EncodedNumber.encode`. Without it, exponents show the sizes of floats.

        Returns:
            An object array of `EncryptedNumber` of the same shape. NumPy adds such arrays,
            multiplies them by public ones, and computes `sum` and `np.dot`.
        """
        array = np.asarray(values)
        if array.dtype.kind not in "iuf":
            raise TypeError(
                f"an array of {array.dtype} cannot be encrypted: take integers or floats"
            )
        encoded = [EncodedNumber.encode(self, value, precision) for value in array.ravel().tolist()]
        inner = self._native.encrypt_many([self._plain(number.encoding) for number in encoded])
        numbers = zip(inner, encoded, strict=True)
        exact = array.dtype.kind == "f" and precision is None

        def number(one: native.Ciphertext, of: EncodedNumber) -> EncryptedNumber:
            bits = EXACT_BITS if exact else usual_bits(of.exponent)
            return EncryptedNumber._of(self, one, of.exponent, bits, obfuscated=True)

        return objects((number(one, of) for one, of in numbers), array.shape)

    def raw_encrypt(self, plaintext: int, r_value: int | None = None) -> int:
        """Encrypt an integer from 0 to n - 1, and return the ciphertext as an integer below n²."""
        if not isinstance(plaintext, int):
            raise TypeError(f"a plaintext is an int, not a {type(plaintext).__name__}")
        number = EncodedNumber(self, plaintext, 0)
        return self.encrypt_encoded(number, r_value).ciphertext(be_secure=False)

    def random_below_n(self) -> int:
        """Return a secret random integer from 1 to n - 1."""
        return 1 + secrets.randbelow(self.n - 1)

    #: python-paillier's name.
    get_random_lt_n = random_below_n

    @classmethod
    def from_json(cls, text: str | bytes) -> PaillierPublicKey:
        """Read a public key that `pheutil extract` or `to_json` wrote.

        Raises:
            BadBytes: the text is no such key.
            WrongParameters: n has a length that is not offered.
        """
        return cls(_json.public_modulus(_json.parsed(text)))

    def to_json(self, comment: str = "Paillier public key") -> str:
        """Write the key as `pheutil` does: a JWK of the type DAJ. `comment` is its `kid`."""
        return json.dumps(_json.public_fields(self.n, comment))

    def _plain(self, number: int) -> bytes:
        """Return a number below n as bytes."""
        if not 0 <= number < self.n:
            raise OutOfRange("the integer is not from 0 to n - 1")
        return number.to_bytes((self.n.bit_length() + 7) // 8, "big")

    def __eq__(self, other: object) -> bool:
        """Compare n."""
        return isinstance(other, PaillierPublicKey) and self.n == other.n

    def __hash__(self) -> int:
        """Hash n."""
        return hash(self.n)

    def __repr__(self) -> str:
        """Show bits and a part of the hash of n."""
        return f"<PaillierPublicKey of {self.n.bit_length()} bits, {hash(self.n) & 0xFFFFFFFF:08x}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle n."""
        return (PaillierPublicKey, (self.n,))


def as_bytes(number: int) -> bytes:
    """Return a positive integer as bytes."""
    if not isinstance(number, int):
        raise TypeError(f"a part of a key is an int, not a {type(number).__name__}")
    if number <= 0 or number.bit_length() > 1 << 16:
        raise OutOfRange("a part of a key is a positive integer of at most 65536 bits")
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def objects(numbers: Iterable[object], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an object array of this shape."""
    array = np.empty(shape, dtype=object)
    flat = array.reshape(-1)
    for index, number in enumerate(numbers):
        flat[index] = number
    return array
