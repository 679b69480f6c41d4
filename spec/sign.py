"""The composite polynomials of approximate comparisons: odd polynomials whose composition is near the sign of its operand.

    python3 -m spec.sign            # prints the table as Rust
    python3 -m spec.sign --check    # compares the table in crates/circuits with it

p_1 is the minimax approximation of 1 on [gap, 1]; p_2 that on the image of [gap, 1] under p_1, scaled into [a_2, 1]; and so on. That is the best
composition of given degrees (Lee, Lee, Kim and No, IEEE TDSC 2022, ePrint 2020/834). Each p_i is found by Remez's exchange
algorithm in decimals of 60 digits.

A stage is kept in the form in which it is evaluated, without a product by a constant. With u = y^2 it is one of

    degree 3: y*(u + linear)      5: y*((u + shift)^2 + rest)      7: y*(u + linear)*((u + shift)^2 + rest)

which exists since a cubic in u has a real root, and completing the square removes the linear term of a quadratic factor. The leading
coefficient is 1 because y is scaled: stage i takes its operand in [-within_i, within_i], and the last one returns about +-1.
"""

import cmath
import math
import pathlib
import sys
from decimal import Decimal, getcontext

getcontext().prec = 60
TABLE = pathlib.Path(__file__).parent.parent / "crates/circuits/src/sign/coefficients.rs"
# gap = 2^-bits, and the degrees. Of all compositions of degrees 3, 5 and 7 the first of each gap has the least error at its depth; a further stage
# of degree 3 or 7 squares the error or better.
SEQUENCES = [
    (4, (3, 3, 7)),
    (4, (3, 3, 7, 3)),
    (6, (7, 7, 7)),
    (6, (7, 7, 7, 3)),
    (8, (7, 7, 7, 7)),
    (8, (7, 7, 7, 7, 3)),
    (12, (7, 7, 7, 7, 7)),
    (12, (7, 7, 7, 7, 7, 3)),
    (12, (7, 7, 7, 7, 7, 7)),
]
# A stage's largest value stays below the next stage's bound by this factor, for the rounding of the constants to f64.
MARGIN = Decimal(1) - Decimal(2) ** -30
# Growth is sampled and enlarged by this factor; a test in Rust proves it on whole intervals and their neighbourhood.
SAFETY = 1.25
# A neighbourhood reaches as far as changes the result by this much.
REACH = 1 / 24


def value(odd, y):
    """Sum of odd[k] * y^(2k+1)."""
    total = 0 * y
    for coefficient in reversed(odd):
        total = total * y * y + coefficient
    return total * y


def slope(odd, y):
    total = 0 * y
    for k in reversed(range(len(odd))):
        total = total * y * y + (2 * k + 1) * odd[k]
    return total


def solve(matrix, right):
    """Gauss's elimination with pivots."""
    rows, n = [row + [b] for row, b in zip(matrix, right)], len(matrix)
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(i + 1, n):
            factor = rows[r][i] / rows[i][i]
            rows[r] = [x - factor * p for x, p in zip(rows[r], rows[i])]
    found = [Decimal(0)] * n
    for i in reversed(range(n)):
        known = sum((rows[i][c] * found[c] for c in range(i + 1, n)), Decimal(0))
        found[i] = (rows[i][n] - known) / rows[i][i]
    return found


def extrema(odd, a):
    """a, the zeros of the derivative in (a, 1), and 1."""
    approximate = [float(c) for c in odd]
    steps = 1500
    grid = [float(a) * (1 / float(a)) ** (i / steps) for i in range(steps + 1)]
    signs = [slope(approximate, y) > 0 for y in grid]
    points = [a]
    for left, right, s, t in zip(grid, grid[1:], signs, signs[1:]):
        if s == t:
            continue
        low, high = Decimal(left), Decimal(right)
        for _ in range(100):
            middle = (low + high) / 2
            if (slope(odd, middle) > 0) == s:
                low = middle
            else:
                high = middle
        points.append(low)
    return points + [Decimal(1)]


def minimax(a, degree):
    """The odd polynomial nearest to 1 on [a, 1], and its error (Remez, C. R. Acad. Sci. 199, 1934)."""
    terms = (degree + 1) // 2
    # The Chebyshev extrema of the interval of y^2, roughly.
    cosines = [Decimal(i) / terms for i in range(terms + 1)]
    points = [a + (1 - a) * x * x * (3 - 2 * x) for x in cosines]
    for _ in range(60):
        matrix = [[y ** (2 * k + 1) for k in range(terms)] + [Decimal((-1) ** i)] for i, y in enumerate(points)]
        solution = solve(matrix, [Decimal(1)] * (terms + 1))
        odd = solution[:terms]
        points = extrema(odd, a)
        assert len(points) == terms + 1, "one extremum more than terms"
        errors = [abs(value(odd, y) - 1) for y in points]
        if max(errors) - min(errors) < max(errors) * Decimal(10) ** -25:
            break
    return odd, max(errors)


def sequence(bits, degrees):
    """The minimax polynomials on [gap, 1], [a_2, 1] and so on, each but the last scaled so that its largest value is MARGIN; gap, a_2, ...;
    and the last error."""
    a, polynomials, least, error = Decimal(2) ** -bits, [], [], None
    for index, degree in enumerate(degrees):
        least.append(a)
        odd, error = minimax(a, degree)
        if index + 1 < len(degrees):
            factor = MARGIN / (1 + error)
            odd = [c * factor for c in odd]
            a = (1 - error) * factor
        polynomials.append(odd)
    return polynomials, least, error


def root(x, degree):
    """The real root of odd degree, by Newton's method."""
    guess = Decimal(abs(float(x)) ** (1 / degree))
    for _ in range(8):
        guess -= (guess ** degree - abs(x)) / (degree * guess ** (degree - 1))
    return guess.copy_sign(x)


def monic_root(even):
    """The largest real zero of a cubic whose leading coefficient is 1."""
    at = lambda u: ((u + even[2]) * u + even[1]) * u + even[0]
    low, high = Decimal(0), Decimal(100)
    assert at(low) < 0 < at(high)
    for _ in range(220):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle) < 0 else (low, middle)
    return low


def stages(polynomials):
    """(within, linear, shift, rest) of each stage; the last first, as its output fixes the scale of its operand."""
    output, found = Decimal(1), []
    for odd in reversed(polynomials):
        degree = 2 * len(odd) - 1
        scale = root(odd[-1] * output, degree)
        # In y' = scale*y: odd[k]*output/scale^(2k+1).
        even = [c * output / scale ** (2 * k + 1) for k, c in enumerate(odd)]
        linear = square = None
        if degree == 3:
            linear = even[0]
        elif degree == 5:
            square = (even[1], even[0])
        else:
            zero = monic_root(even)
            linear = -zero
            # Division by u - zero.
            first = even[2] + zero
            square = (first, even[1] + zero * first)
        if square:
            shift = square[0] / 2
            square = (shift, square[1] - shift * shift)
        found.append((scale, linear, square))
        output = scale
    return found[::-1]


class Stage:
    """A stage with constants rounded to f64, as it is computed."""

    def __init__(self, scale, linear, square):
        self.scale = float(scale)
        self.linear = None if linear is None else float(linear)
        self.square = None if square is None else (float(square[0]), float(square[1]))

    def both(self, y):
        """Value and slope at y."""
        u = y * y
        result, derivative = y, 1.0
        if self.linear is not None:
            factor = u + self.linear
            derivative = derivative * factor + result * 2 * y
            result = result * factor
        if self.square is not None:
            shifted = u + self.square[0]
            factor = shifted * shifted + self.square[1]
            derivative = derivative * factor + result * 4 * y * shifted
            result = result * factor
        return result, derivative


def result(found, x):
    y = found[0].scale * x
    for stage in found:
        y = stage.both(y)[0]
    return y


def grid(least, steps):
    """Points of (0, 1], up to `least` and from it, dense at both ends."""
    inside = [least * i / steps for i in range(1, steps + 1)]
    outside = [least ** (1 - i / steps) for i in range(steps + 1)]
    end = [1 - 0.25 * 0.98**i for i in range(steps)]
    return inside, outside + end


def upwards(x):
    """A decimal of four digits that is at least x."""
    if x == 0:
        return "0.0"
    text = f"{x * 1.0006:.3e}"
    assert float(text) >= x
    return text


def tail(found, first, z):
    """|slope| at z of stage `first`, of it and the next one, and so on."""
    product, slopes = 1.0, []
    for stage in found[first:]:
        z, derivative = stage.both(z)
        product *= abs(derivative)
        slopes.append(product)
    return slopes


def composite(bits, degrees):
    polynomials, least, error = sequence(bits, degrees)
    found = [Stage(*constants) for constants in stages(polynomials)]
    gap = 2.0**-bits
    inside, outside = grid(gap, 2000)
    worst = max(abs(1 - result(found, x)) for x in outside)
    assert worst <= float(error) * (1 + 1e-6) + 1e-12
    inner = max(x * abs(1 - result(found, x)) for x in inside)
    growth, beyond, radius = [], [], []
    for i, stage in enumerate(found):
        below, above = ([abs(stage.scale) * y for y in part] for part in grid(float(least[i]), 600))
        at_rest = max(tail(found, i, y)[-1] for y in below + above)
        reach = REACH / (SAFETY * at_rest)
        around = [0.0] + [cmath.rect(reach, math.pi * k / 4) for k in range(8)]
        near = [tail(found, i, y + step) for y in above for step in around]
        beyond.append(SAFETY * max(slopes[-1] for slopes in near))
        near += [tail(found, i, y + step) for y in below for step in around]
        growth.append([SAFETY * max(slopes[j] for slopes in near) for j in range(len(found) - i)])
        radius.append(reach)
    return {
        "bits": bits,
        "stages": found,
        "error": max(worst, float(error)) * (1 + 2**-20),
        "inside": inner * 1.001,
        "least": [abs(stage.scale) * float(a) * (1 - (i + 1) * 2**-24) for i, (stage, a) in enumerate(zip(found, least))],
        "growth": growth,
        "beyond": beyond,
        "radius": radius,
    }


def rust_composite(c):
    lines = [
        "    Composite {",
        f"        gap_bits: {c['bits']},",
        f"        error: {upwards(c['error'])},",
        f"        inside: {upwards(c['inside'])},",
        "        stages: &[",
    ]
    for i, stage in enumerate(c["stages"]):
        linear = "None" if stage.linear is None else f"Some({stage.linear!r})"
        square = "None" if stage.square is None else f"Some(({stage.square[0]!r}, {stage.square[1]!r}))"
        growth = ", ".join(upwards(g) for g in c["growth"][i])
        lines += [
            "            Stage {",
            f"                scale: {stage.scale!r},",
            f"                linear: {linear},",
            f"                square: {square},",
            f"                least: {c['least'][i]!r},",
            f"                radius: {c['radius'][i]:.3e},",
            f"                growth: &[{growth}],",
            f"                beyond: {upwards(c['beyond'][i])},",
            "            },",
        ]
    return lines + ["        ],", "    },"]


def rust():
    lines = [
        "//! Written by `python3 -m spec.sign`; `cargo ci spec` compares it with that program's output.",
        "",
        "use super::{Composite, Stage};",
        "",
        "/// By gap, then by error, the largest first.",
        "#[rustfmt::skip]",
        "#[allow(clippy::unreadable_literal, clippy::excessive_precision)]",
        f"pub(super) static COMPOSITES: [Composite; {len(SEQUENCES)}] = [",
    ]
    for bits, degrees in SEQUENCES:
        lines += rust_composite(composite(bits, degrees))
    return "\n".join(lines + ["];"]) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        if TABLE.read_text(encoding="utf-8") != rust():
            sys.exit(f"{TABLE.name} differs from the output of `python3 -m spec.sign`")
        print("the table of the sign's polynomials is right")
    else:
        print(rust(), end="")
