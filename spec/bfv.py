"""BFV: the message is at the high end, phase = Q*m/t + noise.

Brakerski, ePrint 2012/078, section 4, for LWE; Fan-Vercauteren, ePrint 2012/144, section 4, for rings. The product in
residues is Halevi-Polyakov-Shoup's (ePrint 2018/117, sections 2.2 to 2.4): an auxiliary basis gives the tensor room to
be an integer polynomial, which is then scaled by t/Q.
"""

from dataclasses import dataclass
from math import prod

from spec import primes
from spec.poly import Poly
from spec.scheme import Scheme, pointwise_tensor


@dataclass(frozen=True)
class Bfv(Scheme):
    plain_modulus: int

    name = "bfv"

    def inject(self, message, level):
        """Q*m/t, rounded: (Q*m + h - ((Q*m + h) mod t)) / t with h = floor(t/2)."""
        t, product = self.plain_modulus, prod(self.basis(level))
        return Poly.from_integers([(product * m + t // 2) // t for m in message], self.basis(level))

    def recover(self, ciphertext, phase):
        """round(t*phase/Q) mod t. Q is odd, so that there is no tie."""
        t, product = self.plain_modulus, prod(phase.primes)
        return [(2 * t * x + product) // (2 * product) % t for x in phase.integers()]

    def auxiliary_primes(self, basis):
        """The largest primes below 2^61 that are in no chain, of product B >= 2*n*t*Q.

        A component of t*tensor/Q is at most n*t*Q/2 in size, and 1 for the rounding: well below B/2. The result of a
        product does not depend on the choice of these primes, as long as B is large enough.
        """
        needed = 2 * self.degree * self.plain_modulus * prod(basis)
        auxiliary = []
        while prod(auxiliary) < needed:
            auxiliary.append(primes.largest_prime(self.degree, 1 << 61, self.whole_basis + tuple(auxiliary)))
        return tuple(auxiliary)

    def extend(self, component):
        """Extends a component from Q to Q and B: the same integer polynomial, of size about Q/2."""
        return component.joined(component.convert(self.auxiliary_primes(component.primes)))

    def scale_down(self, component, basis):
        """Multiplies a component over Q and B by t, divides by all of Q at once, and converts it from B back to Q."""
        return (component * self.plain_modulus).divide(basis).convert(basis)

    def tensor(self, left, right):
        extended = pointwise_tensor([self.extend(c) for c in left], [self.extend(c) for c in right])
        return [self.scale_down(component, left[0].primes) for component in extended]
