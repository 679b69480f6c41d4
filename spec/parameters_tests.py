"""Tests of parameters on the wire against the golden files: objects of all kinds name the id."""

import unittest
from pathlib import Path

from spec import parameters

GOLDEN = Path(__file__).parent.parent / "conformance" / "vectors" / "golden"


class ParameterTests(unittest.TestCase):
    def test_objects_begin_with_the_id_of_their_parameters(self):
        for scheme in parameters.SCHEMES.values():
            found = parameters.read((GOLDEN / f"{scheme}-parameters.bin").read_bytes())
            self.assertEqual(parameters.SCHEMES[found.scheme], scheme)
            name = parameters.parameter_id(found)
            for kind in ("seeded", "public-key", "evaluation-keys"):
                frame = (GOLDEN / f"{scheme}-{kind}.bin").read_bytes()
                self.assertEqual(frame[16:48], name, (scheme, kind))

    def test_every_number_counts(self):
        found = parameters.read((GOLDEN / "bfv-parameters.bin").read_bytes())
        others = [
            found._replace(scheme=3),
            found._replace(degree=2 * found.degree),
            found._replace(special=[], data=found.special + found.data),
            found._replace(digit=found.digit + 1),
            found._replace(plain=found.plain + 1),
        ]
        self.assertEqual(len({parameters.parameter_id(one) for one in [found, *others]}), 6)
