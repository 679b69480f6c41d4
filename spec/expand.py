"""Compact ciphertexts of slots, their expansion, and results side by side (docs/math/conventions.md).

The expansion is the field trace of Chen, Dai, Kim and Song (ACNS 2021, section 3.1). `Kept` names the coefficients of a
body that travel: k of them ("whole"), or k differences ("folded") where X -> X^-1 does not change the message.
"""

from collections import namedtuple
from dataclasses import replace
from functools import reduce
from math import prod

from spec import encode, evaluate, ring
from spec.poly import Poly

WHOLE, FOLDED = "whole", "folded"


class Kept(namedtuple("Kept", "kind places")):
    @property
    def values(self):
        """Values that repeat to fill every row."""
        return self.places if self.kind == FOLDED else self.places // 2

    def spacing(self, n):
        """The message is a polynomial in X^spacing."""
        return n // (2 * self.values)


def repeated(values, n):
    """Both rows of a batch, or the one row of CKKS slots twice: the values, again and again."""
    return list(values) * (n // len(values))


def halves(values, plain_modulus=None):
    """Halves the values, as folded messages are encoded: times 1/2 modulo t, or the half of a real number."""
    return [x / 2 if plain_modulus is None else x * pow(2, -1, plain_modulus) % plain_modulus for x in values]


def message(values, kept, n, plain_modulus=None):
    """The coefficients that are encrypted: residues modulo t, or reals (exact decimals) in CKKS."""
    values = halves(values, plain_modulus) if kept.kind == FOLDED else values
    if plain_modulus is None:
        return encode.embed([(x, 0) for x in repeated(values, n // 2)])
    return encode.batch(repeated(values, n), plain_modulus)


def sent(ciphertext, kept):
    """The residues that travel, row by row: b_j of X^(j*spacing), or b_0 and then b_j - b_(2k-j) for 0 < j < k."""
    body = ciphertext.components[0]
    rows = body.residues()
    rows = rows[::kept.spacing(len(rows))]
    if kept.kind == WHOLE:
        return rows
    differences = [tuple((x - y) % q for x, y, q in zip(rows[j], rows[-j], body.primes)) for j in range(1, kept.places)]
    return [rows[0], *differences]


def with_zeros(rows, kept, basis, n):
    """The body of the residues that travelled, with zeros in all other places."""
    all_rows, spacing = [tuple(0 for _ in basis)] * n, kept.spacing(n)
    all_rows[:len(rows) * spacing:spacing] = rows
    return Poly.from_residues(all_rows, basis)


def steps(n, kept):
    """Rotations by n/4, n/8, ... down to the number of values; first 0, the conjugation, where the body is folded."""
    found, step = [0] if kept.kind == FOLDED else [], n // 4
    while step >= kept.values:
        found.append(step)
        step //= 2
    return found


def element(n, step):
    """The Galois element of a step; 0 is the swap of rows, X -> X^-1."""
    return ring.row_swap(n) if step == 0 else ring.galois_element(n, step)


def trace(scheme, ciphertext, kept, keys):
    """Divides by spacing modulo Q, then adds each step's automorphism of the ciphertext to it. Returns the ciphertext before the first step and after each."""
    n, inverse = scheme.degree, pow(kept.spacing(scheme.degree), -1, prod(scheme.basis(ciphertext.level)))
    results = [replace(ciphertext, components=[part * inverse for part in ciphertext.components])]
    for step in steps(n, kept):
        moved = evaluate.apply_galois(scheme, results[-1], element(n, step), keys[step])
        results.append(evaluate.add(results[-1], moved))
    return results


def expand(scheme, ciphertext, kept, keys):
    """Expands the residues that travel to an ordinary ciphertext. Returns every step of the trace; the last is the result."""
    body = with_zeros(sent(ciphertext, kept), kept, scheme.basis(ciphertext.level), scheme.degree)
    return trace(scheme, replace(ciphertext, components=[body, ciphertext.components[1]]), kept, keys)


def shifted(ciphertext, power):
    """Multiplies by X^power: coefficient i moves to place i + power."""
    n, basis = len(ciphertext.components[0].limbs[0]), ciphertext.components[0].primes
    monomial = Poly.from_integers([int(i == power) for i in range(n)], basis)
    return replace(ciphertext, components=[monomial * part for part in ciphertext.components])


def together(ciphertexts):
    """Results side by side: result i times X^i, all added."""
    return reduce(evaluate.add, (shifted(x, i) for i, x in enumerate(ciphertexts)))


def part(decrypted, kept, index):
    """Message i of a ciphertext with messages side by side."""
    n = len(decrypted)
    spacing, out = kept.spacing(n), [0] * n
    out[::spacing] = decrypted[index::spacing]
    return out
