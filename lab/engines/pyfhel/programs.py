"""Runs programs. A value is a pair of a ciphertext and its level, the number of primes that can still be dropped.
CKKS has one scale for each level, as in the engine `seal`, so that any two ciphertexts at one level can be added."""

import numpy

from program import evaluate


class Programs:
    """The methods that `program` calls."""

    def verify(self, request):
        self.make_rotations(request["program"])
        return evaluate(self, request["program"], request["inputs"])

    def make_rotations(self, program):
        if any(node["op"] == "swap_rows" for node in program["nodes"]):
            # Pyfhel's keys for single rotations do not include the key of the row swap.
            raise ValueError("unsupported")
        steps = sorted({node["steps"] for node in program["nodes"] if node["op"] == "rotate"} | {1})
        self.he.rotateKeyGen(steps)

    @property
    def top(self):
        return len(self.primes[0]) - 1

    def spread(self, values, constant):
        length = len(self.inputs[0])
        whole = list(values) * length if constant and len(values) == 1 else list(values) + [0] * (length - len(values))
        return numpy.array(whole, dtype=self.inputs[0].dtype)

    def encrypt(self, values):
        return self.he.encryptPtxt(self.encoded(self.spread(values, False))), self.top

    def negate(self, a):
        return self.he.negate(a[0], True), a[1]

    def rotate(self, a, steps):
        return self.he.rotate(a[0], steps, True), a[1]

    def sum(self, a, b):
        a, b = self.aligned(a, b)
        return self.he.add(a[0], b[0], True), a[1]

    def difference(self, a, b):
        a, b = self.aligned(a, b)
        return self.he.sub(a[0], b[0], True), a[1]

    def product(self, a, b):
        a, b = self.aligned(a, b)
        product = self.he.multiply(a[0], b[0], True)
        self.he.relinearize(product)
        return self.dropped(product, a[1])

    def aligned(self, a, b):
        return (self.lowered(a, b[1]), b) if a[1] > b[1] else (a, self.lowered(b, a[1]))


class IntegerPrograms(Programs):
    def dropped(self, product, level):
        """Brings BGV's noise down by dropping a prime, as long as there is one."""
        if self.scheme == "bfv" or level == 0:
            return product, level
        self.he.mod_switch_to_next(product)
        return product, level - 1

    def lowered(self, a, level):
        lowered = a[0].copy()
        for _ in range(a[1] - level):
            self.he.mod_switch_to_next(lowered)
        return lowered, level

    def encoded_at(self, values, level):
        plain = self.encoded(self.spread(values, True) % self.t)
        if self.scheme == "bgv":
            for _ in range(self.top - level):
                self.he.mod_switch_to_next(plain)
        return plain

    def plus_constant(self, a, values):
        return self.he.add_plain(a[0], self.encoded_at(values, a[1]), True), a[1]

    def times_constant(self, a, values):
        return self.he.multiply_plain(a[0], self.encoded_at(values, a[1]), True), a[1]

    def decrypt(self, a):
        # Pyfhel cannot report the noise budget of BGV.
        if self.scheme == "bfv" and self.he.noise_level(a[0]) == 0:
            raise ValueError("the noise budget is used up")
        return [int(value) % self.t for value in self.decoded(self.he.decryptPtxt(a[0]))]


class RealPrograms(Programs):
    @property
    def scales(self):
        """Returns the scale of each level: that of the next lower level is its square divided by the dropped prime."""
        data, scales = self.primes[0], [2.0**self.scale_bits]
        for prime in reversed(data[1:]):
            scales.insert(0, scales[0] ** 2 / prime)
        return scales

    def dropped(self, product, level):
        if level == 0:
            raise ValueError("no level is left for a product")
        self.he.rescale_to_next(product)
        product.set_scale(self.scales[level - 1])
        return product, level - 1

    def lowered(self, a, level):
        """Brings a value to a lower level and that level's scale, by a product with 1 at the level above."""
        if a[1] == level:
            return a
        above = a[0].copy()
        for _ in range(a[1] - level - 1):
            self.he.mod_switch_to_next(above)
        scale = self.scales[level] * self.primes[0][level + 1] / self.scales[a[1]]
        return self.dropped(self.he.multiply_plain(above, self.encoded_at([1.0], level + 1, scale), True), level + 1)

    def encoded_at(self, values, level, scale):
        plain = self.he.encodeFrac(self.spread(values, True), scale=scale)
        for _ in range(self.top - level):
            self.he.mod_switch_to_next(plain)
        return plain

    def plus_constant(self, a, values):
        return self.he.add_plain(a[0], self.encoded_at(values, a[1], self.scales[a[1]]), True), a[1]

    def times_constant(self, a, values):
        scale = self.scales[a[1]]
        return self.dropped(self.he.multiply_plain(a[0], self.encoded_at(values, a[1], scale), True), a[1])

    def decrypt(self, a):
        return self.decoded(self.he.decryptPtxt(a[0])).tolist()
