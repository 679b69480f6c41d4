"""CKKS: reals in slots. Each level has one scale, Δ² divided by the prime dropped last: any two ciphertexts at one
level can be added, and a product rescaled once has the scale of the level below."""

import random

import tenseal.sealapi as seal
from _tenseal_cpp import PlainTensorDouble

from session import Session

WHOLE_FACTOR = 2**31
# The largest error of a result that counts as correct.
CLOSE = 1e-2


class Reals(Session):
    def __init__(self, request):
        super().__init__(request, seal.SCHEME_TYPE.CKKS)
        self.encoder = seal.CKKSEncoder(self.context)
        data, _ = self.primes
        self.data = data
        self.scales = [0.0] * len(data)
        self.scales[-1] = 2.0 ** request["scale_bits"]
        for level in range(len(data) - 1, 0, -1):
            self.scales[level - 1] = self.scales[level] ** 2 / data[level]
        self.ids = {}
        context = self.context.first_context_data()
        while context is not None:
            self.ids[context.chain_index()] = context.parms_id()
            context = context.next_context_data()

        slots = [float(slot) for slot in range(self.degree // 2)]
        self.too_long, self.as_long = slots + [0.0], PlainTensorDouble(slots)

    def random_slots(self):
        return [random.uniform(-1, 1) for _ in range(self.degree // 2)]

    def near(self, found, expected):
        return len(found) == len(expected) and all(abs(a - b) < CLOSE for a, b in zip(found, expected))

    def encoded(self, values):
        plain = seal.Plaintext()
        self.encoder.encode(values, self.scales[-1], plain)
        return plain

    def decoded(self, plain):
        return self.encoder.decode_double(plain)

    def conversion_in(self):
        """Times the conversion of a list that is one value too long: it is converted, then refused before any other
        work."""
        try:
            self.encoder.encode(self.too_long, 1.0, seal.Plaintext())
        except ValueError:
            pass

    def conversion_out(self):
        return self.as_long.data()

    def operations(self):
        found = super().operations()
        if len(self.data) > 1:
            a = self.into(self.evaluator.multiply_plain, self.ciphertexts[0], self.plains[1])
            product = lambda: [x * y for x, y in zip(*self.inputs)]
            found["rescale"] = self.gives(product, self.evaluator.rescale_to_next, a)
        return found

    def level(self, a):
        return self.context.get_context_data(a.parms_id()).chain_index()

    def encode_input(self, values):
        top = len(self.data) - 1
        return self.encode(list(values) + [0] * (self.degree // 2 - len(values)), top, self.scales[top])

    def encode_number(self, number):
        top = len(self.data) - 1
        return self.encode([number, 0.0], top, self.scales[top])

    def encode(self, values, level, scale):
        """Encodes values at a level and scale; a single value goes into every slot."""
        plain = seal.Plaintext()
        whole = float(values[0]) if len(values) == 1 else [float(value) for value in values]
        self.encoder.encode(whole, self.ids[level], scale, plain)
        return plain

    def decrypt(self, a):
        plain = seal.Plaintext()
        self.decryptor.decrypt(a, plain)
        return list(self.encoder.decode_double(plain))

    def rescaled(self, a):
        """Drops one prime and sets the level's scale, which removes the rounding of SEAL's own f64 scale."""
        self.evaluator.rescale_to_next_inplace(a)
        a.scale = self.scales[self.level(a)]
        return a

    def after_product(self, a):
        return self.rescaled(a)

    def lowered(self, a, level):
        """Brings a ciphertext to a lower level and that level's scale, by a product with 1 at the level above."""
        out = seal.Ciphertext()
        self.evaluator.mod_switch_to(a, self.ids[level + 1], out)
        scale = self.scales[level] * self.data[level + 1] / a.scale
        self.evaluator.multiply_plain_inplace(out, self.encode([1.0], level + 1, scale))
        return self.rescaled(out)

    def aligned(self, a, b):
        high, low = self.level(a), self.level(b)
        if high > low:
            return self.lowered(a, low), b
        return (a, b) if high == low else (a, self.lowered(b, high))

    def plus_constant(self, a, values):
        out = seal.Ciphertext()
        self.evaluator.add_plain(a, self.encode(values, self.level(a), a.scale), out)
        return out

    def times_constant(self, a, values):
        out = seal.Ciphertext()
        level = self.level(a)
        if len(values) == 1 and float(values[0]).is_integer() and abs(values[0]) <= WHOLE_FACTOR:
            self.evaluator.multiply_plain(a, self.encode(values, level, 1.0), out)
            return out
        if level == 0:
            raise ValueError("no level is left for a product with a constant")
        self.evaluator.multiply_plain(a, self.encode(values, level, self.scales[level]), out)
        return self.rescaled(out)
