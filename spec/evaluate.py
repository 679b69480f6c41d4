"""Computing on ciphertexts, once for the three schemes."""

from dataclasses import replace
from math import prod

from spec import ring
from spec.keyswitch import switch
from spec.scheme import Ciphertext


def add(left, right):
    if (left.level, left.factor, left.power) != (right.level, right.factor, right.power):
        raise ValueError("level, factor or power of the ciphertexts differ")
    return replace(left, components=[x + y for x, y in zip(left.components, right.components)])


def multiply(scheme, left, right):
    """The product, of three components; both operands at the same level and of the same scale."""
    if (left.level, left.power) != (right.level, right.power):
        raise ValueError("level or power of the ciphertexts differ")
    return Ciphertext(
        left.level,
        scheme.tensor(left.components, right.components),
        scheme.factor_after_product(left.factor, right.factor),
        scheme.power_after_product(left.power, right.power),
    )


def relinearise(scheme, ciphertext, key):
    """Turns c0 + c1*s + c2*s^2 into two components: c2 is switched from s^2 to s."""
    c0, c1, c2 = ciphertext.components
    switched = switch(scheme, c2, key, ciphertext.level)
    return replace(ciphertext, components=[c0 + switched[0], c1 + switched[1]])


def apply_galois(scheme, ciphertext, g, key):
    """Turns m(X) into m(X^g): the automorphism, whose result is under s(X^g), then a key switch back to s."""
    c0, c1 = (component.automorphism(g) for component in ciphertext.components)
    switched = switch(scheme, c1, key, ciphertext.level)
    return replace(ciphertext, components=[c0 + switched[0], switched[1]])


def rotate(scheme, ciphertext, step, key):
    """Slots move left by `step` (right if negative), in both rows; the key is that of the step's Galois element."""
    return apply_galois(scheme, ciphertext, ring.galois_element(scheme.degree, step), key)


def drop(scheme, ciphertext, count=1):
    """Modulus switching, and rescaling in CKKS: divides by the last `count` primes of the level."""
    level = ciphertext.level - count
    dropped = scheme.basis(ciphertext.level)[level + 1:]
    return Ciphertext(
        level,
        [component.divide(dropped, scheme.rounding_modulus) for component in ciphertext.components],
        scheme.factor_after_drop(ciphertext.factor, prod(dropped)),
        scheme.power_after_drop(ciphertext.power, count),
    )
