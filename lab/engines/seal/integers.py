"""BFV: integers modulo t in slots. There are no levels to manage, as long as the noise budget lasts."""

import random

import tenseal.sealapi as seal
from _tenseal_cpp import PlainTensorInt64

from session import Session


class Integers(Session):
    def __init__(self, request):
        self.t = request["plain_modulus"]
        super().__init__(request, seal.SCHEME_TYPE.BFV, seal.Modulus(self.t))
        self.scalar = request.get("encoding") == "scalar"
        self.values = iter(request.get("values", []))
        if self.scalar:
            return
        self.encoder = seal.BatchEncoder(self.context)
        self.too_long = list(range(self.degree + 1))
        self.as_long = PlainTensorInt64(list(range(self.degree)))

    def random_slots(self):
        given = next(self.values, None)
        if given is not None:
            return [given]
        return [random.randrange(self.t) for _ in range(1 if self.scalar else self.degree)]

    def near(self, found, expected):
        return len(found) == len(expected) and all((a - b) % self.t == 0 for a, b in zip(found, expected))

    def encoded(self, values):
        if self.scalar:
            # SEAL parses a polynomial of one coefficient from hexadecimal text.
            return seal.Plaintext(f"{values[0] % self.t:x}")
        plain = seal.Plaintext()
        self.encoder.encode(values, plain)
        return plain

    def decoded(self, plain):
        if self.scalar:
            return [plain[0]] if plain.coeff_count() > 0 else [0]
        return self.encoder.decode_int64(plain)

    def conversion_in(self):
        if self.scalar:
            return
        self.convert()

    def convert(self):
        """Times the conversion of a list that is one value too long: it is converted, then refused before any other
        work."""
        try:
            self.encoder.encode(self.too_long, seal.Plaintext())
        except ValueError:
            pass

    def conversion_out(self):
        if self.scalar:
            return None
        return self.as_long.data()

    def encode_input(self, values):
        return self.encode(list(values) + [0] * (self.degree - len(values)))

    def encode_number(self, number):
        plain = seal.Plaintext()
        self.encoder.encode([number % self.t], plain)
        return plain

    def encode(self, values):
        plain = seal.Plaintext()
        self.encoder.encode([value % self.t for value in values], plain)
        return plain

    def constant(self, values):
        """Encodes a constant. One value in every slot is a polynomial of one coefficient, which SEAL parses from
        hexadecimal."""
        if len(values) == 1:
            return seal.Plaintext(f"{values[0] % self.t:x}")
        return self.encode_input(values)

    def decrypt(self, a):
        if self.decryptor.invariant_noise_budget(a) == 0:
            raise ValueError("the noise budget is used up")
        plain = seal.Plaintext()
        self.decryptor.decrypt(a, plain)
        return [value % self.t for value in self.encoder.decode_int64(plain)]

    def aligned(self, a, b):
        return a, b

    def after_product(self, a):
        return a

    def plus_constant(self, a, values):
        out = seal.Ciphertext()
        self.evaluator.add_plain(a, self.constant(values), out)
        return out

    def times_constant(self, a, values):
        out = seal.Ciphertext()
        self.evaluator.multiply_plain(a, self.constant(values), out)
        return out
