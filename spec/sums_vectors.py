"""Known answers of sums without a lattice: windows with gaps, of several lengths, parts, starts and widths, and a sum of them."""

from spec import sums
from spec.sample import Sampler
from spec.sums import Form, Place, Term

# For each case: the form, the part, and for each window its start, pad number, ticks, whether it has gaps, and weight.
READING, COUNT, SIGNED = Place(23, 0, 4095), Place(12, 0, 24), Place(27, -40000, 25000)
CASES = [
    (Form([], [READING], 1, 1, 16), 0, [(0, 0, 16, False, 1), (0, 1, 16, False, 1), (0, 2, 16, False, 1)]),
    (Form([], [Place(32, 0, (1 << 22) - 1)], 1, 1, 25), 1, [(0, 7, 24, True, 1), (0, 8, 23, False, 2), (1, 0, 25, True, 1)]),
    (Form([COUNT] * 5, [], 1, 0, 0), 2, [(0, 3, 0, False, 1), (1, 3, 0, False, 10), (1, 2**64 - 1, 0, False, 1)]),
    (Form([COUNT, Place(33, 0, 1 << 20)], [SIGNED, READING, Place(50, 0, 1 << 40)], 2, 3, 12), 3,
     [(0, 11, 12, True, 3), (1, 5, 7, True, -2), (0, 10, 9, False, 1), (1, 6, 12, True, -5)]),
    (Form([Place(1, 0, 1), Place(60, -(1 << 58), 1 << 58)], [Place(60, 0, 1 << 59), Place(31, -1, 1), Place(32, 0, 9)], 1, 0, 3), 2**32 - 1,
     [(1, 9, 3, False, 1)]),
    (Form([], [Place(width, -1, 1) for width in (2, 7, 8, 9, 16, 17, 31, 32, 33, 47, 48, 59, 60)], 1, 13, 4), 0,
     [(0, 2**32, 4, True, 1)]),
]


def window_of(form, window, random):
    start, number, ticks, gaps, weight = window
    present = [not gaps or random.below(1, 5)[0] > 0 for _ in sums.places(form, ticks)]
    values = [random.random.randint(place.least, place.most) if there else None
              for place, there in zip(sums.places(form, ticks), present)]
    # Values at the ends of the ranges, too.
    for at, end in ((0, "least"), (-1, "most")):
        if values[at] is not None:
            values[at] = getattr(sums.places(form, ticks)[at], end)
    counts = [1] + random.below(sums.counts_of(form, ticks) - 1, 2)
    return values, counts


def sums_cases():
    for at, (form, part, windows) in enumerate(CASES):
        random = Sampler(f"sums {at}")
        secret, stream = (random.random.randbytes(32) for _ in range(2))
        salts = [random.random.randbytes(12) for _ in range(2)]
        keys, starts = sums.stream_keys(secret, stream), [sums.start_keys(secret, stream, salt) for salt in salts]
        parts, terms, told = [], [], []
        for window in windows:
            start, number, ticks, _, weight = window
            values, counts = window_of(form, window, random)
            sent = sums.encrypt(form, keys, starts[start], number, part, values, counts)
            parts.append(sent)
            terms.append(Term(starts[start], number, [value is not None for value in values], ticks, weight))
            told.append({"start": start, "number": number, "ticks": ticks, "weight": weight, "values": values, "counts": counts,
                         "body": sums.pack(form, sent.body).hex(), "tag": sums.pack_tag(sent.tag).hex()})
        total = sums.add(form, parts, [term.weight for term in terms])
        longest = max(term.ticks for term in terms)
        yield {"secret": secret.hex(), "stream": stream.hex(), "salts": [salt.hex() for salt in salts], "part": part,
               "once": form.once, "tick": form.tick, "counts_once": form.counts_once, "counts_tick": form.counts_tick,
               "ticks": form.ticks, "keys": {"pads": [start.pads.hex() for start in starts],
                                             "tag_pads": [start.tag_pads.hex() for start in starts],
                                             "tag_key": keys.tag.hex(), "count_key": keys.count.hex()},
               "tag_residues": [sums.residue(keys.tag, 0, part, p) for p in range(len(sums.places(form, longest)))],
               "count_residues": [sums.residue(keys.count, 0, part, c) for c in range(sums.counts_of(form, longest))],
               "windows": told,
               "sum": {"ticks": longest, "body": sums.pack(form, total.body).hex(), "counts": total.counts,
                       "tag": sums.pack_tag(total.tag).hex(), "opened": sums.open_sum(form, keys, part, terms, total)}}


def sums_files():
    yield "sums", {"cases": list(sums_cases())}
