"""Computing on ciphertexts, once for the three schemes."""

from dataclasses import replace
from math import prod

from spec import ring
from spec.keyswitch import switch
from spec.poly import Poly
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
    """c0 + c1*s + c2*s^2 to two components: c2 is switched from s^2 to s."""
    c0, c1, c2 = ciphertext.components
    switched = switch(scheme, c2, key, ciphertext.level)
    return replace(ciphertext, components=[c0 + switched[0], c1 + switched[1]])


def apply_galois(scheme, ciphertext, g, key):
    """m(X) to m(X^g): the automorphism, under which the key is s(X^g), then back to s."""
    c0, c1 = (component.automorphism(g) for component in ciphertext.components)
    switched = switch(scheme, c1, key, ciphertext.level)
    return replace(ciphertext, components=[c0 + switched[0], switched[1]])


def rotate(scheme, ciphertext, step, key):
    """Slots move left by `step` (right if negative), in both rows; the key is that of the step's Galois element."""
    return apply_galois(scheme, ciphertext, ring.galois_element(scheme.degree, step), key)


def kept(ciphertext, places):
    """What a compact ciphertext of k places sends of its body: the residues of the coefficients of X^(j*n/k)."""
    residues = ciphertext.components[0].residues()
    return residues[::len(residues) // places]


def expansion_steps(n, places):
    """n/4, n/8, ... k/2: the rotations that leave X^(n/k) in its place."""
    steps, step = [], n // 4
    while 2 * step >= places:
        steps.append(step)
        step //= 2
    return steps


def expand(scheme, ciphertext, places, keys):
    """The ciphertext again from what is kept of its body, for a message in X^(n/k): zeros in the other places, times k/n modulo Q, then
    the trace (Chen, Dai, Kim and Song, ACNS 2021, section 3.1). `keys` has the Galois key of each step."""
    n, basis = scheme.degree, scheme.basis(ciphertext.level)
    spacing = n // places
    rows = [tuple(0 for _ in basis)] * n
    rows[::spacing] = kept(ciphertext, places)
    inverse = pow(spacing, -1, prod(basis))
    body, mask = Poly.from_residues(rows, basis), ciphertext.components[1]
    expanded = replace(ciphertext, components=[body * inverse, mask * inverse])
    for step in expansion_steps(n, places):
        expanded = add(expanded, rotate(scheme, expanded, step, keys[step]))
    return expanded


def drop(scheme, ciphertext, count=1):
    """Modulus switching, and the rescaling of CKKS: divided by the last `count` primes of the level."""
    level = ciphertext.level - count
    dropped = scheme.basis(ciphertext.level)[level + 1:]
    return Ciphertext(
        level,
        [component.divide(dropped, scheme.rounding_modulus) for component in ciphertext.components],
        scheme.factor_after_drop(ciphertext.factor, prod(dropped)),
        scheme.power_after_drop(ciphertext.power, count),
    )
