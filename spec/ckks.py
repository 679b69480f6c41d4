"""CKKS: the message is a real polynomial at a scale, phase = scale*m + noise, and the noise is part of the result.

Cheon-Kim-Kim-Song, ePrint 2016/421, section 3; in residues, Cheon-Han-Kim-Kim-Song, ePrint 2018/931. The scale belongs
to the level: Delta_(l-1) = Delta_l^2/q_l exactly, so that operands of one level always have equal scales (Kim-Papadimitriou-Polyakov,
ePrint 2020/1118).
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor

from spec import primes
from spec.poly import Poly
from spec.scheme import Scheme


@dataclass(frozen=True)
class Ckks(Scheme):
    scales: tuple  # Delta_l for each level, exact fractions

    name = "ckks"

    @staticmethod
    def build(degree, special_bits, base_bits, scale_bits, count):
        """The default chain: see primes.ckks_chain."""
        special, data, scales = primes.ckks_chain(degree, special_bits, base_bits, scale_bits, count)
        return Ckks(degree, tuple(special), tuple(data), tuple(Fraction(*scale) for scale in scales))

    def inject(self, message, level):
        return Poly.from_integers(self.rounded(message, level), self.basis(level))

    def rounded(self, message, level):
        """round(Delta_l * m), for a message of real coefficients."""
        return [floor(self.scales[level] * Fraction(m) + Fraction(1, 2)) for m in message]

    def recover(self, ciphertext, phase):
        """Real coefficients: the centred phase over the scale."""
        scale = self.scales[ciphertext.level] ** ciphertext.power
        return [x / scale for x in phase.integers()]

    def power_after_drop(self, power, count):
        """Delta_l^2/q_l is Delta_(l-1): only a product is rescaled, by one prime."""
        if (power, count) != (2, 1):
            raise ValueError("only power 2 is rescaled, one level at a time")
        return 1

    def power_after_product(self, left, right):
        if left + right != 2:
            raise ValueError("rescale before multiplying again")
        return 2
