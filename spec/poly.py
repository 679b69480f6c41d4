"""A polynomial modulo a product of primes, one limb for each, at rest in Eval form ("double CRT").

The representation is Gentry-Halevi-Smart's (ePrint 2012/099, section 3): sums and products are value by value.
"""

from dataclasses import dataclass
from math import prod

from spec import ntt, ring, rns


@dataclass(frozen=True)
class Poly:
    primes: tuple  # one for each limb
    limbs: list  # limbs[j][i] is the value at psi_j^(2*brv(i) + 1), modulo primes[j]

    @staticmethod
    def from_integers(coefficients, primes):
        """Coefficients of any size and sign, reduced modulo every prime and transformed."""
        return Poly(tuple(primes), [ntt.forward(coefficients, q) for q in primes])

    @staticmethod
    def from_residues(rows, primes):
        """From Coeff form: for each coefficient its residues."""
        return Poly(tuple(primes), [ntt.forward(limb, q) for limb, q in zip(zip(*rows), primes)])

    def residues(self):
        """To Coeff form: for each coefficient its residues, ready for the functions of rns."""
        return list(zip(*(ntt.inverse(limb, q) for limb, q in zip(self.limbs, self.primes))))

    def integers(self):
        """The big-integer meaning: coefficients centred modulo the product of the primes."""
        return [ring.centred(rns.integer(row, self.primes), prod(self.primes)) for row in self.residues()]

    def over(self, primes):
        """The limbs of some of the primes."""
        return Poly(tuple(primes), [self.limbs[self.primes.index(q)] for q in primes])

    def joined(self, other):
        """Joins the limbs of one polynomial over two bases."""
        return Poly(self.primes + other.primes, self.limbs + other.limbs)

    def __add__(self, other):
        return self._each(other, lambda x, y: x + y)

    def __sub__(self, other):
        return self._each(other, lambda x, y: x - y)

    def __mul__(self, other):
        """Multiplies by a polynomial or an integer."""
        if isinstance(other, int):
            return Poly(self.primes, [[x * other % q for x in limb] for limb, q in zip(self.limbs, self.primes)])
        return self._each(other, lambda x, y: x * y)

    __rmul__ = __mul__

    def __neg__(self):
        return self * -1

    def _each(self, other, operation):
        if self.primes != other.primes:
            raise ValueError("the polynomials have different bases")
        rows = zip(self.limbs, other.limbs, self.primes)
        return Poly(self.primes, [[operation(x, y) % q for x, y in zip(a, b)] for a, b, q in rows])

    def automorphism(self, g):
        """The polynomial at X^g: every limb permuted alike."""
        permutation = ntt.galois_permutation(len(self.limbs[0]), g)
        return Poly(self.primes, [[limb[j] for j in permutation] for limb in self.limbs])

    def convert(self, targets):
        """Base conversion of every coefficient, to other primes."""
        rows = [rns.convert(row, self.primes, targets) for row in self.residues()]
        return Poly.from_residues(rows, targets)

    def divide(self, dropped, plain_modulus=None):
        """Divides by the product of the dropped primes, which leave the basis; plain_modulus as in rns.divide."""
        kept = tuple(q for q in self.primes if q not in dropped)
        rows = [rns.divide(row, self.primes, dropped, plain_modulus) for row in self.residues()]
        return Poly.from_residues(rows, kept)
