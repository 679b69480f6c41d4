"""Expansion returns the message for every form of the body; results can be separated."""

import unittest

from spec import encode, encrypt, expand, ring
from spec.expand import FOLDED, WHOLE, Kept
from spec.sample import Sampler
from spec.scheme_tests import exact_parties, real_parties


def forms(n):
    """Every kind with few places and with all; for the largest ring, which is slow, one of each."""
    if n > 16:
        return [Kept(WHOLE, 8), Kept(FOLDED, 4)]
    return [Kept(WHOLE, k) for k in (4, 8, n // 2, n) if k <= n] + [Kept(FOLDED, k) for k in (2, 4, n // 2) if k <= n // 2]


def galois_keys(party, kept):
    n = party.scheme.degree
    return {step: party.galois(expand.element(n, step)) for step in expand.steps(n, kept)}


class ExpansionTests(unittest.TestCase):
    def fresh(self, party, message, secret=None, seed=None):
        r, n = party.random, party.scheme.degree
        return encrypt.encrypt_with_secret(party.scheme, message, secret or party.secret, seed or r.seed(), r.error(n))

    def test_what_travels_is_a_power_of_two(self):
        for kept, n, values, spacing, steps in (
            (Kept(WHOLE, 4), 16, 2, 4, [4, 2]), (Kept(WHOLE, 16), 16, 8, 1, []),
            (Kept(FOLDED, 2), 16, 2, 4, [0, 4, 2]), (Kept(FOLDED, 8), 16, 8, 1, [0]),
        ):
            self.assertEqual((kept.values, kept.spacing(n), expand.steps(n, kept)), (values, spacing, steps))

    def test_a_whole_message_of_any_coefficients(self):
        """For any t, with or without slots: k coefficients at multiples of X^(n/k)."""
        for party in exact_parties():
            n, t = party.scheme.degree, party.scheme.plain_modulus
            for kept in (kept for kept in forms(n) if kept.kind == WHOLE):
                message = [0] * n
                message[::kept.spacing(n)] = party.random.below(kept.places, t)
                fresh = self.fresh(party, message)
                self.assertEqual(len(expand.sent(fresh, kept)), kept.places)
                expanded = expand.expand(party.scheme, fresh, kept, galois_keys(party, kept))[-1]
                self.assertEqual(party.decrypt(expanded), message)

    def test_a_folded_message_of_any_coefficients(self):
        """Odd t; the coefficients of X^j and X^(n-j) are each other's negatives, and half of each is encrypted."""
        for party in exact_parties():
            n, t = party.scheme.degree, party.scheme.plain_modulus
            if t % 2 == 0:
                continue
            for kept in (kept for kept in forms(n) if kept.kind == FOLDED):
                message, spacing = [0] * n, kept.spacing(n)
                for j, value in enumerate(party.random.below(kept.places, t)):
                    message[j * spacing] = value
                    if j:
                        message[n - j * spacing] = -value % t
                fresh = self.fresh(party, expand.halves(message, t))
                self.assertEqual(len(expand.sent(fresh, kept)), kept.places)
                expanded = expand.expand(party.scheme, fresh, kept, galois_keys(party, kept))[-1]
                self.assertEqual(party.decrypt(expanded), message)

    def test_repeated_values_are_such_messages(self):
        for n, t in ((8, 17), (16, 257), (64, 257)):
            for kept in forms(n):
                values = Sampler(f"repeated {n} {t}").below(kept.values, t)
                whole = encode.batch(expand.repeated(values, n), t)
                self.assertEqual([c for i, c in enumerate(whole) if i % kept.spacing(n) and c], [])
                self.assertEqual([x % t for x in ring.automorphism(whole, ring.row_swap(n))], whole)
                doubled = 2 if kept.kind == FOLDED else 1
                self.assertEqual([doubled * x % t for x in expand.message(values, kept, n, t)], whole)

    def test_real_messages(self):
        for party in real_parties():
            n = party.scheme.degree
            for kept in (kept for kept in forms(n) if kept.values <= n // 2):
                values = party.random.thousandths(kept.values)
                fresh = self.fresh(party, expand.message(values, kept, n))
                expanded = expand.expand(party.scheme, fresh, kept, galois_keys(party, kept))[-1]
                for (re, im), value in zip(encode.unembed(party.decrypt(expanded)), expand.repeated(values, n // 2)):
                    self.assertAlmostEqual(float(re), value, places=7)
                    self.assertAlmostEqual(float(im), 0, places=7)

    def test_results_side_by_side(self):
        for party in exact_parties():
            n, t = party.scheme.degree, party.scheme.plain_modulus
            kept = Kept(WHOLE, 4)
            keys, messages, expanded = galois_keys(party, kept), [], []
            for _ in range(min(kept.spacing(n), 4)):
                message = [0] * n
                message[::kept.spacing(n)] = party.random.below(kept.places, t)
                messages.append(message)
                expanded.append(expand.expand(party.scheme, self.fresh(party, message), kept, keys)[-1])
            decrypted = party.decrypt(expand.together(expanded))
            self.assertEqual([expand.part(decrypted, kept, i) for i in range(len(messages))], messages)

    def symmetric(self, party, kept):
        """A message in X^spacing that X -> X^-1 does not change."""
        n, t = party.scheme.degree, party.scheme.plain_modulus
        message, spacing = [0] * n, kept.spacing(n)
        for j, value in enumerate(party.random.below(kept.values, t)):
            message[j * spacing] = value
            if j:
                message[n - j * spacing] = -value % t
        return message


if __name__ == "__main__":
    unittest.main()
