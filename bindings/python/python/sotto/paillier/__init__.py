"""Paillier's scheme under the names of python-paillier (`phe`), whose keys and numbers it reads.

For programs that add encrypted numbers and multiply them by public ones. A program for `phe` runs
with `from sotto import paillier as phe`: the same classes, encoding in base 16 and exponents.

>>> from sotto import paillier
>>> public, private = paillier.generate_paillier_keypair(n_length=2048)
>>> total = public.encrypt(20.5) + public.encrypt(-3) * 2
>>> private.decrypt(total)
14.5

Arithmetic is that of the crates `sotto-partial`, `sotto-keys` and `sotto-decrypt`. Keys have 2048,
3072 or 4096 bits; shorter ones, for tests, are made by functions whose names begin with `insecure`.

Python integers cannot be wiped: primes that are given as such or read from JSON, and plaintexts,
stay in memory until the interpreter reuses it.

Unaudited: nobody outside the project has reviewed this code.
"""

from sotto.paillier._encoding import EncodedNumber, Overflow
from sotto.paillier._generate import (
    generate_paillier_keypair,
    insecure_generate_paillier_keypair,
)
from sotto.paillier._keyring import PaillierPrivateKeyring
from sotto.paillier._number import EncryptedNumber
from sotto.paillier._private import PaillierPrivateKey
from sotto.paillier._public import DEFAULT_KEYSIZE, PaillierPublicKey

__all__ = [
    "DEFAULT_KEYSIZE",
    "EncodedNumber",
    "EncryptedNumber",
    "Overflow",
    "PaillierPrivateKey",
    "PaillierPrivateKeyring",
    "PaillierPublicKey",
    "generate_paillier_keypair",
    "insecure_generate_paillier_keypair",
]
