"""BLAKE3 and Ed25519 against known answers; honest evidence holds, and every lie in evidence is found."""

import json
import tempfile
import unittest
from pathlib import Path

from spec import blake3, ed25519
from spec.evidence import columns, read_message, repeat, sums_frame, verify
from spec.transcript_vectors import CLOUD, DEVICES, one_device, two_devices, sums_case
from spec.transcripts import (Refused, Sum, Transcript, frame, frame_digest, head_fields, leaf, node, read_head, read_transcript,
                              root, sign_head, sign_transcript, StreamHead)

GOLDEN = Path(__file__).resolve().parent.parent / "conformance" / "vectors" / "golden"
CLOUDS = [ed25519.public(CLOUD)]
KEYS = {"boiler": [ed25519.public(DEVICES[0])], "pump-0": [ed25519.public(DEVICES[0])], "pump-1": [ed25519.public(DEVICES[1])]}


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


class EvidenceTests(unittest.TestCase):
    def test_golden_windows(self):
        """The window that the crates wrote has the signed header that they wrote."""
        read = {name: (GOLDEN / f"{name}.bin").read_bytes() for name in ("window-kept", "signed-window", "compact-envelope", "compact-ciphertext")}
        window, envelope = read_message(read["window-kept"]), read_message(read["compact-envelope"])
        self.assertEqual(window.signed_header, read["signed-window"])
        self.assertEqual((window.form, window.body), (envelope.form, envelope.body))
        key = ed25519.public(bytes([9]) * 32)
        for message in (window, envelope):
            self.assertTrue(ed25519.verify(key, message.signed_message, message.signature))

    def test_golden_sums(self):
        """Compares the columns of the whole sum, computed from the body alone."""
        message = read_message((GOLDEN / "window-kept.bin").read_bytes())
        once = sums_frame([message], [Sum((0, 1), (0, message.form.places), None)])
        self.assertEqual(once[-32 - len(message.body):-32], message.body)

    def test_weights_are_integers(self):
        messages, sums = one_device()
        read = [read_message(message) for message in messages]
        form, bodies = read[0].form, [columns(message.form, message.body) for message in read]
        answer, at = sums_frame(read, sums), -32 - (4 + 4) - 19
        (begin, count), (first, places), weights = sums[1]
        expected = [sum(weights[w * places + p] * bodies[begin + w][first + p] for w in range(count)) % 2**30 for p in range(places)]
        self.assertEqual(columns(form, answer[at:at + 19], places), expected)

    def test_honest_evidence_holds(self):
        for messages, sums in (one_device(), two_devices()):
            case = sums_case(messages, sums)
            repeat(bytes.fromhex(case["transcript"]), sums, messages, CLOUDS, KEYS)

    def test_every_lie_is_named(self):
        messages, sums = one_device()
        honest = bytes.fromhex(sums_case(messages, sums)["transcript"])
        signed = read_transcript(honest)

        def signed_with(**changes):
            return sign_transcript(signed._replace(**changes), CLOUD)

        unsigned = frame(messages[0][5], messages[0][16:-96] + bytes(64))
        changed = frame(messages[0][5], messages[0][16:-97] + bytes([messages[0][-97] ^ 1]) + messages[0][-96:-32])
        without = sums_case(messages[:3], [Sum((0, 3), (0, 24), None)])
        for name, transcript, given, asked in (
                ("other cloud", sign_transcript(signed._replace(cloud=ed25519.public(DEVICES[1])), DEVICES[1]), messages, sums),
                ("forged signature", frame(29, honest[16:-33] + bytes([honest[-33] ^ 1])), messages, sums),
                ("digest of a frame", honest[:-1] + bytes([honest[-1] ^ 1]), messages, sums),
                ("unsigned layout", honest, [unsigned] + messages[1:], sums),
                ("changed window", honest, [changed] + messages[1:], sums),
                ("other windows", honest, messages[1:] + messages[:1], sums),
                ("other windows", bytes.fromhex(without["transcript"]), messages, sums),
                ("other plan", honest, messages, sums[:2]),
                ("other plan", honest, messages, [sums[0]._replace(weights=[1] * 96)] + sums[1:]),
                ("other plan", signed_with(work=1), messages, sums),
                ("wrong key", signed_with(key=bytes(16)), messages, sums),
                ("forged answer", signed_with(outputs=[frame_digest(honest)]), messages, sums),
                ("forged answer", signed_with(outputs=signed.outputs * 2), messages, sums)):
            with self.assertRaisesRegex(Refused, f"^{name}$"):
                repeat(transcript, asked, given, CLOUDS, KEYS)
        with self.assertRaisesRegex(Refused, "changed window"):
            repeat(honest, sums, messages, CLOUDS, {"boiler": KEYS["pump-1"]})

    def test_a_folder(self):
        messages, sums = one_device()
        case = sums_case(messages, sums)
        names = [f"{at:032x}" for at in range(len(messages))]
        work = {"transcript": case["transcript"], "inputs": names, "sums": case["sums"], "evaluate_us": 1}
        other = {**work, "sums": case["sums"][:1]}
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            devices = {name: [key.hex() for key in keys] for name, keys in KEYS.items()}
            document = {"version": 1, "answer": "a", "question": "q", "cloud_keys": [CLOUDS[0].hex()], "devices": devices,
                        "evidence": {"work": [work, other], "plans": {}}}
            (folder / "evidence.json").write_text(json.dumps(document))
            (folder / "messages").mkdir()
            for name, message in zip(names, messages):
                (folder / "messages" / name).write_bytes(message)
            self.assertEqual(verify(folder), (2, [(1, "other plan")]))


if __name__ == "__main__":
    unittest.main()
