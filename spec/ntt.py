"""The number-theoretic transform: Coeff form (coefficients) to Eval form (values at the odd powers of psi).

Out[i] = a(psi^(2*brv(i) + 1)). In Eval form the product of R is the product of values, one by one.
See Longa-Naehrig, ePrint 2016/504, section 2; fast transforms there are this recursion, unrolled.
"""

from spec.primes import smallest_root


def bit_reverse(i, n):
    """brv: the log2(n) bits of i, read backwards."""
    out = 0
    for _ in range(n.bit_length() - 1):
        out, i = 2 * out + i % 2, i // 2
    return out


def evaluate(a, x, q):
    """a(x) mod q, by Horner's rule."""
    value = 0
    for coefficient in reversed(a):
        value = (value * x + coefficient) % q
    return value


def forward_by_definition(a, q):
    n = len(a)
    psi = smallest_root(n, q)
    return [evaluate(a, pow(psi, 2 * bit_reverse(i, n) + 1, q), q) for i in range(n)]


def forward(a, q):
    """The same in n*log2(n) multiplications: X^n + 1 is X^n - psi^n, since psi^n = -1."""
    n = len(a)
    return _split([x % q for x in a], n, smallest_root(n, q), n, q)


def inverse(values, q):
    """Eval form to Coeff form."""
    n = len(values)
    return [x * pow(n, -1, q) % q for x in _join(list(values), n, smallest_root(n, q), n, q)]


def _split(a, exponent, psi, n, q):
    """a mod X^m - psi^e becomes a mod X^(m/2) - psi^(e/2), then a mod X^(m/2) + psi^(e/2); m = 1 is a value."""
    if len(a) == 1:
        return a
    half, exponent = len(a) // 2, exponent // 2
    upper = [pow(psi, exponent, q) * x for x in a[half:]]
    left = [(x + y) % q for x, y in zip(a, upper)]
    right = [(x - y) % q for x, y in zip(a, upper)]
    return _split(left, exponent, psi, n, q) + _split(right, exponent + n, psi, n, q)


def _join(values, exponent, psi, n, q):
    """Undoes _split, up to a factor of 2 at each step."""
    if len(values) == 1:
        return values
    half, exponent = len(values) // 2, exponent // 2
    left = _join(values[:half], exponent, psi, n, q)
    right = _join(values[half:], exponent + n, psi, n, q)
    lower = [(x + y) % q for x, y in zip(left, right)]
    upper = [(x - y) * pow(psi, -exponent, q) % q for x, y in zip(left, right)]
    return lower + upper


def galois_permutation(n, g):
    """j for each i, so that X -> X^g on Eval form is out[i] = in[j]: 2*brv(j) + 1 = g*(2*brv(i) + 1) (mod 2n)."""
    exponents = [g * (2 * bit_reverse(i, n) + 1) % (2 * n) for i in range(n)]
    return [bit_reverse((exponent - 1) // 2, n) for exponent in exponents]
