"""A bundle is read as it was written, and no part of one or changed one is."""

import unittest

from spec import blake3
from spec.bundle import Bundle, bundle_files, read, write
from spec.transcripts import Refused


class BundleTests(unittest.TestCase):
    def test_a_bundle_comes_back(self):
        for authority in (None, b"", b"PEM"):
            bundle = Bundle(bytes(32), bytes([7]) * 32, "http://h:1", authority, b"{}")
            data = write(bundle)
            self.assertEqual(read(data), bundle)
            for end in range(len(data)):
                self.assertRaises(Refused, read, data[:end])
            for place in range(len(data)):
                self.assertRaises(Refused, read, data[:place] + bytes([data[place] ^ 1]) + data[place + 1:])

    def test_lengths_past_the_end_are_refused(self):
        head = b"sottokey" + bytes([1, 6, 0]) + bytes(64)
        for cloud, authority in ((5, 3), (2 ** 32 - 1, 3), (4, 4), (4, 2 ** 32 - 1)):
            body = head + cloud.to_bytes(4, "little") + b"http" + authority.to_bytes(4, "little") + b"PEM"
            self.assertRaises(Refused, read, body + blake3.digest(body))

    def test_the_known_answers_are_bundles(self):
        (_, content), = bundle_files()
        for case in content["cases"]:
            bundle = read(bytes.fromhex(case["bytes"]))
            self.assertEqual((bundle.cloud, bundle.secret.hex(), bundle.profile.hex()), (case["cloud"], case["secret"], case["profile"]))
