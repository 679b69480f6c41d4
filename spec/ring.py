"""R = Z[X]/(X^n + 1), by definition: a polynomial is the list of its n coefficients, constant first.

Ring-LWE is defined over this ring modulo q (Lyubashevsky-Peikert-Regev, ePrint 2012/230).
"""


def centred(x, modulus):
    """The representative of x nearest to zero; for an even modulus the half itself is taken negative."""
    return (x + modulus // 2) % modulus - modulus // 2


def add(a, b):
    return [x + y for x, y in zip(a, b)]


def multiply(a, b):
    """Schoolbook product over the integers; X^n = -1 wraps with a change of sign."""
    n = len(a)
    out = [0] * n
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            if i + j < n:
                out[i + j] += x * y
            else:
                out[i + j - n] -= x * y
    return out


def automorphism(a, g):
    """a(X^g), g odd: coefficient i moves to place g*i mod 2n, and place n + j means minus place j."""
    n = len(a)
    out = [0] * n
    for i, x in enumerate(a):
        place = g * i % (2 * n)
        out[place % n] = x if place < n else -x
    return out


def galois_element(n, step):
    """The g of a rotation by `step` slots, positive to the left: slot generator 3."""
    return pow(3, step if step > 0 else n // 2 + step, 2 * n)


def row_swap(n):
    """The g that swaps the two rows of a batch, and conjugates the slots of CKKS."""
    return 2 * n - 1
