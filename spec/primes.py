"""Primes p = 1 (mod 2n), default chains, and the root psi that a transform is made from.

With these primes X^n + 1 splits into linear factors, as the number-theoretic transform requires
(Longa-Naehrig, ePrint 2016/504, section 2.1). The top-down choice of CKKS primes follows the idea of
Kim-Papadimitriou-Polyakov (ePrint 2020/1118): let the scale of a level follow from the primes.
"""

from functools import lru_cache

WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


def is_prime(p):
    """Miller-Rabin; with these witnesses there is no liar below 3.3 * 10^24 (Sorenson-Webster, 2015)."""
    if p < 2:
        return False
    for w in WITNESSES:
        if p % w == 0:
            return p == w
    odd, twos = p - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for w in WITNESSES:
        x = pow(w, odd, p)
        if x in (1, p - 1):
            continue
        if not any((x := x * x % p) == p - 1 for _ in range(twos - 1)):
            return False
    return True


def next_prime(start, step, used=()):
    """The first unused prime among start, start + step, start + 2*step, ...; step may be negative."""
    p = start
    while p in used or not is_prime(p):
        p += step
        if p < 2:
            raise ValueError("no prime left")
    return p


def largest_prime(n, bound, used=()):
    """The largest unused prime p = 1 (mod 2n) with p <= bound."""
    return next_prime(bound - (bound - 1) % (2 * n), -2 * n, used)


def nearest_prime(n, numerator, denominator, used=()):
    """The unused prime p = 1 (mod 2n) nearest to numerator/denominator; the smaller one at a tie."""
    floor = numerator // denominator
    start = floor - (floor - 1) % (2 * n)
    candidates = (next_prime(start, -2 * n, used), next_prime(start + 2 * n, 2 * n, used))
    return min(candidates, key=lambda p: (abs(p * denominator - numerator), p))


def chain(n, special_bits, data_bits):
    """The default chain of BFV and BGV: (special primes, data primes), each entry of the lists a number of bits.

    Primes of b bits walk downwards from 2^b; the special primes take the largest, then q_0, q_1, ...
    """
    used = []
    for bits in special_bits + data_bits:
        used.append(largest_prime(n, 1 << bits, used))
    return used[:len(special_bits)], used[len(special_bits):]


def ckks_chain(n, special_bits, base_bits, scale_bits, count):
    """The default chain of CKKS: (special primes, data primes, scales), `count` scale primes above q_0.

    Top down: Delta_L = Delta = 2^scale_bits, q_l is the prime nearest to Delta_l^2 / Delta, and
    Delta_(l-1) = Delta_l^2 / q_l, so that rescaling a product lands exactly on the scale of the next level.
    `scales[l]` is Delta_l as (numerator, denominator): a power of two over odd primes, so always in lowest terms. The
    fractions double in length with every level; past 2^21 bits they are cut to 4096, some 4000 more than any use needs.
    """
    delta = 1 << scale_bits
    scales, scale_primes = [(delta, 1)], []
    for _ in range(count):
        numerator, denominator = (part * part for part in scales[0])
        q = nearest_prime(n, numerator, delta * denominator, scale_primes)
        scale_primes.insert(0, q)
        scales.insert(0, shortened(numerator, denominator * q))
    used = list(scale_primes)
    for bits in special_bits + [base_bits]:
        used.append(largest_prime(n, (1 << bits) - (1 << (bits - 10)), used))
    special, base = used[count:-1], used[-1:]
    return special, base + scale_primes, scales


def shortened(numerator, denominator, limit=1 << 21, kept=4096):
    if denominator.bit_length() <= limit:
        return numerator, denominator
    return (numerator << kept) // denominator, 1 << kept


def scale_match(scales, data, start, end):
    """Delta_end * q_(end+1) / Delta_start to the nearest integer: a product with it and one rescale lead from the scale of
    level start to that of the lower level end."""
    numerator = scales[end][0] * data[end + 1] * scales[start][1]
    denominator = scales[end][1] * scales[start][0]
    return (2 * numerator + denominator) // (2 * denominator)


@lru_cache(maxsize=None)
def smallest_root(n, q):
    """psi: the numerically smallest x with x^n = -1 (mod q), a primitive 2n-th root of unity."""
    candidates = (pow(x, (q - 1) // (2 * n), q) for x in range(2, q))
    root = next(x for x in candidates if pow(x, n, q) == q - 1)
    smallest, power, square = root, root, root * root % q
    for _ in range(n - 1):
        power = power * square % q
        smallest = min(smallest, power)
    return smallest
