"""Hybrid key switching: turns a ciphertext under s' into one under s, with little added noise.

Special primes are Gentry-Halevi-Smart's (ePrint 2012/099, section 3.1); digits of several primes, as many as there are
special primes, are Han-Ki's (ePrint 2019/688). A digit is x modulo its primes and is not multiplied in advance, so its
gadget g_i is P in the digit's own limbs and 0 elsewhere, at every level.

Why it works: modulo a prime of digit i, only g_i is not 0, and digit i is x. So sum(digit_i * g_i) = P*x modulo every
data prime and every special prime, and the sum of digit * pair decrypts to P*x*s' + noise. Dividing by P leaves x*s'.

Without special primes P is 1, nothing is divided, and the noise stays as large as a digit times an error (Brakerski and
Vaikuntanathan, ePrint 2011/344, section 1.2).
"""

from functools import reduce
from math import prod
from operator import add

from spec import ring
from spec.encrypt import zero_pair
from spec.poly import Poly


def switching_key(scheme, secret, target, seed, errors):
    """One pair for each digit, over the whole basis: (-a*s + f*e + g*s', a); the seed's domain is the digit's index."""
    basis, product = scheme.whole_basis, prod(scheme.special)
    key = []
    for index, digit in enumerate(scheme.digits(scheme.top_level)):
        body, mask = zero_pair(scheme, secret, seed, errors[index], basis, domain=index)
        gadget = Poly(basis, [[product % q if q in digit else 0] * scheme.degree for q in basis])
        key.append([body + gadget * Poly.from_integers(target, basis), mask])
    return key


def relinearisation_key(scheme, secret, seed, errors):
    return switching_key(scheme, secret, ring.multiply(secret, secret), seed, errors)


def galois_key(scheme, secret, g, seed, errors):
    return switching_key(scheme, secret, ring.automorphism(secret, g), seed, errors)


def decompose(scheme, poly, level):
    """The digits of a polynomial, over the extended basis: in its own limbs a digit is used unchanged."""
    digits = []
    for digit in scheme.digits(level):
        others = tuple(q for q in scheme.extended_basis(level) if q not in digit)
        everywhere = poly.over(digit).joined(poly.over(digit).convert(others))
        digits.append(everywhere.over(scheme.extended_basis(level)))
    return digits


def accumulate(digits, key):
    """The two sums of digit * key pair, over the basis of the digits."""
    basis = digits[0].primes
    bodies, masks = ([pair[part].over(basis) for pair in key] for part in (0, 1))
    return [inner_product(digits, bodies), inner_product(digits, masks)]


def inner_product(digits, parts):
    first, *rest = (digit * part for digit, part in zip(digits, parts))
    return reduce(add, rest, first)


def switch(scheme, poly, key, level):
    """Two components over the level whose phase under s is poly * s' plus noise."""
    accumulators = accumulate(decompose(scheme, poly, level), key)
    if not scheme.special:
        return accumulators
    return [part.divide(scheme.special, scheme.rounding_modulus) for part in accumulators]
