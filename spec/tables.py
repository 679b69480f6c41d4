"""Tables as polynomials modulo t, and counts from power sums (docs/concepts/comparisons.md), by their definitions."""

from spec.sample import Sampler


def lagrange(points, place, t):
    """Coefficients, that of x^0 first, of the polynomial that is 1 at points[place] and 0 at the other points."""
    coefficients, scale = [1], 1
    for other, y in enumerate(points):
        if other != place:
            shifted = [0] + coefficients
            coefficients = [(a - y * b) % t for a, b in zip(shifted, coefficients + [0])]
            scale = scale * (points[place] - y) % t
    inverse = pow(scale, -1, t)
    return [c * inverse % t for c in coefficients]


def interpolate(first, values, t):
    """Coefficients of the polynomial of degree below len(values) that is values[i] at first + i."""
    points = range(first, first + len(values))
    bases = [lagrange(points, place, t) for place in range(len(points))]
    return [sum(v * base[k] for v, base in zip(values, bases)) % t for k in range(len(values))]


def evaluate(coefficients, x, t):
    return sum(c * x**k for k, c in enumerate(coefficients)) % t


def power_sums(values, steps, t):
    """S_k = the sum of x^k over all values, for k below the number of steps."""
    return [sum(x**k for x in values) % t for k in range(steps)]


def counts(first, sums, t):
    """How often each of len(sums) steps from `first` on occurs: the sum over k of l_k S_k, l as in `lagrange`."""
    points = range(first, first + len(sums))
    return [sum(c * s for c, s in zip(lagrange(points, place, t), sums)) % t for place in range(len(points))]


CASES = [(0, 16, 97), (-20, 81, 65537), (1000, 64, 65537), (-128, 256, 65537), (3, 2, 17)]


def table_values(first, steps, t):
    """A threshold, an even function, and any values."""
    points = range(first, first + steps)
    middle = 2 * first + steps - 1
    yield [int(x > first + steps // 3) for x in points]
    yield [abs(2 * x - middle) % t for x in points]
    yield Sampler(f"table {first} {steps} {t}").below(steps, t)


def table_cases():
    for first, steps, t in CASES:
        for values in table_values(first, steps, t):
            coefficients = interpolate(first, values, t)
            yield {"first": first, "modulus": t, "values": values, "coefficients": coefficients}
