"""Reduced answers: coefficients modulo 2^w, and of c0 only the selected ones (docs/math/conventions.md, "Reduced ciphertexts").

Computed on big integers. `factor` is the scheme's error factor: 1, or t in BGV, whose phase is a multiple of t beside the message.
"""

from math import prod

from spec.poly import Poly


def exponents(n, spacing, count):
    """The selected coefficients: X^i with i mod spacing < count."""
    return [i for i in range(n) if i % spacing < count]


def reduce(coefficients, modulus, width, factor=1):
    """round(c/factor*2^w/Q) modulo 2^w; Q is odd, so there is no tie."""
    inverse = pow(factor, -1, modulus)
    parts = [c * inverse % modulus for c in coefficients]
    return [((x << (width + 1)) + modulus) // (2 * modulus) % (1 << width) for x in parts]


def lift(coefficients, modulus, width, factor=1):
    """factor*round(x*Q/2^w) modulo Q; a half is rounded up."""
    return [factor * ((2 * x * modulus + (1 << width)) >> (width + 1)) % modulus for x in coefficients]


def reduce_ciphertext(scheme, ciphertext, width, spacing, count):
    """The coefficients of c0 that travel, and those of c1."""
    modulus = prod(scheme.basis(ciphertext.level))
    body, mask = (reduce(c.integers(), modulus, width, scheme.error_factor) for c in ciphertext.components)
    return [body[i] for i in exponents(scheme.degree, spacing, count)], mask


def lift_ciphertext(scheme, level, body, mask, width, spacing, count):
    """Two components over the level's primes; zero where a coefficient did not travel."""
    basis = scheme.basis(level)
    whole = [0] * scheme.degree
    for i, x in zip(exponents(scheme.degree, spacing, count), lift(body, prod(basis), width, scheme.error_factor)):
        whole[i] = x
    lifted = lift(mask, prod(basis), width, scheme.error_factor)
    return [Poly.from_integers(whole, basis), Poly.from_integers(lifted, basis)]
