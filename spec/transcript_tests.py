"""BLAKE3 and Ed25519 against known answers; every byte of a signed statement counts."""

import unittest
from pathlib import Path

from spec import blake3, ed25519
from spec.transcript_vectors import CLOUD
from spec.transcripts import (Refused, Transcript, frame, head_fields, leaf, node, read_head, read_transcript, root, sign_head,
                              sign_transcript, StreamHead)

GOLDEN = Path(__file__).resolve().parent.parent / "conformance" / "vectors" / "golden"
CLOUDS = [ed25519.public(CLOUD)]


class DigestTests(unittest.TestCase):
    def test_blake3(self):
        """From the authors' test_vectors.json: input bytes count up modulo 251."""
        known = {0: "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
                 1: "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213",
                 1024: "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7",
                 1025: "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"}
        for length, expected in known.items():
            self.assertEqual(blake3.digest(bytes(i % 251 for i in range(length))).hex(), expected, length)

    def test_frames_end_in_their_digest(self):
        for path in GOLDEN.glob("*.bin"):
            data = path.read_bytes()
            if data[:4] == b"sott" and len(data) < 16384:
                self.assertEqual(blake3.digest(data[:-32]), data[-32:], path.name)

    def test_ed25519(self):
        """RFC 8032, section 7.1, tests 1 to 3."""
        for secret, key, message, signature in (
                ("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                 "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
                 "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"),
                ("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                 "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
                 "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"),
                ("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
                 "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
                 "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a")):
            secret, key, message, signature = map(bytes.fromhex, (secret, key, message, signature))
            self.assertEqual(ed25519.public(secret), key)
            self.assertEqual(ed25519.sign(secret, message), signature)
            self.assertTrue(ed25519.verify(key, message, signature))
            self.assertFalse(ed25519.verify(key, message + b"\0", signature))
            for at in (0, 31, 32, 63):
                other = signature[:at] + bytes([signature[at] ^ 1]) + signature[at + 1:]
                self.assertFalse(ed25519.verify(key, message, other), at)

    def test_ed25519_is_strict(self):
        """Refuses S above the order, and keys and R of small order, although the equation holds."""
        secret, message = bytes(32), b"strict"
        signature = ed25519.sign(secret, message)
        above = int.from_bytes(signature[32:], "little") + ed25519.ORDER
        self.assertFalse(ed25519.verify(ed25519.public(secret), message, signature[:32] + above.to_bytes(32, "little")))
        neutral = (1).to_bytes(32, "little")
        self.assertFalse(ed25519.verify(neutral, message, neutral + bytes(32)))


class StatementTests(unittest.TestCase):
    def test_trees(self):
        leaves = [leaf(bytes([i])) for i in range(7)]
        self.assertEqual(root([]), blake3.digest(b""))
        left = node(node(leaves[0], leaves[1]), node(leaves[2], leaves[3]))
        self.assertEqual(root(leaves), node(left, node(node(leaves[4], leaves[5]), leaves[6])))

    def test_every_byte_of_a_frame_counts(self):
        head = sign_head(StreamHead("d", "s", 1, leaf(b""), -5, CLOUDS[0]), CLOUD)
        transcript = sign_transcript(Transcript(1, bytes(32), bytes(16), bytes(32), None, 0, root([]), [bytes(32)], 7, CLOUDS[0]), CLOUD)
        for data, read in ((head, read_head), (transcript, read_transcript)):
            read(data)
            for at in range(len(data)):
                with self.assertRaises(Refused):
                    read(data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])
            # With a correct digest only the signature can fail.
            for at in range(16, len(data) - 32, 3):
                changed = data[16:at] + bytes([data[at] ^ 1]) + data[at + 1:-32]
                with self.assertRaises(Refused):
                    read(frame(data[5], changed))
            for changed in (data[16:-32] + b"\0", data[16:-33]):
                with self.assertRaises(Refused):
                    read(frame(data[5], changed))

    def test_heads_are_what_was_signed(self):
        head = StreamHead("d", "s", 2**64 - 1, leaf(b""), -5, CLOUDS[0])
        self.assertEqual(read_head(sign_head(head, CLOUD)), head)
        self.assertEqual(len(head_fields(head)), 2 + 2 + 8 + 32 + 8 + 32)


if __name__ == "__main__":
    unittest.main()
