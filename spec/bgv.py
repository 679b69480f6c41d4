"""BGV: the message is at the low end, phase = factor*m + t*noise.

Brakerski-Gentry-Vaikuntanathan, ePrint 2011/277: "Basic Encryption Scheme", "Modulus Switching". A division changes the
phase modulo t only by the dropped primes; the factor records them (Gentry-Halevi-Smart,
ePrint 2012/099, section 3.2).
"""

from dataclasses import dataclass

from spec import ring, rns
from spec.poly import Poly
from spec.scheme import Scheme


@dataclass(frozen=True)
class Bgv(Scheme):
    plain_modulus: int

    name = "bgv"

    @property
    def error_factor(self):
        return self.plain_modulus

    @property
    def rounding_modulus(self):
        return self.plain_modulus

    def inject(self, message, level):
        return Poly.from_integers([ring.centred(m, self.plain_modulus) for m in message], self.basis(level))

    def recover(self, ciphertext, phase):
        """The phase, centred by a base conversion to t, over the factor."""
        t, inverse = self.plain_modulus, pow(ciphertext.factor, -1, self.plain_modulus)
        return [rns.convert(row, phase.primes, [t])[0] * inverse % t for row in phase.residues()]

    def factor_after_drop(self, factor, product):
        return factor * pow(product, -1, self.plain_modulus) % self.plain_modulus

    def factor_after_product(self, left, right):
        return left * right % self.plain_modulus
