"""From values to polynomials: batching for BFV and BGV, the canonical embedding for CKKS.

Batching is the Chinese remainder theorem for X^n + 1 modulo t (Smart-Vercauteren, ePrint 2011/133).
The embedding is Cheon-Kim-Kim-Song's (ePrint 2016/421, section 3, "Plaintext Encoding for Batching"). Slots are ordered
by powers of 3, so that X -> X^3 moves every slot by one place.
"""

from decimal import Decimal, localcontext
from fractions import Fraction

from spec import ntt

DIGITS = 60  # of the decimals that stand for real numbers: rounding does not depend on the machine


def slot_indices(n):
    """The index in Eval form of each slot of a batch: row 0, at psi^(3^i), then row 1, at psi^(-3^i)."""
    powers = [pow(3, i, 2 * n) for i in range(n // 2)]
    exponents = powers + [2 * n - power for power in powers]
    return [ntt.bit_reverse((exponent - 1) // 2, n) for exponent in exponents]


def batch(slots, t):
    """n slots, a 2 x n/2 matrix row by row, to the coefficients of a message modulo t."""
    values = [0] * len(slots)
    for slot, index in zip(slots, slot_indices(len(slots))):
        values[index] = slot % t
    return ntt.inverse(values, t)


def unbatch(message, t):
    values = ntt.forward(message, t)
    return [values[index] for index in slot_indices(len(message))]


def scalar(value, n, t):
    """The constant message, which has the same value in every slot, for any t."""
    return [value % t] + [0] * (n - 1)


def coefficients(values, n, t):
    """One value a coefficient: sums work place by place, products convolve; for any t."""
    return [value % t for value in values] + [0] * (n - len(values))


def embed(slots):
    """n/2 complex slots, each (real, imaginary), to the n real coefficients of m with m(zeta^(3^i)) = slot i.

    The transform is unitary up to a factor, so its inverse is its conjugate:
    m_j = 2/n * sum of Re(slot_i * zeta^(-3^i*j)).
    """
    n = 2 * len(slots)
    with localcontext() as context:
        context.prec = DIGITS
        powers = unit_powers(n)
        out = []
        for j in range(n):
            turns = [powers[pow(3, i, 2 * n) * j % (2 * n)] for i in range(n // 2)]
            total = sum(Decimal(x) * re + Decimal(y) * im for (x, y), (re, im) in zip(slots, turns))
            out.append(total * 2 / n)
        return out


def unembed(message):
    """The slots (real, imaginary) of a polynomial with real coefficients."""
    n = len(message)
    with localcontext() as context:
        context.prec = DIGITS
        powers = unit_powers(n)
        values = [Decimal(m.numerator) / m.denominator for m in map(Fraction, message)]
        slots = []
        for i in range(n // 2):
            turns = [powers[pow(3, i, 2 * n) * j % (2 * n)] for j in range(n)]
            slots.append(tuple(sum(m * turn[part] for m, turn in zip(values, turns)) for part in (0, 1)))
        return slots


def unit_powers(n):
    """zeta^0 ... zeta^(2n-1) as (real, imaginary), zeta = e^(pi*i/n), by halving the angle from pi down to pi/n."""
    cosine, sine = Decimal(-1), Decimal(0)
    for _ in range(n.bit_length() - 1):
        cosine, sine = ((1 + cosine) / 2).sqrt(), ((1 - cosine) / 2).sqrt()
    powers = [(Decimal(1), Decimal(0))]
    for _ in range(2 * n - 1):
        re, im = powers[-1]
        powers.append((re * cosine - im * sine, re * sine + im * cosine))
    return powers
