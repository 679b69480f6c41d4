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

# Bits of plain values; products of them fit any key.
VALUE_BITS = 60


class Paillier:
    """A pair of keys and two values. Integers are passed without an encoding, which would not change them."""

    def __init__(self, request):
        self.bits = request["key_bits"]
        self.public, self.secret = paillier.generate_paillier_keypair(n_length=self.bits)
        self.values = [secrets.randbits(VALUE_BITS) | 1 << (VALUE_BITS - 1) for _ in range(2)]
        self.ciphertexts = [self.public.encrypt(value) for value in self.values]

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
        }


if __name__ == "__main__":
    Engine(
        {"paillier": Paillier},
        engine="python-paillier",
        library="python-paillier, the package phe",
        version=version("phe"),
        flags=f"gmpy2 {version('gmpy2')}" if HAVE_GMP else "without gmpy2",
    ).converse()
