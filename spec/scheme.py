"""The common part of BGV, BFV and CKKS: a chain of primes, levels, digits; and the methods that each scheme must define."""

from dataclasses import dataclass

from spec import xof
from spec.poly import Poly


@dataclass(frozen=True)
class Scheme:
    """The whole basis is the special primes, then the data primes; level l has the data primes q_0 ... q_l."""

    degree: int
    special: tuple
    data: tuple

    error_factor = 1  # f: errors are multiplied by it
    rounding_modulus = None  # t for CongruentMod(t), None for Nearest: see rns.divide

    @property
    def top_level(self):
        return len(self.data) - 1

    @property
    def whole_basis(self):
        return self.special + self.data

    def basis(self, level):
        return self.data[:level + 1]

    def extended_basis(self, level):
        """The special primes, then those of the level: a prefix of the whole basis."""
        return self.special + self.basis(level)

    def digits(self, level):
        """The data primes in groups as large as the group of special primes, without those already dropped.

        Without special primes each is a group.
        """
        size = max(len(self.special), 1)
        return [self.basis(level)[i:i + size] for i in range(0, level + 1, size)]

    def mask(self, seed, domain, primes):
        """A uniform polynomial from a seed; a limb's index counts in the whole basis."""
        indices = [self.whole_basis.index(q) for q in primes]
        limbs = [xof.uniform_limb(seed, domain, i, q, self.degree) for i, q in zip(indices, primes)]
        return Poly(tuple(primes), limbs)

    def inject(self, message, level):
        """The polynomial that is added to a fresh encryption of zero."""
        raise NotImplementedError

    def recover(self, ciphertext, phase):
        """The message of a ciphertext, from its phase."""
        raise NotImplementedError

    def tensor(self, left, right):
        """The components of a product before relinearisation: those of (l0 + l1*s)*(r0 + r1*s)."""
        return pointwise_tensor(left, right)

    def factor_after_drop(self, factor, product):
        return factor

    def factor_after_product(self, left, right):
        return left * right

    def power_after_drop(self, power, count):
        return power

    def power_after_product(self, left, right):
        return left


def pointwise_tensor(left, right):
    (l0, l1), (r0, r1) = left, right
    return [l0 * r0, l0 * r1 + l1 * r0, l1 * r1]


@dataclass(frozen=True)
class Ciphertext:
    """Components c0, c1 (and c2), over the basis of the level; phase = c0 + c1*s + c2*s^2."""

    level: int
    components: list
    factor: int = 1  # BGV: the phase is factor * message, modulo t
    power: int = 1  # CKKS: the scale is Delta_level^power
