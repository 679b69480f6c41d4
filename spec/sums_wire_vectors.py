"""Known answers of the bytes of a stream of sums: its header, windows, and an answer with its values."""

from spec import ed25519, sums
from spec.sample import Sampler
from spec.sums import Term
from spec.sums_wire import (HEADER, Channel, Head, Quantity, Stream, StreamPart, answer, counts, form, frame, header_id, key_id,
                            payload, sent_ticks, stream_id, top, values, window)

STREAM = Stream(
    "cellar", "tank", (1, 50), 6,
    # The middle of the first range lies between two multiples of its resolution; the second has the most steps that there are.
    [Channel("level", "cm", -2.5, 407.0, 0.1), Channel("flow", "l/s", -float(1 << 28), float(1 << 28), 0.25)],
    False,
    [StreamPart([Quantity("reading", [0], [], 0, 23), Quantity("reading", [1], [], 0, 45)], 11),
     StreamPart([Quantity("bins", [0], [-2000, -5, 100], 0, 12), Quantity("square", [0], [], 0, 36), Quantity("square", [1], [], 1, 41),
                 Quantity("square", [1], [], 2, 50), Quantity("product", [0, 1], [], 0, 58)], 2),
     StreamPart([Quantity("least", [0], [], 0, 23), Quantity("largest", [1], [], 0, 45)], 0)],
)


# Rounded readings of the windows: none, all, some, of the one reading that there is, and of no reading.
ROUNDED = [[0, 0], [3, 3], [2, 0], [0, 1], [0, 0]]


# A counter of five digits, which may rise by 60,000 a tick: some falls are decided, others in doubt.
FLAGS = Stream(
    "cellar", "meter", (1, 50), 6, [Channel("energy", "kWh", 0.0, 99_999.0, 1.0, 60_000.0), Channel("level", "cm", 0.0, 300.0, 0.5)], False,
    [StreamPart([Quantity("reading", [0], [], 0, 24), Quantity("reading", [1], [], 0, 20)], 0),
     StreamPart([Quantity("changes", [1], [], 0, 12), Quantity("product", [0, 1], [], 0, 40)], 1),
     StreamPart([Quantity("first", [0], [], 0, 24), Quantity("last", [0], [], 0, 24), Quantity("increase", [0], [], 0, 28),
                 Quantity("doubt", [0], [], 0, 28), Quantity("falls", [0], [], 0, 12), Quantity("last", [1], [], 0, 20)], 0)],
)


def heads_with_flags(salts):
    """A piece of an open window; a window in the place of two; one that names a receipt; all at once; one without a reading."""
    every, none = [set(range(6))] * 2, [{}, {}]
    start = 1_795_000_000_000
    yield Head(4, salts[0], 4, start, 6, [{0, 1}, {0}], none, [], False, None, True)
    yield Head(300, salts[0], 5, start, 6, every, none, [], False, ([4, 260], [0, 1]))
    yield Head(301, salts[0], 6, start + 120, 6, every, none, [], False, None, False, (299, 7))
    yield Head(302, salts[1], 0, start + 240, 4, [{0, 2, 3}, {1}], [{}, {3: 2}], [], True, ([301], [1]), True, (305, 1 << 40))
    yield Head(303, salts[1], 1, start + 360, 3, [set(), set()], none, [], False, ([302], [0]))


def heads(salts, rounded):
    all_ticks = set(range(6))
    yield Head(0, salts[0], 0, 1_795_000_000_000, 6, [all_ticks, all_ticks], [{}, {}], rounded[0], False)
    yield Head(1, salts[0], 1, 1_795_000_000_120, 3, [set(range(3))] * 2, [{}, {}], rounded[1], False)
    yield Head(300, salts[0], 297, -5, 6, [{0, 2, 3}, {0, 1}], [{}, {0: 1, 10: 65535}], rounded[2], True)
    yield Head(301, salts[1], 0, 0, 5, [set(), {4}], [{1: 2}, {}], rounded[3], False)
    yield Head(302, salts[1], 1, 1, 4, [set(), set()], [{}, {}], rounded[4], False)


def case(name, counts_rounded):
    return case_of(name, STREAM._replace(rounded=counts_rounded),
                   lambda salts: heads(salts, ROUNDED if counts_rounded else [[]] * 5))


def told_flags(head):
    return {name: value for name, value in head._asdict().items() if name in ("replaces", "provisional", "receipt") and value}


def case_of(name, stream, heads_of):
    random = Sampler(name)
    secret, signing = (random.random.randbytes(32) for _ in range(2))
    salts = [random.random.randbytes(12) for _ in range(2)]
    keys = sums.stream_keys(secret, stream_id(stream))
    told, names, parts_of, terms_of = [], [], [], [[] for _ in stream.parts]
    tops = [top(channel) for channel in stream.channels]
    weights = [3, -2, 1, 5, -1]
    for head, weight in zip(heads_of(salts), weights):
        readings = [{tick: random.random.randint(-most, most) for tick in sorted(ticks)} for most, ticks in zip(tops, head.presence)]
        sent, parts = window(stream, secret, head, readings, signing)
        start = sums.start_keys(secret, stream_id(stream), head.salt)
        for part, terms in zip(stream.parts, terms_of):
            present = [value is not None for value in values(stream, part, head, readings)]
            assert len(counts(part, head)) == sums.counts_of(form(stream, part), sent_ticks(head))
            terms.append(Term(start, head.number, present, sent_ticks(head), weight))
        values_of = [values(stream, part, head, readings) for part in stream.parts]
        slots = [[column.get(tick) for tick in range(sent_ticks(head))] for column in readings]
        told.append({"message": sent.hex(), "weight": weight, "number": head.number, "sequence": head.sequence,
                     "readings": slots, "values": values_of} | ({"rounded": head.rounded} if stream.rounded else {}) | told_flags(head))
        names.append((head.salt, head.number))
        parts_of.append(parts)
    totals = [sums.add(form(stream, part), [parts[at] for parts in parts_of], weights) for at, part in enumerate(stream.parts)]
    asked = [(0, 5, 6, [(0, totals[0]), (2, totals[2])]), (0, 5, 6, [(1, totals[1])])]
    opened = [sums.open_sum(form(stream, part), keys, at, terms, total)
              for at, (part, terms, total) in enumerate(zip(stream.parts, terms_of, totals))]
    return {"secret": secret.hex(), "verifying_key": ed25519.public(signing).hex(), "tops": tops, "stream_id": stream_id(stream).hex(),
            "key_id": key_id(keys).hex(), "header_id": header_id(stream, keys).hex(),
            "header": frame(HEADER, payload(stream, keys)).hex(), "windows": told,
            "asked": [[part for part, _ in parts] for *_, parts in asked],
            "answer": answer(stream, keys, names, asked).hex(), "opened": opened}


def sums_wire_files():
    yield "sums-wire", case("sums wire", False)
    yield "sums-wire-rounded", case("sums wire rounded", True)
    yield "sums-wire-flags", case_of("sums wire flags", FLAGS, heads_with_flags)
