"""Each scheme: decrypted results equal the same computation on messages; key switching against its big-integer meaning."""

import unittest
from dataclasses import replace
from fractions import Fraction
from math import prod

from spec import encode, encrypt, evaluate, keyswitch, primes, reduced, ring
from spec.bfv import Bfv
from spec.bgv import Bgv
from spec.ckks import Ckks
from spec.sample import Sampler


class Party:
    """A scheme, its keys and two encrypted messages, from one generator."""

    def __init__(self, scheme, slots, message, seed=1):
        self.scheme, self.random = scheme, Sampler(seed)
        n, digits = scheme.degree, len(scheme.digits(scheme.top_level))
        r = self.random
        self.secret = r.ternary(n)
        self.slots = [slots(r), slots(r)]
        self.messages = [message(values) for values in self.slots]
        self.public = encrypt.public_key(scheme, self.secret, r.seed(), r.error(n))
        self.left = encrypt.encrypt_with_secret(scheme, self.messages[0], self.secret, r.seed(), r.error(n))
        errors = [r.error(n), r.error(n)]
        self.right = encrypt.encrypt_with_public(scheme, self.messages[1], self.public, r.ternary(n), errors)
        self.errors = [r.error(n) for _ in range(digits)]
        self.relinearisation = keyswitch.relinearisation_key(scheme, self.secret, r.seed(), self.errors)

    def galois(self, g):
        return keyswitch.galois_key(self.scheme, self.secret, g, self.random.seed(), self.errors)

    def decrypt(self, ciphertext):
        return encrypt.decrypt(self.scheme, ciphertext, self.secret)

    def product(self):
        product = evaluate.multiply(self.scheme, self.left, self.right)
        return evaluate.relinearise(self.scheme, product, self.relinearisation)


def exact_parties():
    """BFV and BGV: prime and composite t, small and large primes, digits of one and of two primes, no special primes."""
    for n, special, data, t in ((8, [36], [32] * 3, 1000), (16, [40], [40] * 3, 257), (16, [60] * 2, [55] * 4, 65537),
                                (64, [40] * 2, [40] * 3, 65537), (16, [40], [40] * 3, 2), (16, [], [45] * 3, 257)):
        for kind in (Bfv, Bgv):
            special_primes, data_primes = (tuple(part) for part in primes.chain(n, special, data))
            scheme = kind(n, special_primes, data_primes, t)
            yield Party(scheme, lambda r: r.below(n, t), list)


def real_parties():
    for n, special, base, scale, count in ((16, [45], 45, 40, 2), (64, [45] * 2, 45, 40, 2), (16, [60] * 2, 60, 50, 3)):
        scheme = Ckks.build(n, special, base, scale, count)
        yield Party(scheme, lambda r: r.thousandths(n // 2), lambda slots: encode.embed([(x, 0) for x in slots]))


class SchemeTests(unittest.TestCase):
    def each_exact(self):
        for party in exact_parties():
            with self.subTest(party.scheme.name, degree=party.scheme.degree, t=party.scheme.plain_modulus):
                yield party, party.scheme.plain_modulus

    def each_real(self):
        for party in real_parties():
            with self.subTest("ckks", degree=party.scheme.degree):
                yield party

    def test_exact_messages(self):
        for party, t in self.each_exact():
            self.assertEqual(party.decrypt(party.left), party.messages[0])
            self.assertEqual(party.decrypt(party.right), party.messages[1])
            total = [x % t for x in ring.add(*party.messages)]
            self.assertEqual(party.decrypt(evaluate.add(party.left, party.right)), total)

    def test_exact_products(self):
        for party, t in self.each_exact():
            expected = [x % t for x in ring.multiply(*party.messages)]
            three = evaluate.multiply(party.scheme, party.left, party.right)
            self.assertEqual(party.decrypt(three), expected)
            product = party.product()
            for count in (0, 1, 2) if prod(party.scheme.data[:1]) > t << 20 else (0, 1):
                dropped = evaluate.drop(party.scheme, product, count) if count else product
                self.assertEqual(party.decrypt(dropped), expected)

    def test_bfv_product_does_not_depend_on_the_auxiliary_primes(self):
        class Roomier(Bfv):
            def auxiliary_primes(self, basis):
                return tuple(primes.chain(self.degree, [], [50] * 6)[1])

        party = next(p for p in exact_parties() if p.scheme.name == "bfv" and p.scheme.degree == 16)
        scheme = party.scheme
        roomier = Roomier(scheme.degree, scheme.special, scheme.data, scheme.plain_modulus)
        operands = party.left.components, party.right.components
        self.assertEqual(scheme.tensor(*operands), roomier.tensor(*operands))

    def test_bfv_product_by_big_integers(self):
        """Over the integers: t/Q times the tensor of the centred components, rounded."""
        party = next(p for p in exact_parties() if p.scheme.name == "bfv" and p.scheme.degree == 16)
        t, product = party.scheme.plain_modulus, prod(party.scheme.data)
        (l0, l1), (r0, r1) = ([c.integers() for c in x.components] for x in (party.left, party.right))
        tensor = [ring.multiply(l0, r0), ring.add(ring.multiply(l0, r1), ring.multiply(l1, r0)), ring.multiply(l1, r1)]
        for component, exact in zip(party.scheme.tensor(party.left.components, party.right.components), tensor):
            rounded = [(2 * t * x + product) // (2 * product) for x in exact]
            self.assertEqual(component.integers(), [ring.centred(x, product) for x in rounded])

    def test_exact_rotations(self):
        for party, t in self.each_exact():
            for g in (3, ring.galois_element(party.scheme.degree, -1), ring.row_swap(party.scheme.degree)):
                key = party.galois(g)
                expected = [x % t for x in ring.automorphism(party.messages[0], g)]
                for ciphertext in (party.left, evaluate.drop(party.scheme, party.left)):
                    rotated = evaluate.apply_galois(party.scheme, ciphertext, g, key)
                    self.assertEqual(party.decrypt(rotated), expected)

    def test_exact_reductions(self):
        """The selected coefficients of a lifted answer give the message; no coefficient changes by more than two roundings times the error factor."""
        for party, t in self.each_exact():
            scheme, n = party.scheme, party.scheme.degree
            modulus, width = prod(scheme.data), t.bit_length() + 12
            for spacing, count in ((1, 1), (4, 1), (8, 3)):
                body, mask = reduced.reduce_ciphertext(scheme, party.left, width, spacing, count)
                read = reduced.exponents(n, spacing, count)
                self.assertEqual((len(body), len(mask)), (len(read), n))
                components = reduced.lift_ciphertext(scheme, party.left.level, body, mask, width, spacing, count)
                found = party.decrypt(replace(party.left, components=components))
                self.assertEqual([found[i] for i in read], [party.messages[0][i] for i in read])
                moved = (components[1] - party.left.components[1]).integers()
                self.assertTrue(all(x % scheme.error_factor == 0 for x in moved))
                limit = scheme.error_factor * (Fraction(modulus, 2 << width) + Fraction(1, 2))
                self.assertLessEqual(max(abs(x) for x in moved), limit)

    def test_bgv_factor(self):
        scheme, t = Bgv(16, *(tuple(part) for part in primes.chain(16, [40], [40] * 3)), 257), 257
        party = Party(scheme, lambda r: r.below(16, t), list)
        dropped = evaluate.drop(scheme, party.left)
        self.assertEqual(dropped.factor, pow(scheme.data[2], -1, t))
        phase = encrypt.phase(scheme, dropped, party.secret).integers()
        self.assertEqual([x % t for x in phase], [dropped.factor * m % t for m in party.messages[0]])
        with self.assertRaises(ValueError):
            evaluate.add(party.left, dropped)

    def test_real_messages(self):
        for party in self.each_real():
            (x, y), n = party.slots, party.scheme.degree
            self.assert_slots(party, party.left, x)
            self.assert_slots(party, evaluate.add(party.left, party.right), [a + b for a, b in zip(x, y)])
            expected = [a * b for a, b in zip(x, y)]
            product = party.product()
            self.assert_slots(party, product, expected)
            self.assert_slots(party, evaluate.drop(party.scheme, product), expected)
            rotated = evaluate.rotate(party.scheme, party.left, -1, party.galois(ring.galois_element(n, -1)))
            self.assert_slots(party, rotated, x[-1:] + x[:-1])

    def assert_slots(self, party, ciphertext, expected):
        slots = encode.unembed(party.decrypt(ciphertext))
        for (real, imaginary), value in zip(slots, expected):
            self.assertAlmostEqual(float(real), value, places=7)
            self.assertAlmostEqual(float(imaginary), 0, places=7)

    def test_key_switching(self):
        """The phase of a switched ciphertext is x*s' plus noise that P has divided."""
        for party in list(exact_parties())[:8] + list(real_parties()):
            scheme, target = party.scheme, ring.automorphism(party.secret, 3)
            key = party.galois(3)
            for level in range(scheme.top_level + 1):
                basis = scheme.basis(level)
                poly = party.left.components[1].over(basis)
                digits = keyswitch.decompose(scheme, poly, level)
                for digit, own in zip(digits, scheme.digits(level)):
                    self.assertEqual(digit.over(own).limbs, poly.over(own).limbs)
                    self.assertLessEqual(max(abs(x) for x in digit.integers()), prod(own) * Fraction(501, 1000))
                c0, c1 = keyswitch.switch(scheme, poly, key, level)
                secret = c1.from_integers(party.secret, basis)
                noise = (c0 + c1 * secret - poly * c1.from_integers(target, basis)).integers()
                f = scheme.error_factor
                self.assertTrue(all(x % f == 0 for x in noise))
                self.assertLess(max(abs(x) for x in noise), 2**20 * f)


if __name__ == "__main__":
    unittest.main()
