"""Tests of `tables` against the functions that the polynomials stand for."""

import unittest

from spec import tables
from spec.sample import Sampler


class TableTests(unittest.TestCase):
    def test_polynomials_are_their_tables(self):
        for first, steps, t in tables.CASES[:3]:
            for values in tables.table_values(first, steps, t):
                coefficients = tables.interpolate(first, values, t)
                found = [tables.evaluate(coefficients, first + i, t) for i in range(steps)]
                self.assertEqual(found, [v % t for v in values])

    def test_counts_follow_from_power_sums(self):
        for first, steps, t in tables.CASES[:3]:
            values = [first + x for x in Sampler(f"counts {first} {steps}").below(60, steps)]
            found = tables.counts(first, tables.power_sums(values, steps, t), t)
            self.assertEqual(found, [values.count(x) for x in range(first, first + steps)])
