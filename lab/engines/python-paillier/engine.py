"""python-paillier as an engine, with gmpy2. PROTOCOL.md describes the protocol.

To install it by hand: python3 -m venv venv && venv/bin/pip install -r requirements.txt, with ../python beside it
To try it: echo '{"do":"version"}' | venv/bin/python engine.py
"""

import secrets
from importlib.metadata import version
from math import log2

from phe import paillier
from phe.util import HAVE_GMP

from clock import Operation
from conversation import Engine
from windows import LARGEST_TOTAL, READINGS, Windows

# Bits of plain values; products of them fit any key.
VALUE_BITS = 60
# Bits of a field that holds a reading's total, where one plaintext has the readings of a window.
FIELD_BITS = LARGEST_TOTAL.bit_length()


class Paillier:
    """A pair of keys and two values. Integers are passed without an encoding, which would not change them."""

    def __init__(self, request):
        self.bits = request["key_bits"]
        self.public, self.secret = paillier.generate_paillier_keypair(n_length=self.bits)
        self.values = [secrets.randbits(VALUE_BITS) | 1 << (VALUE_BITS - 1) for _ in range(2)]
        self.ciphertexts = [self.public.encrypt(value) for value in self.values]
        self.windows = self.made_windows()

    def made_windows(self):
        """Returns windows with a ciphertext for each reading."""
        return Windows(
            lambda readings: [self.public.encrypt(reading) for reading in readings],
            lambda total, window: [a + b for a, b in zip(total, window)],
            lambda total: [self.secret.decrypt(one) for one in total],
            lambda total: sum(self.bytes_of(one) for one in total),
        )

    def bytes_of(self, ciphertext):
        """Returns the bytes of a ciphertext as a number; the library's users mostly write its digits, 2.4 times as many."""
        return (ciphertext.ciphertext().bit_length() + 7) // 8

    def prepared(self):
        bits = log2(self.public.n)
        return {"data": [], "special": [], "log2_q": bits, "limbs": 0, "special_limbs": 0, "security": None}

    def gives(self, expected, run):
        return lambda _: Operation(lambda _: run(), lambda result: self.secret.decrypt(result) == expected)

    def operations(self):
        (a, b), (x, y) = self.ciphertexts, self.values
        return {
            "keygen": lambda _: Operation(
                lambda _: paillier.generate_paillier_keypair(n_length=self.bits),
                lambda pair: pair[1].decrypt(pair[0].encrypt(x)) == x,
            ),
            "encrypt_public": self.gives(x, lambda: self.public.encrypt(x)),
            "decrypt": lambda _: Operation(lambda _: self.secret.decrypt(a), lambda value: value == x),
            "add": self.gives(x + y, lambda: a + b),
            "subtract": self.gives(x - y, lambda: a - b),
            "add_plain": self.gives(x + y, lambda: a + y),
            "multiply_plain": self.gives(x * y, lambda: a * y),
            **self.windows.operations(),
        }


class Packed(Paillier):
    """Windows with one ciphertext: the plaintext has a field for the total of each reading."""

    def made_windows(self):
        fields = range(0, READINGS * FIELD_BITS, FIELD_BITS)
        fields_of = lambda plain: [plain >> at & (1 << FIELD_BITS) - 1 for at in fields]
        return Windows(
            lambda readings: self.public.encrypt(sum(one << at for one, at in zip(readings, fields))),
            lambda total, window: total + window,
            lambda total: fields_of(self.secret.decrypt(total)),
            self.bytes_of,
        )

    def operations(self):
        return self.windows.operations()


if __name__ == "__main__":
    Engine(
        {"paillier": Paillier, "paillier-packed": Packed},
        engine="python-paillier",
        library="python-paillier, the package phe",
        version=version("phe"),
        flags=f"gmpy2 {version('gmpy2')}" if HAVE_GMP else "without gmpy2",
    ).converse()
