"""The mathematics against its big-integer meaning, and against answers known elsewhere. Schemes: scheme_tests.py."""

import unittest
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import log2, prod

from spec import chacha, encode, ntt, packing, primes, ring, rns, xof
from spec.bundle_tests import BundleTests  # noqa: F401  (one command runs all)
from spec.expand_tests import ExpansionTests  # noqa: F401  (one command runs all)
from spec.parameters_tests import ParameterTests  # noqa: F401  (one command runs all)
from spec.poly import Poly
from spec.sample import Sampler
from spec.scheme_tests import SchemeTests  # noqa: F401  (one command runs all)
from spec.sign_tests import SignTests  # noqa: F401  (one command runs all)
from spec.sums_open_tests import OpenTests  # noqa: F401  (one command runs all)
from spec.sums_tests import SumTests  # noqa: F401  (one command runs all)
from spec.table_tests import TableTests  # noqa: F401  (one command runs all)
from spec.text import render
from spec.transcript_tests import DigestTests, StatementTests  # noqa: F401  (one command runs all)
from spec.vectors import FOLDER, chain_cases, files

LIMITS = {1024: 26, 2048: 53, 4096: 106, 8192: 214, 16384: 430, 32768: 868, 65536: 1747}  # ePrint 2024/463, table 5.2


@lru_cache(maxsize=None)
def contents():
    """The contents of the vector files, by name."""
    return dict(files())


class PrimeTests(unittest.TestCase):
    def test_is_prime(self):
        sieve = [p for p in range(2, 2000) if all(p % d for d in range(2, int(p**0.5) + 1))]
        self.assertEqual([p for p in range(2000) if primes.is_prime(p)], sieve)
        self.assertTrue(primes.is_prime((1 << 61) - 1))
        self.assertFalse(primes.is_prime(3215031751))  # a strong pseudoprime to bases 2, 3, 5, 7

    def test_known_chains(self):
        self.assertEqual(primes.chain(8192, [40], [40]), ([0xfffffdc001], [0xfffff4c001]))
        for n, t in ((1024, 1038337), (4096, 1032193), (16384, 786433)):
            self.assertEqual(primes.largest_prime(n, 1 << 20), t)

    def test_smallest_roots(self):
        self.assertEqual(primes.smallest_root(8, 17), 3)
        known = {0xffffee001: 24250113, 0xffffc4001: 29008497, 0x1ffffe0001: 8625844, 1032193: 194}
        for q, psi in known.items():
            self.assertEqual(primes.smallest_root(4096, q), psi)

    def test_smallest_root_by_search(self):
        for q in (97, 193, 257, 7681):
            self.assertEqual(primes.smallest_root(16, q), next(x for x in range(q) if pow(x, 16, q) == q - 1))

    def test_shortened_fractions_lose_nothing_that_is_read(self):
        special, data, scales = primes.ckks_chain(64, [60], 60, 40, 12)
        short = [primes.shortened(*scale, 1024, 512) for scale in scales]
        self.assertNotEqual(short, scales)
        for exact, cut in zip(scales, short):
            self.assertLess(abs(Fraction(*exact) - Fraction(*cut)), Fraction(1, 2**512))
        for start, end in ((12, 0), (5, 4), (7, 2)):
            exact = Fraction(*scales[end]) * data[end + 1] / Fraction(*scales[start])
            self.assertLessEqual(abs(primes.scale_match(short, data, start, end) - exact), Fraction(1, 2))

    def test_ckks_chain_is_top_down(self):
        special, data, scales = primes.ckks_chain(64, [45, 45], 45, 40, 4)
        every = special + data
        self.assertEqual(len(set(every)), len(every))
        self.assertEqual(special + data[:1], sorted(special + data[:1], reverse=True))
        self.assertLessEqual(special[0], 2**45 * (1 - Fraction(1, 2**10)))
        for level in range(4, 0, -1):
            scale = Fraction(*scales[level])
            self.assertEqual(scale * scale / data[level], Fraction(*scales[level - 1]))
            ideal = scale * scale / 2**40
            distance = abs(data[level] - ideal)
            nearer = [p for p in range(round(ideal - distance), round(ideal + distance) + 1)
                      if p % 128 == 1 and abs(p - ideal) < distance and primes.is_prime(p)]
            self.assertLessEqual(set(nearer), set(data[level + 1:]))

    def test_limits_hold(self):
        for case in chain_cases():
            total = sum(log2(q) for q in case["special"] + case["data"])
            self.assertLessEqual(total, LIMITS[case["degree"]])


class TransformTests(unittest.TestCase):
    def test_known_transform(self):
        self.assertEqual(ntt.forward([1, 2, 3, 4, 5, 6, 7, 8], 17), [5, 0, 13, 8, 9, 11, 5, 8])

    def test_fast_is_the_definition(self):
        for n in (8, 16, 64):
            for bits in (26, 36, 50, 60):
                q = primes.largest_prime(n, 1 << bits)
                a = Sampler(n + bits).below(n, q)
                self.assertEqual(ntt.forward(a, q), ntt.forward_by_definition(a, q))
                self.assertEqual(ntt.inverse(ntt.forward(a, q), q), a)

    def test_product_of_values(self):
        n, basis = 16, tuple(primes.chain(16, [], [50, 50, 50])[1])
        a, b = Sampler(1).below(n, 1 << 60), Sampler(2).below(n, 1 << 60)
        product = Poly.from_integers(a, basis) * Poly.from_integers(b, basis)
        self.assertEqual(product.integers(), ring.multiply(a, b))

    def test_automorphisms(self):
        n, q = 16, primes.largest_prime(16, 1 << 30)
        a = Sampler(3).below(n, q)
        for g in range(1, 2 * n, 2):
            moved = ring.automorphism(a, g)
            self.assertEqual(Poly.from_integers(a, (q,)).automorphism(g).limbs[0], ntt.forward(moved, q))


class ResidueTests(unittest.TestCase):
    def test_lift_is_centred(self):
        for count in (1, 2, 3, 8):
            basis = tuple(primes.chain(16, [], [60] * count)[1])
            product = prod(basis)
            for x in Sampler(count).below(50, product):
                lifted = rns.lift(rns.residues(x, basis), basis)
                self.assertEqual(lifted % product, x)
                self.assertLessEqual(abs(lifted), product * (Fraction(1, 2) + Fraction(count, 2**24)))
                if abs(abs(ring.centred(x, product)) - product // 2) > product >> 21:
                    self.assertEqual(lifted, ring.centred(x, product))

    def test_division(self):
        basis = tuple(primes.chain(16, [], [40] * 4)[1])
        for dropped in (basis[-1:], basis[-2:], basis[:1], basis[:2]):
            divisor, kept = prod(dropped), tuple(q for q in basis if q not in dropped)
            for t in (None, 2, 257, 65537, 1000, 1000003):
                for x in Sampler(5).below(20, prod(basis)):
                    out = rns.integer(rns.divide(rns.residues(x, basis), basis, dropped, t), kept)
                    delta = x - out * divisor
                    bound = Fraction(divisor, 2) * (1 if t is None else t + 1)
                    self.assertLessEqual(abs(ring.centred(delta, prod(basis))), bound * (1 + Fraction(1, 2**20)))
                    self.assertEqual(rns.remainder(rns.residues(x, dropped), dropped, t) % (t or 1), 0)


class SeedTests(unittest.TestCase):
    def test_aes(self):
        """FIPS 197, appendix C.1; SP 800-38A, F.5.1, first counter block."""
        out = xof.encrypt_block(xof.expand_key(bytes(range(16))), bytes.fromhex("00112233445566778899aabbccddeeff"))
        self.assertEqual(out.hex(), "69c4e0d86a7b0430d8cdb78070b4c55a")
        keys = xof.expand_key(bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c"))
        out = xof.encrypt_block(keys, bytes(range(0xF0, 0x100)))
        self.assertEqual(out.hex(), "ec8cdf7398607cb0f2d21675ea9ea1e4")

    def test_rejects_are_drawn_again(self):
        q = primes.next_prime((1 << 28) + 1, 32)
        seed = bytes(range(24))
        plain = xof.take(xof.stream(seed, 0, 0, 3), 4 * 64)
        words = [int.from_bytes(plain[4 * i:4 * i + 4], "little") % (1 << 29) for i in range(64)]
        out = xof.uniform_limb(seed, 0, 3, q, 64)
        kept = [i for i in range(64) if words[i] < q]
        self.assertTrue(16 < len(kept) < 48)
        self.assertTrue(all(out[i] == words[i] for i in kept))
        self.assertTrue(all(x < q for x in out))


class ChachaTests(unittest.TestCase):
    def test_chacha(self):
        """RFC 8439, 2.3.2; eight rounds: draft-strombergson-chacha-test-vectors-01, TC1 with 256 bits."""
        out = chacha.block(bytes(range(32)), 1, bytes.fromhex("000000090000004a00000000"), 20)
        self.assertEqual(out[:16].hex(), "10f1e7e4d13b5915500fdd1fa32071c4")
        out = chacha.block(bytes(32), 0, bytes(12), 8)
        self.assertEqual(out[:16].hex(), "3e00ef2f895f40d67f5bb8e81f09a5a1")


class EncodingTests(unittest.TestCase):
    def test_slot_indices(self):
        self.assertEqual(encode.slot_indices(8), [0, 4, 1, 5, 7, 3, 6, 2])
        self.assertEqual(encode.slot_indices(16), [0, 8, 2, 11, 1, 9, 3, 10, 15, 7, 13, 4, 14, 6, 12, 5])

    def test_batching(self):
        n, t = 16, 257
        slots = Sampler(7).below(n, t)
        message = encode.batch(slots, t)
        psi = primes.smallest_root(n, t)
        self.assertEqual(slots[2], ntt.evaluate(message, pow(psi, 9, t), t))
        self.assertEqual(slots[8 + 1], ntt.evaluate(message, pow(psi, -3, t), t))
        self.assertEqual(encode.unbatch(message, t), slots)
        self.assertEqual(encode.unbatch(encode.scalar(5, n, t), t), [5] * n)
        rotated = [x % t for x in ring.automorphism(message, ring.galois_element(n, -1))]
        self.assertEqual(encode.unbatch(rotated, t), slots[7:8] + slots[:7] + slots[15:] + slots[8:15])
        swapped = [x % t for x in ring.automorphism(message, ring.row_swap(n))]
        self.assertEqual(encode.unbatch(swapped, t), slots[8:] + slots[:8])

    def test_embedding(self):
        slots = [(Decimal(i), Decimal(3 - i) / 8) for i in range(8)]
        message = [Fraction(m) for m in encode.embed(slots)]
        self.assert_near(encode.unembed(message), slots)
        self.assert_near(encode.unembed(ring.automorphism(message, 3)), slots[1:] + slots[:1])
        conjugated = ring.automorphism(message, ring.row_swap(16))
        self.assert_near(encode.unembed(conjugated), [(x, -y) for x, y in slots])

    def assert_near(self, left, right):
        for a, b in zip(left, right):
            self.assertTrue(all(abs(x - y) < Decimal("1e-40") for x, y in zip(a, b)), (a, b))

    def test_rounding_is_clear(self):
        """The error of a transform in floats must be smaller than the distance of every coefficient from a half."""
        for case in contents()["encode"]["embedding"]:
            scaled = [x * 2 ** case["scale_bits"] for x in encode.embed([(x, 0) for x in case["slots"]])]
            self.assertTrue(all(abs(x - c) < 0.493 for x, c in zip(scaled, case["coefficients"])))

    def test_packing(self):
        q = primes.largest_prime(16, 1 << 37)
        limb = Sampler(8).below(16, q)
        data = packing.pack_limb(limb, q)
        self.assertEqual(len(data), 74)
        self.assertEqual(packing.unpack_limb(data, q, 16), limb)


class VectorTests(unittest.TestCase):
    def test_files_are_current(self):
        for name, content in contents().items():
            self.assertEqual((FOLDER / f"{name}.json").read_text(), render(content) + "\n", name)

    def test_exact_stories(self):
        stories = contents()
        for case in stories["bfv"]["cases"] + stories["bgv"]["cases"]:
            t, left, right = case["plain_modulus"], case["left"]["message"], case["right"]["message"]
            product = [x % t for x in ring.multiply(left, right)]
            self.assertEqual(case["sum"]["message"], [x % t for x in ring.add(left, right)])
            for ciphertext in (case["product"], case["relinearised"]["ciphertext"], case["dropped"]):
                self.assertEqual(ciphertext["message"], product)
            for name, message in (("rotated", left), ("dropped_rotated", product)):
                moved = [x % t for x in ring.automorphism(message, 3)]
                self.assertEqual(case[name]["ciphertext"]["message"], moved)

    def test_real_stories(self):
        for case in contents()["ckks"]["cases"]:
            left, right = case["left"]["slots"], case["right"]["slots"]
            product = [x * y for x, y in zip(left, right)]
            for expected, ciphertext in (([x + y for x, y in zip(left, right)], case["sum"]),
                                         (product, case["relinearised"]["ciphertext"]), (product, case["dropped"]),
                                         (left[1:] + left[:1], case["rotated"]["ciphertext"]),
                                         (product[1:] + product[:1], case["dropped_rotated"]["ciphertext"])):
                for x, y in zip(expected, ciphertext["slots"]):
                    self.assertAlmostEqual(x, y, places=5)


if __name__ == "__main__":
    unittest.main()
