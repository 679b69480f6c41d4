"""Tests of the comparison's polynomials by the properties that define them."""

import unittest
from decimal import Decimal

from spec import sign

LEVELS = {3: 2, 5: 3, 7: 3}


class SignTests(unittest.TestCase):
    def test_lines_are_known(self):
        # The best odd line on [a, 1] misses by equally much at both ends.
        for a in (Decimal("0.5"), Decimal("0.01")):
            (slope,), error = sign.minimax(a, 1)
            self.assertAlmostEqual(slope, 2 / (1 + a), places=30)
            self.assertAlmostEqual(error, (1 - a) / (1 + a), places=30)

    def test_errors_alternate(self):
        # Chebyshev's criterion: k + 1 extrema of equal size and alternating sign prove k terms best.
        for a, degree in ((Decimal("0.1"), 7), (Decimal("0.004"), 5), (Decimal("0.3"), 3)):
            odd, error = sign.minimax(a, degree)
            found = [sign.value(odd, y) - 1 for y in sign.extrema(odd, a)]
            self.assertEqual(len(found), len(odd) + 1)
            for i, deviation in enumerate(found):
                self.assertLess(abs(deviation - error * (-1) ** (i + 1)), error * Decimal(10) ** -20)

    def test_stages_are_the_polynomials(self):
        for bits, degrees in ((4, (3, 5, 7)), (8, (7, 7))):
            polynomials, _, _ = sign.sequence(bits, degrees)
            found = [sign.Stage(*constants) for constants in sign.stages(polynomials)]
            for x in (-1.0, -0.3, 0.001, 0.7, 1.0):
                y = x
                for odd in polynomials:
                    y = sign.value([float(c) for c in odd], y)
                self.assertAlmostEqual(y, sign.result(found, x), places=11)

    def test_no_other_degrees_of_the_depth_are_better(self):
        for bits, chosen in ((4, (3, 3, 7)), (6, (7, 7, 7)), (8, (7, 7, 7, 7))):
            depth = sum(LEVELS[degree] for degree in chosen)
            best = min(errors(Decimal(2) ** -bits, depth, ()))
            self.assertEqual(best[1], chosen)
            self.assertIn((bits, chosen), sign.SEQUENCES)


def errors(a, depth, before):
    """The error of every composition on [a, 1] within the depth, and its degrees."""
    for degree, levels in LEVELS.items():
        if levels > depth:
            continue
        _, error = sign.minimax(a, degree)
        yield error, before + (degree,)
        yield from errors((1 - error) * sign.MARGIN / (1 + error), depth - levels, before + (degree,))
