"""A bundle is read as it was written, and no part of one or changed one is."""

import unittest

from spec import blake3
from spec.bundle import Bundle, bundle_files, read, write
from spec.transcripts import Refused


class BundleTests(unittest.TestCase):
    def test_a_bundle_comes_back(self):
        kinds = [(bytes(32), None, ()), (bytes(32), b"", ()), (bytes(32), b"PEM", ()), (None, None, (b"key", b"")), (None, b"PEM", (b"key",))]
        for secret, authority, keys in kinds:
            bundle = Bundle(secret, bytes([7]) * 32, "http://h:1", authority, b"{}", keys)
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

    def test_numbers_of_public_keys_are_bounded(self):
        head = b"sottokey" + bytes([1, 7, 0]) + bytes(32 + 4 + 4)
        for count, length, refused in ((1, 3, False), (0, 3, True), (2, 3, True), (65, 3, True), (1, 4, True), (1, 2 ** 32 - 1, True)):
            body = head + count.to_bytes(4, "little") + length.to_bytes(4, "little") + b"key"
            data = body + blake3.digest(body)
            if refused:
                self.assertRaises(Refused, read, data)
            else:
                self.assertEqual(read(data).public_keys, (b"key",))
        for keys in ((), (b"",) * 65):
            self.assertRaises(Refused, write, Bundle(None, bytes(32), "", None, b"{}", keys))

    def test_the_known_answers_are_bundles(self):
        (_, content), = bundle_files()
        for case in content["cases"]:
            bundle = read(bytes.fromhex(case["bytes"]))
            secret = bundle.secret and bundle.secret.hex()
            self.assertEqual((bundle.cloud, secret, bundle.profile.hex()), (case["cloud"], case["secret"], case["profile"]))
            self.assertEqual([key.hex() for key in bundle.public_keys], case["public_keys"])
