"""Runs programs. Levels are managed here: the session switches the library's own management off."""

import numpy

from program import evaluate


class Programs:
    """The methods that `program` calls. BFV has no levels; BGV and CKKS drop a prime after each product."""

    def verify(self, request):
        self.need("products")
        self.make_rotations(request["program"])
        return evaluate(self, request["program"], request["inputs"])

    def make_rotations(self, program):
        columns = self.degree // 2
        steps = sorted({node["steps"] % columns for node in program["nodes"] if node["op"] == "rotate"} - {0})
        if steps:
            self.context.EvalRotateKeyGen(self.pair.secretKey, steps)
        self.swap = None
        if any(node["op"] == "swap_rows" for node in program["nodes"]):
            self.swap = self.context.EvalAutomorphismKeyGen(self.pair.secretKey, [2 * self.degree - 1])

    @property
    def has_levels(self):
        return type(self).__name__ != "Bfv"

    def spread(self, values, constant):
        length = len(self.inputs[0])
        whole = list(values) * length if constant and len(values) == 1 else list(values) + [0] * (length - len(values))
        return self.encoded(numpy.array(whole, dtype=self.inputs[0].dtype))

    def encrypt(self, values):
        return self.context.Encrypt(self.pair.publicKey, self.spread(values, False))

    def encrypt_number(self, number):
        """Encrypts a number in the first slot. The library fills the others with zeros, so that no long list is
        converted."""
        self.need("products")
        return self.context.Encrypt(self.pair.publicKey, self.encoded([number]))

    def decrypt(self, a):
        plain = self.context.Decrypt(self.pair.secretKey, a)
        plain.SetLength(len(self.inputs[0]))
        if type(self).__name__ == "Ckks":
            return list(plain.GetRealPackedValue())
        return [value % self.t for value in plain.GetPackedValue()]

    def negate(self, a):
        return self.context.EvalNegate(a)

    def rotate(self, a, steps):
        steps %= self.degree // 2
        return self.context.EvalRotate(a, steps) if steps else a

    def swap_rows(self, a):
        return self.context.EvalAutomorphism(a, 2 * self.degree - 1, self.swap)

    def sum(self, a, b):
        return self.context.EvalAdd(*self.aligned(a, b))

    def difference(self, a, b):
        return self.context.EvalSub(*self.aligned(a, b))

    def product(self, a, b):
        return self.dropped(self.context.EvalMult(*self.aligned(a, b)))

    def plus_constant(self, a, values):
        return self.context.EvalAdd(a, self.spread(values, True))

    def times_constant(self, a, values):
        if len(values) > 1:
            return self.dropped(self.context.EvalMult(a, self.spread(values, True)))
        # A plaintext with one value in every slot is made once and kept.
        if values[0] not in self.constants:
            self.constants[values[0]] = self.spread(values, True)
        return self.dropped(self.context.EvalMult(a, self.constants[values[0]]))

    def dropped(self, product):
        if not self.has_levels:
            return product
        if product.GetLevel() + 1 >= self.limbs:
            raise ValueError("no level is left for a product")
        return self.context.ModReduce(product)

    def aligned(self, a, b):
        if not self.has_levels or a.GetLevel() == b.GetLevel():
            return a, b
        if a.GetLevel() > b.GetLevel():
            return a, self.context.LevelReduce(b, None, a.GetLevel() - b.GetLevel())
        return self.context.LevelReduce(a, None, b.GetLevel() - a.GetLevel()), b
