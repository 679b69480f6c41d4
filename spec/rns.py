"""Residue number systems: an integer by its residues (limbs), leaving a basis, and dividing by dropped primes.

Base conversion with a correction v is Halevi-Polyakov-Shoup's (ePrint 2018/117, section 2.2), with fixed-point
integers in the place of their floating point, so that every machine finds the same v.
"""

from functools import lru_cache
from math import prod

from spec.ring import centred


def residues(x, primes):
    return [x % q for q in primes]


def integer(values, primes):
    """The x in [0, product) with these residues: the Chinese remainder theorem, on big integers."""
    product = prod(primes)
    return sum(x * w for x, w in zip(values, _weights(primes))) % product


@lru_cache(maxsize=None)
def _weights(primes):
    """For each prime a the integer that is 1 modulo a and 0 modulo the others."""
    product = prod(primes)
    return [product // a * pow(product // a, -1, a) for a in primes]


def lift(values, primes):
    """The integer of a base conversion from `primes`, the same for every target.

    It is congruent to x modulo A, the product of the k <= 32 primes, and at most A*(1/2 + k*2^-24) in size: x centred,
    except for an x that near to the wrap at A/2. The formula also holds for one prime.
    """
    product = prod(primes)
    quotient, total = 0, 0
    for x, a in zip(values, primes):
        bits = a.bit_length()
        y = x * pow(product // a, -1, a) % a
        c = (1 << (bits + 51)) // a
        quotient += (y * c) >> (bits + 26)  # y/a, in 25 fractional bits
        total += y * (product // a)
    return total - ((quotient + (1 << 24)) >> 25) * product


def convert(values, primes, targets):
    """Base conversion: residues modulo `primes` to residues modulo `targets`, which may be any integers."""
    return residues(lift(values, primes), targets)


def remainder(values, primes, plain_modulus=None):
    """The number to subtract before dividing by D, the product of `primes`; `values` are x modulo D.

    Nearest (no plain modulus): r, the lift of x modulo D. CongruentMod(t): delta = r (mod D), delta = 0 (mod t), so
    that a BGV message survives ("Modulus Switching" of ePrint 2011/277; in residues, section 3.2 of ePrint 2012/099).
    """
    r, product = lift(values, primes), prod(primes)
    if plain_modulus is None:
        return r
    return r + product * centred(-r * pow(product, -1, plain_modulus), plain_modulus)


def divide(values, primes, dropped, plain_modulus=None):
    """(x - remainder)/D in the primes that are kept, in their order; D is the product of the `dropped` primes.

    Rescaling, modulus switching and the end of key switching are this one function.
    """
    product = prod(dropped)
    of = dict(zip(primes, values))
    delta = remainder([of[q] for q in dropped], tuple(dropped), plain_modulus)
    return [(of[q] - delta) * pow(product, -1, q) % q for q in primes if q not in dropped]
