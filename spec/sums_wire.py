"""Bytes of streams of sums (docs/concepts/wire.md, "Streams of sums"): header, window, answer."""

import struct
from collections import namedtuple
from fractions import Fraction
from math import ceil, copysign, floor, gcd

from spec import blake3, ed25519, sums
from spec.sums import Form, Place
from spec.transcripts import frame, name

HEADER, ANSWER = 32, 33
LOW = (1 << 30) - 1

# A reading is a whole number q of steps of the resolution from the middle of the range: see `top`.
# counter: the largest increase of a tick of a counter, 0 for none; None for another channel.
Channel = namedtuple("Channel", "name unit minimum maximum resolution counter", defaults=(None,))
# kind: a name of CODES; digit 0: the value, 1: its low 30 bits, 2: the rest.
Quantity = namedtuple("Quantity", "kind columns edges digit width")
StreamPart = namedtuple("StreamPart", "quantities reasons")
# rounded: True if windows count the readings that were rounded.
Stream = namedtuple("Stream", "device stream period ticks channels rounded parts")
# presence: for each column the ticks with a reading; left_out: for each column a dictionary from a reason's number to a count; rounded:
# for each column the number of readings that were rounded, of a stream that counts them. replaces: the numbers of other windows and
# the columns whose readings are replaced; provisional: True for a piece of an open window; receipt: number and position of a window.
Head = namedtuple("Head", "sequence salt number start ticks presence left_out rounded generated replaces provisional receipt",
                  defaults=(None, False, None))

ROUNDED, KINDS = 1 << 14, 1 << 15
CODES = {"reading": 1, "square": 2, "product": 3, "bins": 4, "least": 5, "largest": 6, "first": 7, "last": 8, "increase": 9,
         "doubt": 10, "changes": 11, "falls": 14}
COUNTER = 2


def text(string):
    data = string.encode()
    return bytes([len(data)]) + data


def varint(value):
    out = b""
    while value >= 0x80:
        out, value = out + bytes([value & 0x7f | 0x80]), value >> 7
    return out + bytes([value])


def zigzag(value):
    return 2 * value if value >= 0 else -2 * value - 1


def centre(channel):
    """The reading of q = 0: the multiple of the resolution nearest to the middle of the range, ties away from 0."""
    steps = (channel.minimum / 2 + channel.maximum / 2) / channel.resolution
    return copysign(floor(Fraction(abs(steps)) + Fraction(1, 2)), steps) * channel.resolution


def top(channel):
    """The largest |q|."""
    furthest = max(channel.maximum - centre(channel), centre(channel) - channel.minimum)
    # Slightly less: an end that is a multiple of the resolution takes no further step by rounding.
    return max(1, ceil(furthest / channel.resolution - 1e-6))


def is_once(quantity):
    return CODES[quantity.kind] >= 4


def turn(channel):
    """Steps of a counter from its minimum to where it begins again: at a power of ten or of two within a unit above its maximum,
    otherwise a step above."""
    end = floor(channel.maximum) + 1
    is_power = end in [10 ** e for e in range(16)] + [2 ** e for e in range(1, 53)]
    return round(((end if is_power else channel.maximum + channel.resolution) - channel.minimum) / channel.resolution)


def increases(channel, readings):
    """Increase, doubt and falls of a counter over some readings, a dictionary from ticks to q."""
    lowest = round((channel.minimum - centre(channel)) / channel.resolution)
    most_of_tick = max(1, round(channel.counter / channel.resolution)) if channel.counter else 0
    total = [0, 0, 0]
    for (before_tick, before), (tick, q) in zip(list(readings.items()), list(readings.items())[1:]):
        if q >= before:
            total[0] += q - before
            continue
        total[2] += 1
        # It began again at the minimum, or passed the end.
        again, passed = q - lowest, q - before + turn(channel)
        if not most_of_tick:
            total[0] += again
            continue
        smaller, larger = sorted([again, passed])
        total[0] += smaller
        if not smaller <= most_of_tick * (tick - before_tick) < larger:
            total[1] += larger - smaller
    return total


def facts(stream):
    """All of a header but its key's id."""
    numerator, denominator = stream.period
    assert numerator > 0 and denominator > 0 and gcd(numerator, denominator) == 1
    assert 1000 * numerator % denominator == 0, "the period has whole milliseconds"
    kinds = any(channel.counter is not None for channel in stream.channels)
    out = name(stream.device) + name(stream.stream)
    out += struct.pack("<IIIH", numerator, denominator, stream.ticks, len(stream.channels) | ROUNDED * stream.rounded | KINDS * kinds)
    for channel in stream.channels:
        out += text(channel.name) + text(channel.unit) + struct.pack("<ddd", *channel[2:5])
        if channel.counter is not None:
            # Of several readings at a tick the last one counts.
            out += struct.pack("<BBd", COUNTER, 1, channel.counter)
        elif kinds:
            out += b"\0"
    out += bytes([len(stream.parts)])
    for part in stream.parts:
        out += struct.pack("<BH", part.reasons, len(part.quantities))
        for quantity in part.quantities:
            out += struct.pack("<B", CODES[quantity.kind]) + b"".join(struct.pack("<H", column) for column in quantity.columns)
            if quantity.kind == "bins":
                out += struct.pack("<H", len(quantity.edges)) + b"".join(struct.pack("<q", edge) for edge in quantity.edges)
            out += bytes([quantity.digit, quantity.width])
    return out


def stream_id(stream):
    return blake3.derive_key("sotto 2026 sums stream v1", facts(stream))


def key_id(keys):
    return blake3.derive_key("sotto 2026 sums key id v1", keys.tag + keys.count)[:16]


def payload(stream, keys):
    return key_id(keys) + facts(stream)


def header_id(stream, keys):
    return blake3.derive_key("sotto 2026 sums header v1", payload(stream, keys))


def digit_of(digit, value):
    return (value, value & LOW, value >> 30)[digit]


def place(stream, quantity):
    """The place of a quantity: its bits and the range of its values."""
    tops = [top(stream.channels[column]) for column in quantity.columns]
    x, y = tops[0], tops[-1]
    if quantity.kind in ("reading", "least", "largest", "first", "last"):
        least, most = -x, x
    elif quantity.kind in ("bins", "changes", "falls"):
        least, most = 0, stream.ticks
    elif quantity.kind in ("increase", "doubt"):
        channel = stream.channels[quantity.columns[0]]
        is_possible = quantity.kind == "increase" or channel.counter
        least, most = 0, turn(channel) * stream.ticks if is_possible else 0
    else:
        least, most = -x * y if quantity.kind == "product" else 0, x * y
    if quantity.digit == 1:
        return Place(quantity.width, 0, LOW)
    return Place(quantity.width, digit_of(quantity.digit, least), digit_of(quantity.digit, most))


def form(stream, part):
    """The form of a part: each quantity has a count of its own, once or by tick."""
    once = [quantity for quantity in part.quantities if is_once(quantity)]
    tick = [quantity for quantity in part.quantities if not is_once(quantity)]
    assert part.quantities == once + tick
    places = [place(stream, quantity) for quantity in once for _ in range(len(quantity.edges) + 1)]
    counts = 1 + len(once) + part.reasons * len(stream.channels)
    return Form(places, [place(stream, quantity) for quantity in tick], counts, len(tick), stream.ticks)


def sent_ticks(head):
    return max((max(ticks) + 1 for ticks in head.presence if ticks), default=0)


def once_of(stream, quantity, readings):
    """The value of a quantity that a window has once and that has one place. readings: a dictionary from ticks to q, not empty."""
    inside, channel = list(readings.values()), stream.channels[quantity.columns[0]]
    if quantity.kind in ("increase", "doubt", "falls"):
        return increases(channel, readings)[("increase", "doubt", "falls").index(quantity.kind)]
    if quantity.kind == "changes":
        return sum(before != q for before, q in zip(inside, inside[1:]))
    return {"least": min(inside), "largest": max(inside), "first": inside[0], "last": inside[-1]}[quantity.kind]


def values(stream, part, head, readings):
    """The values of a part, None where absent. readings: for each column a dictionary from ticks to q."""
    once, ticks = [], []
    for quantity in part.quantities:
        of_column = readings[quantity.columns[0]]
        inside = list(of_column.values())
        if is_once(quantity) and quantity.kind != "bins":
            once.append(once_of(stream, quantity, of_column) if inside else None)
        elif quantity.kind == "bins":
            bins = [sum(edge <= q for edge in quantity.edges) for q in inside]
            once += [bins.count(at) if inside else None for at in range(len(quantity.edges) + 1)]
    for tick in range(sent_ticks(head)):
        for quantity in part.quantities:
            if not is_once(quantity):
                a, b = (readings[column].get(tick) for column in (quantity.columns[0], quantity.columns[-1]))
                there = a is not None and b is not None
                ticks.append(digit_of(quantity.digit, a if quantity.kind == "reading" else a * b) if there else None)
    return once + ticks


def counts(part, head):
    once = [len(head.presence[q.columns[0]]) if q.kind == "bins" else min(1, len(head.presence[q.columns[0]]))
            for q in part.quantities if is_once(q)]
    left_out = [column.get(reason, 0) for column in head.left_out for reason in range(part.reasons)]
    ticks = [int(all(tick in head.presence[column] for column in q.columns))
             for tick in range(sent_ticks(head)) for q in part.quantities if not is_once(q)]
    return [1] + once + left_out + ticks


def runs(ticks):
    """The ticks with a reading as runs: ticks before each, and its length."""
    found, end = [], 0
    for tick in sorted(ticks):
        if found and tick == end:
            found[-1][1] += 1
        else:
            found.append([tick - end, 1])
        end = tick + 1
    return varint(len(found)) + b"".join(varint(number) for run in found for number in run)


def left_out_bytes(column):
    return varint(sum(1 << reason for reason in column)) + b"".join(varint(column[reason]) for reason in sorted(column))


def counts_bytes(column, rounded, readings):
    """The counts of a column, of a stream that counts rounded readings."""
    code = 0 if rounded == 0 else 1 if rounded == readings else 2
    mask = sum(1 << reason for reason in column)
    return varint(mask << 2 | code) + (varint(rounded) if code == 2 else b"") + b"".join(varint(column[reason]) for reason in sorted(column))


def head_bytes(stream, keys, head):
    gaps = any(len(ticks) != head.ticks for ticks in head.presence)
    left_out, back = any(head.left_out) or any(head.rounded), head.sequence - head.number
    out = b"\5" + header_id(stream, keys)[:8] + head.salt + varint(head.sequence) + varint(zigzag(head.start))
    flags = head.generated | gaps << 1 | left_out << 2 | (back > 0) << 3
    flags |= (head.replaces is not None) << 4 | head.provisional << 5 | (head.receipt is not None) << 6
    out += bytes([flags]) + varint(head.ticks)
    if back:
        out += varint(back)
    if gaps:
        out += b"".join(runs(ticks) for ticks in head.presence)
    if left_out and stream.rounded:
        out += b"".join(counts_bytes(column, rounded, len(ticks))
                        for column, rounded, ticks in zip(head.left_out, head.rounded, head.presence))
    elif left_out:
        out += b"".join(left_out_bytes(column) for column in head.left_out)
    if head.replaces:
        out += replaces_bytes(head.sequence, *head.replaces)
    if head.receipt:
        number, position = head.receipt
        out += varint(zigzag(head.sequence - number)) + varint(zigzag(position - number))
    return out


def replaces_bytes(sequence, numbers, columns):
    """The windows that are replaced, the last first, and a bit for each column whose readings are."""
    out, above = varint(len(numbers)), sequence
    for number in reversed(numbers):
        out, above = out + varint(above - number), number
    bits = sum(1 << column for column in columns)
    length = (bits.bit_length() + 7) // 8
    return out + varint(length) + bits.to_bytes(length, "little")


def window(stream, secret, head, readings, signing):
    """A window as its device sends it, and its parts."""
    keys, start = (sums.stream_keys(secret, stream_id(stream)), sums.start_keys(secret, stream_id(stream), head.salt))
    parts = [sums.encrypt(form(stream, part), keys, start, head.number, at, values(stream, part, head, readings), counts(part, head))
             for at, part in enumerate(stream.parts)]
    bodies = b"".join(sums.pack(form(stream, part), sent.body) + sums.pack_tag(sent.tag) for part, sent in zip(stream.parts, parts))
    first = head_bytes(stream, keys, head)
    tags = b"".join(sums.pack_tag(sent.tag) for sent in parts)
    message = b"sotto sums window v1" + header_id(stream, keys) + first + tags + blake3.digest(bodies)
    return first + bodies + ed25519.sign(signing, message), parts


def names_bytes(names):
    """Pads of windows, (salt, number) each: the starts, then runs of neighbouring numbers."""
    starts, found = [], []
    for salt, number in names:
        if salt not in starts:
            starts.append(salt)
        at = starts.index(salt)
        if found and found[-1][0] == at and found[-1][1] + found[-1][2] == number:
            found[-1][2] += 1
        else:
            found.append([at, number, 1])
    out, expected = varint(len(starts)) + b"".join(starts) + varint(len(found)), 0
    for at, first, count in found:
        difference = (first - expected + (1 << 63)) % (1 << 64) - (1 << 63)
        out, expected = out + varint(at) + varint(zigzag(difference)) + varint(count), (first + count) % (1 << 64)
    return out


def answer(stream, keys, names, asked):
    """The frame of an answer. asked: for each sum its first window, their number, the ticks of the longest, and pairs of a part's
    number and its sum."""
    out = header_id(stream, keys) + names_bytes(names) + struct.pack("<I", len(asked))
    for first, count, ticks, parts in asked:
        out += struct.pack("<IIIB", first, count, ticks, len(parts))
        for at, total in parts:
            out += bytes([at]) + sums.pack(form(stream, stream.parts[at]), total.body)
            out += b"".join(varint(zigzag(number)) for number in total.counts) + sums.pack_tag(total.tag)
    return frame(ANSWER, out)
