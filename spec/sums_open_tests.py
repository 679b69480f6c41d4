"""Windows of sums with bins are opened from their bytes alone, and no forged one is."""

import unittest

from spec import sums_open
from spec.sums_wire_vectors import FLAGS, STREAM, case, case_of, heads_with_flags


class OpenTests(unittest.TestCase):
    def setUp(self):
        self.case = case("sums wire", False)
        self.secret, self.key, header = (bytes.fromhex(self.case[name]) for name in ("secret", "verifying_key", "header"))
        self.stream = sums_open.read_header(header)

    def open(self, message):
        return sums_open.open_window(self.stream, self.secret, self.key, message)

    def test_windows_with_bins_are_opened(self):
        bins = [quantity.edges for part in self.stream.parts for quantity in part[1] if quantity.kind == "bins"]
        self.assertEqual(bins, [quantity.edges for part in STREAM.parts for quantity in part.quantities if quantity.kind == "bins"])
        self.assertTrue(bins)
        for window in self.case["windows"]:
            opened = self.open(bytes.fromhex(window["message"]))
            self.assertEqual((opened["number"], opened["sequence"]), (window["number"], window["sequence"]))
            self.assertEqual(opened["parts"], window["values"])
            # A bin has the readings from its edge up to the next; together they have all.
            first = [reading for reading in window["readings"][0] if reading is not None]
            edges = bins[0]
            counted = [sum(sum(edge <= reading for edge in edges) == at for reading in first) for at in range(len(edges) + 1)]
            self.assertEqual(opened["parts"][1][:len(edges) + 1], counted if first else [None] * len(counted))

    def test_windows_with_all_flags_and_quantities_are_opened(self):
        made = case_of("sums wire flags", FLAGS, heads_with_flags)
        secret, key, header = (bytes.fromhex(made[name]) for name in ("secret", "verifying_key", "header"))
        stream, seen = sums_open.read_header(header), set()
        for told in made["windows"]:
            opened = sums_open.open_window(stream, secret, key, bytes.fromhex(told["message"]))
            self.assertEqual(opened["parts"], told["values"])
            for name in ("replaces", "provisional", "receipt"):
                flag = told.get(name)
                seen |= {name} if flag else set()
                self.assertEqual(opened[name] or None, flag)
            first, last, _, doubt, falls, _ = opened["parts"][2]
            readings = [q for q in told["readings"][0] if q is not None]
            self.assertEqual((first, last), (readings[0], readings[-1]) if readings else (None, None))
            seen |= {"falls"} if falls else set()
            seen |= {"doubt"} if doubt else set()
        self.assertEqual(seen, {"replaces", "provisional", "receipt", "falls", "doubt"})

    def test_no_forged_window_is_opened(self):
        message = bytes.fromhex(self.case["windows"][0]["message"])
        # The signature, the last tag, and the bodies before it.
        for before_end in (1, 64, 68, 80, 100, 120, 140):
            forged = bytearray(message)
            forged[-before_end] ^= 1
            with self.assertRaises(Exception):
                self.open(bytes(forged))
