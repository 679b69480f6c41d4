"""Explicit inputs for tests and vectors, from a small seeded generator. Repeatable, and no secret at all."""

from random import Random


class Sampler:
    def __init__(self, seed):
        self.random = Random(seed)

    def seed(self):
        """24 bytes for the seed expansion."""
        return bytes(self.random.getrandbits(8) for _ in range(24))

    def below(self, n, bound):
        return [self.random.randrange(bound) for _ in range(n)]

    def ternary(self, n):
        """Uniform in {-1, 0, 1}: secrets, and the u of public-key encryption."""
        return [self.random.randrange(3) - 1 for _ in range(n)]

    def error(self, n):
        """Centred binomial, 21 + 21 bits: the number of ones in 21 bits less that in 21 others; sigma = 3.24."""
        def ones():
            return bin(self.random.getrandbits(21)).count("1")
        return [ones() - ones() for _ in range(n)]

    def thousandths(self, n):
        """Real slots in (-1, 1), as whole thousandths."""
        return [self.random.randrange(-999, 1000) / 1000 for _ in range(n)]
