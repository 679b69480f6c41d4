"""Compact BFV ciphertexts of a few values, and their sums (docs/math/conventions.md, "Compact ciphertexts").

A form is (n, q, t, places, width). Value j is the coefficient of X^(j*n/k), k the next power of two above the places. Of the
body -a*s + e + inject(m) only these coefficients are kept, each rounded to `width` bits as a part of q. Sums are sums of these integers; the
holder of the secret adds the masks, multiplies once, and reads the places.
"""

from collections import namedtuple
from fractions import Fraction
from itertools import islice
from math import floor

from spec import chacha, ring
from spec.xof import take

Form = namedtuple("Form", "degree prime plain places width")


def spacing(form):
    return form.degree // (1 << (form.places - 1).bit_length())


def residues(mask_key, salt, sequence, limb, q):
    """Yields the residues of a mask, without end: the low b bits of words of ceil(b/8) bytes; words not below q are skipped."""
    key = take(chacha.stream(mask_key, salt, 20), 32)
    source = chacha.stream(key, sequence.to_bytes(8, "little") + limb.to_bytes(4, "little"), 8)
    bits = q.bit_length()
    while True:
        word = int.from_bytes(take(source, (bits + 7) // 8), "little") & ((1 << bits) - 1)
        if word < q:
            yield word


def mask(form, mask_key, salt, sequence):
    return list(islice(residues(mask_key, salt, sequence, 0, form.prime), form.degree))


def rounded(form, residue):
    """round(c*2^w/q) modulo 2^w, from floor(c*2^64/q)."""
    fraction, left = (residue << 64) // form.prime, 64 - form.width
    return fraction if left == 0 else ((fraction + (1 << (left - 1))) >> left) % (1 << form.width)


def encrypt(form, secret, a, values, errors):
    """The body: an integer modulo 2^w for each place."""
    product = ring.multiply(a, secret)
    q, t, step = form.prime, form.plain, spacing(form)
    return [rounded(form, (error + (q * (value % t) + t // 2) // t - product[j * step]) % q)
            for j, (value, error) in enumerate(zip(values, errors))]


def weighted_sum(form, bodies, weights):
    return [sum(c * b for c, b in zip(weights, column)) % (1 << form.width) for column in zip(*bodies)]


def mask_sum(form, masks, weights):
    return [sum(c * a for c, a in zip(weights, column)) % form.prime for column in zip(*masks)]


def open_sum(form, secret, columns, masks):
    """The values modulo t in [-t/2, t/2]: round(t*(column/2^w + (a*s)_j/q)), on exact fractions."""
    product, step = ring.multiply(masks, secret), spacing(form)
    opened = []
    for j, column in enumerate(columns):
        part = Fraction(column, 1 << form.width) + Fraction(product[j * step], form.prime)
        value = floor(form.plain * part + Fraction(1, 2)) % form.plain
        opened.append(value - form.plain if value > (form.plain - 1) // 2 else value)
    return opened


def pack(form, columns):
    """Columns one after the other, w bits each, least significant bit first, padded with zero bits to a byte."""
    joined = sum(x << (i * form.width) for i, x in enumerate(columns))
    return joined.to_bytes((form.places * form.width + 7) // 8, "little")
