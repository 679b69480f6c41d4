"""Sums without a lattice: exact for any windows and weights, refused when forged, and no safer than their conditions."""

import unittest

from spec import chacha, sums
from spec.sample import Sampler
from spec.sums import Form, P, Part, Place, Refused, Term

SECRET, STREAM, SALT = bytes(range(32)), bytes(range(50, 82)), bytes(12)
KEYS, START = sums.stream_keys(SECRET, STREAM), sums.start_keys(SECRET, STREAM, SALT)
OTHER_START = sums.start_keys(SECRET, STREAM, bytes(11) + b"\1")
SMALL = Form([Place(6, 0, 1)], [Place(6, -1, 1)], 1, 1, 1)


class Case:
    """Windows of one form and their sum, honest."""

    def __init__(self, form, random, windows, part=0, prime=P, most_weight=3):
        self.form, self.part, self.prime, self.parts, self.terms, self.values = form, part, prime, [], [], []
        for at in range(windows):
            ticks = random.below(1, form.ticks + 1)[0] if form.tick else 0
            places = sums.places(form, ticks)
            values = [random.random.randint(place.least, place.most) if random.below(1, 4)[0] else None for place in places]
            start = (START, OTHER_START)[random.below(1, 2)[0]]
            counts = [1] + [1 if value is not None else 0 for value in values][:sums.counts_of(form, ticks) - 1]
            counts += [0] * (sums.counts_of(form, ticks) - len(counts))
            self.parts.append(sums.encrypt(form, KEYS, start, at, part, values, counts, prime))
            weight = random.random.randint(1, most_weight) * random.random.choice((-1, 1))
            self.terms.append(Term(start, at, [value is not None for value in values], ticks, weight))
            self.values.append(values)
        self.weights = [term.weight for term in self.terms]
        self.sum = sums.add(form, self.parts, self.weights, prime)

    def expected(self):
        longest = max(map(len, self.values))
        return [sum(weight * (values[p] or 0) for weight, values in zip(self.weights, self.values) if p < len(values))
                for p in range(longest)]

    def open(self, answer):
        return sums.open_sum(self.form, KEYS, self.part, self.terms, answer, self.prime)

    def accepts(self, answer):
        try:
            self.open(answer)
        except Refused:
            return False
        return True


def shifted(part, body=None, counts=None, tag=0):
    """A part with differences by place and by count, and one of its tag."""
    bodies = [value + (body or {}).get(p, 0) for p, value in enumerate(part.body)]
    return Part(bodies, [n + (counts or {}).get(c, 0) for c, n in enumerate(part.counts)], part.tag + tag)


class SumTests(unittest.TestCase):
    def test_sums_are_exact(self):
        """Any windows of two starts, weights of both signs, gaps, lengths, widths."""
        random = Sampler("exact")
        for _ in range(12):
            def place():
                width = random.random.randint(10, 60)
                half = 1 << width - 7
                return Place(width, -random.below(1, half)[0], random.below(1, half)[0])
            form = Form([place() for _ in range(2)], [place() for _ in range(2)], 2, 2, 5)
            case = Case(form, random, windows=5, part=random.below(1, 2**32)[0])
            self.assertTrue(sums.fits(form, case.weights))
            self.assertEqual(case.open(case.sum), case.expected())

    def test_the_largest_sum_that_fits(self):
        """(most - least)*sum|c| is 2^w - 1 with three windows of weight 5, for either sign; one more weight does not fit."""
        for least, most in ((0, 17), (-17, 0), (-9, 8)):
            form = Form([Place(8, least, most)], [], 1, 0, 0)
            for value in (least, most):
                for signs in ((1, 1, 1), (-1, -1, -1), (1, -1, 1)):
                    parts = [sums.encrypt(form, KEYS, START, at, 0, [value], [1]) for at in range(3)]
                    weights = [5 * sign for sign in signs]
                    terms = [Term(START, at, None, 0, weight) for at, weight in enumerate(weights)]
                    opened = sums.open_sum(form, KEYS, 0, terms, sums.add(form, parts, weights))
                    self.assertEqual(opened, [value * sum(weights)])
            self.assertTrue(sums.fits(form, [15]))
            self.assertFalse(sums.fits(form, [15, 1]))

    def test_one_forged_sum_in_p_passes(self):
        """P = 101: the answer is shifted at random, by a random difference of tags."""
        random, tries = Sampler("forged"), 4040
        case = Case(SMALL, random, windows=3, prime=101)
        passed = sum(case.accepts(self.forged(case, random, 101)) for _ in range(tries))
        self.assertTrue(case.accepts(case.sum))
        self.assertTrue(20 <= passed <= 62, passed)  # 40 on average, deviation 6.3

    def test_no_forged_sum_passes(self):
        """The real P: 2,000 whole openings, then 10^6 shifts as the equation that an opening checks."""
        random = Sampler("forged for real")
        case = Case(SMALL, random, windows=3)
        self.assertFalse(any(case.accepts(self.forged(case, random, P)) for _ in range(2000)))
        tags = [sums.residue(KEYS.tag, 0, 0, p) for p in range(len(case.sum.body))]
        draw = random.random.getrandbits
        passed = 0
        for _ in range(10**6):
            bits = draw(64)
            place, difference, tag = bits & 1, (bits >> 1 & 31) + 1, bits >> 6 & P
            passed += tags[place] * difference % P == tag
        self.assertEqual(passed, 0)

    def forged(self, case, random, prime):
        p = random.below(1, len(case.sum.body))[0]
        return shifted(case.sum, body={p: 1 + random.below(1, 5)[0]}, tag=random.below(1, prime)[0])

    def test_everything_is_bound(self):
        """A body, a count, a tag, a window left out, one twice, a weight, another part, another start: refused."""
        random = Sampler("bound")
        form = Form([Place(20, 0, 9)], [Place(20, -9, 9), Place(40, 0, 99)], 1, 2, 4)
        case = Case(form, random, windows=4)
        self.assertTrue(case.accepts(case.sum))
        wrong = [shifted(case.sum, body={0: 1}), shifted(case.sum, counts={0: -1}), shifted(case.sum, tag=1),
                 shifted(case.sum, counts={1: P}), sums.add(form, case.parts[:3] + case.parts[2:3], case.weights),
                 sums.add(form, case.parts, case.weights[:3] + [case.weights[3] + 1]), Part([0] * 3, [0], 0)]
        self.assertFalse(any(map(case.accepts, wrong)))
        for change in ({"number": 9}, {"start": sums.start_keys(SECRET, STREAM, b"another salt")}, {"weight": case.weights[0] + 1}):
            terms, case.terms = case.terms, [case.terms[0]._replace(**change)] + case.terms[1:]
            self.assertFalse(case.accepts(case.sum), change)
            case.terms = terms
        case.part = 1
        self.assertFalse(case.accepts(case.sum))

    def test_a_number_used_twice_gives_shifts_away(self):
        """Two windows under one number: their difference opens as part of every sum. Hence the conditions."""
        form = Form([], [Place(30, 0, 4095)], 1, 1, 2)
        first, second = (sums.encrypt(form, KEYS, START, 5, 0, values, [1, 1, 1]) for values in ([100, 7], [90, 9]))
        body = {p: x - y for p, (x, y) in enumerate(zip(first.body, second.body))}
        self.assertEqual([sums_centred(x, 30) for x in body.values()], [10, -2])
        honest = sums.encrypt(form, KEYS, START, 6, 0, [2000, 300], [1, 1, 1])
        terms = [Term(START, 6, None, 2, 1)]
        with self.assertRaises(Refused):
            sums.open_sum(form, KEYS, 0, terms, shifted(honest, body=body))
        moved = shifted(honest, body=body, tag=first.tag - second.tag)
        self.assertEqual(sums.open_sum(form, KEYS, 0, terms, moved), [2010, 298])

    def test_words_are_the_stream_of_rfc_8439(self):
        """Random access gives the bytes of the stream; a residue is 61 bits, all ones 0."""
        stream = chacha.stream(SECRET, (7).to_bytes(8, "little") + (3).to_bytes(4, "little"), 20)
        data = bytes(next(stream) for _ in range(256))
        for index in (0, 1, 15, 16, 17, 40, 63):
            self.assertEqual(sums.word(SECRET, 7, 3, index), int.from_bytes(data[4 * index:4 * index + 4], "little"))
        self.assertEqual(sums.residue(SECRET, 7, 3, 8), (int.from_bytes(data[64:72], "little") & (1 << 61) - 1) % P)
        self.assertEqual(sums.first_words(Form([Place(33, 0, 1)], [Place(32, 0, 1), Place(60, 0, 1)], 1, 0, 2), 2), [0, 2, 3, 5, 6])

    def test_bytes(self):
        form = Form([Place(13, 0, 1)], [Place(5, 0, 1), Place(47, 0, 1)], 1, 0, 2)
        body = [8191, 1, 1 << 46, 31, 5]
        data = sums.pack(form, body)
        self.assertEqual((len(data), sums.unpack(form, 2, data)), (15, body))
        for wrong in (data[:-1], data + b"\0", data[:-1] + bytes([data[-1] | 0x80])):
            with self.assertRaises(Refused):
                sums.unpack(form, 2, wrong)
        self.assertEqual(sums.unpack_tag(sums.pack_tag(P - 1)), P - 1)
        for wrong in (P.to_bytes(8, "little"), b"\xff" * 8, bytes(7)):
            with self.assertRaises(Refused):
                sums.unpack_tag(wrong)


def sums_centred(value, width):
    value %= 1 << width
    return value - (1 << width) if value >> (width - 1) else value
