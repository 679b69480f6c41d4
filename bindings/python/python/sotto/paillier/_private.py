"""The private key."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sotto._errors import WrongKeys, WrongParameters
from sotto._native import paillier as native
from sotto.paillier import _json
from sotto.paillier._encoding import EncodedNumber
from sotto.paillier._number import EncryptedNumber
from sotto.paillier._public import PaillierPublicKey, as_bytes


class PaillierPrivateKey:
    """A key that decrypts. It shows no secret and cannot be pickled.

    Args:
        public_key: the key that encrypts.
        p: a prime factor of its n.
        q: the other one, of the same length.

    Raises:
        WrongKeys: n is not p·q.
        WrongParameters: the primes do not fit the scheme.
    """

    def __init__(self, public_key: PaillierPublicKey, p: int, q: int) -> None:
        """Make the key of two primes."""
        parts = as_bytes(p), as_bytes(q)
        if p * q != public_key.n:
            raise WrongKeys("n is not the product of p and q: give the primes of this public key")
        if p == q:
            raise WrongParameters("p and q are equal: give two different primes")
        if public_key.is_insecure:
            inner = native.PrivateKey.insecure_from_primes(*parts)
        else:
            inner = native.PrivateKey.from_primes(*parts)
        self.public_key = public_key
        self._native = inner

    @classmethod
    def _of(cls, public_key: PaillierPublicKey, inner: native.PrivateKey) -> PaillierPrivateKey:
        key = cls.__new__(cls)
        key.public_key = public_key
        key._native = inner
        return key

    @staticmethod
    def from_totient(public_key: PaillierPublicKey, totient: int) -> PaillierPrivateKey:
        """Make the key of (p - 1)·(q - 1).

        Raises:
            WrongKeys: it is not that of n.
        """
        as_bytes(totient)
        total = public_key.n - totient + 1
        square = total * total - 4 * public_key.n
        root = math.isqrt(square) if square > 0 else 0
        p, q = (total - root) // 2, (total + root) // 2
        if p <= 0 or p * q != public_key.n:
            raise WrongKeys("this is not the totient of the key's n")
        return PaillierPrivateKey(public_key, p, q)

    def decrypt(self, encrypted_number: EncryptedNumber) -> float:
        """Decrypt to an int, or to a float if the exponent is negative.

        Raises:
            WrongKeys: the number is under another key.
            Overflow: the number exceeds a third of n, or the range of floats.
        """
        return self.decrypt_encoded(encrypted_number).decode()

    def decrypt_encoded(
        self, encrypted_number: EncryptedNumber, Encoding: type[EncodedNumber] | None = None
    ) -> EncodedNumber:
        """Decrypt without decoding. `Encoding`: the class of the result."""
        if not isinstance(encrypted_number, EncryptedNumber):
            raise TypeError(
                f"decrypt takes an EncryptedNumber, not a {type(encrypted_number).__name__}"
            )
        if encrypted_number.public_key != self.public_key:
            raise _json.other_key("the number was encrypted")
        number = int.from_bytes(self._native.decrypt(encrypted_number._native), "big")
        return (Encoding or EncodedNumber)(self.public_key, number, encrypted_number.exponent)

    def decrypt_array(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Decrypt an object array of `EncryptedNumber` without holding the interpreter's lock.

        Returns:
            An array of the same shape: int64 if all numbers are integers, or object if one of them
            does not fit; else float64.
        """
        array = np.asarray(numbers, dtype=object)
        for one in array.flat:
            if not isinstance(one, EncryptedNumber):
                raise TypeError(f"decrypt_array takes EncryptedNumbers, not a {type(one).__name__}")
            if one.public_key != self.public_key:
                raise _json.other_key("a number was encrypted")
        opened = self._native.decrypt_many([one._native for one in array.flat])
        pairs = zip(opened, array.flat, strict=True)
        values = [
            EncodedNumber(self.public_key, int.from_bytes(number, "big"), one.exponent).decode()
            for number, one in pairs
        ]
        if all(isinstance(value, int) for value in values):
            fits = all(-(2**63) <= value < 2**63 for value in values)
            return np.array(values, dtype=np.int64 if fits else object).reshape(array.shape)
        return np.array([float(value) for value in values]).reshape(array.shape)

    def raw_decrypt(self, ciphertext: int) -> int:
        """Decrypt a ciphertext as an integer to an integer from 0 to n - 1."""
        return self.decrypt_encoded(EncryptedNumber(self.public_key, ciphertext)).encoding

    @property
    def p(self) -> int:
        """The smaller prime. Its holder reads everything; a Python integer cannot be wiped."""
        return self._primes()[0]

    @property
    def q(self) -> int:
        """The larger prime: see `p`."""
        return self._primes()[1]

    def _primes(self) -> list[int]:
        return sorted(int.from_bytes(prime, "big") for prime in self._native.expose_secret_primes())

    @classmethod
    def from_json(cls, text: str | bytes) -> PaillierPrivateKey:
        """Read a private key that `pheutil genpkey` wrote.

        Older versions wrote `lambda` in place of the primes: these are found from it.

        Raises:
            BadBytes: the text is no such key.
            WrongKeys: the primes are not those of n.
            WrongParameters: n has a length that is not offered.
        """
        fields = _json.parsed(text)
        public = PaillierPublicKey(_json.public_modulus(fields.get("pub")))
        primes, order = _json.private_numbers(fields)
        if primes is not None:
            return cls(public, *primes)
        # lambda is the totient, or the totient over a small common factor of p - 1 and q - 1. n
        # exceeds the totient by less than lambda.
        return cls.from_totient(public, public.n // order * order)

    def unprotected_json(self, comment: str = "Paillier private key") -> str:
        """Write the key as `pheutil genpkey` does. Anybody with the text reads everything."""
        public = _json.public_fields(self.public_key.n, "Paillier public key")
        return json.dumps(_json.private_fields(self.p, self.q, public, comment))

    def __eq__(self, other: object) -> bool:
        """Compare the public keys: n has one pair of primes."""
        return isinstance(other, PaillierPrivateKey) and self.public_key == other.public_key

    def __hash__(self) -> int:
        """Hash the public key."""
        return hash(("private", self.public_key))

    def __repr__(self) -> str:
        """Show the public key."""
        return f"<PaillierPrivateKey for {self.public_key!r}>"

    def __reduce__(self) -> NoReturn:
        """Refuse to pickle."""
        raise TypeError(
            "private keys do not pickle: unprotected_json() writes one, readable by everybody"
        )
