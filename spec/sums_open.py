"""Opens windows of a stream of sums from the bytes that a device sends (docs/concepts/wire.md, "Streams of sums"), with the device's secret.

`python3 -m spec.sums_open < CASE` reads {"secret", "signing_key", "header", "windows"}, all hexadecimal, and writes a list with an object for each
window: its numbers, the ticks with a reading, counts of readings left out and of those that were rounded, the windows that it replaces, whether it is
provisional, the receipt that it names, and the values of each part. It stops at the first window whose signature or tag is not right.
"""

import json
import struct
import sys
from collections import namedtuple
from math import ceil, floor

from spec import blake3, ed25519, sums
from spec.sums import Form, Place, Term
from spec.transcripts import payload_of

HEADER = 32
KINDS = {1: "reading", 2: "square", 3: "product", 4: "bins", 5: "least", 6: "largest", 7: "first", 8: "last", 9: "increase", 10: "doubt",
         11: "changes", 12: "cosine", 13: "sine", 14: "falls"}
ONCE = [KINDS[code] for code in range(4, 15)]
GAUGE, COUNTER, STATES = 1, 2, 3
ANGLE = 1 << 16
LOW = (1 << 30) - 1

Quantity = namedtuple("Quantity", "kind columns edges digit width")
# top: the largest |q|; turn: steps of a counter from its minimum to where it begins again; limit: its largest increase of a tick.
Column = namedtuple("Column", "top turn limit")
# rounded: True if windows count rounded readings; parts: reasons and quantities.
Stream = namedtuple("Stream", "id tag ticks columns rounded parts")
# rounded: None for a column whose rounded readings are not counted. replaces: numbers of windows, and columns; receipt: a number and a
# position.
Head = namedtuple("Head", "sequence salt number start ticks presence left_out rounded generated replaces provisional receipt")


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        assert self.at + count <= len(self.data)
        self.at += count
        return self.data[self.at - count:self.at]

    def numbers(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))

    def text(self):
        return self.take(self.take(1)[0]).decode()

    def varint(self):
        byte = self.take(1)[0]
        return byte if byte < 0x80 else byte & 0x7f | self.varint() << 7


def read_column(data, kinds):
    data.text(), data.text()
    minimum, maximum, resolution = data.numbers("ddd")
    centre = round((minimum + maximum) / 2 / resolution) * resolution
    end = floor(maximum) + 1
    is_power = end > 0 and (end & end - 1 == 0 or str(end).strip("0") == "1")
    turn = round(((end if is_power else maximum + resolution) - minimum) / resolution)
    return Column(ceil(max(maximum - centre, centre - minimum) / resolution), turn, read_kind(data) if kinds else 0.0)


def read_kind(data):
    """Reads the kind of a column. Returns the largest increase of a counter, 0 for none."""
    kind, = data.numbers("B")
    if kind:
        data.take(1)
    if kind in (GAUGE, STATES):
        data.varint()
    if kind == STATES:
        for _ in range(*data.numbers("H")):
            data.text()
    return data.numbers("d")[0] if kind == COUNTER else 0.0


def read_quantity(data):
    code, x = data.numbers("BH")
    columns, edges = [x], []
    if KINDS[code] == "product":
        columns += data.numbers("H")
    if KINDS[code] == "bins":
        count, = data.numbers("H")
        edges = list(data.numbers(f"{count}q"))
    return Quantity(KINDS[code], columns, edges, *data.numbers("BB"))


def read_part(data):
    reasons, count = data.numbers("BH")
    return reasons, [read_quantity(data) for _ in range(count)]


def read_header(frame):
    payload = payload_of(frame, HEADER, 1 << 16)
    facts = Bytes(payload[16:])
    facts.text(), facts.text()
    _, _, ticks, columns = facts.numbers("IIIH")
    read = [read_column(facts, bool(columns >> 15)) for _ in range(columns & (1 << 14) - 1)]
    parts = [read_part(facts) for _ in range(facts.take(1)[0])]
    assert facts.at == len(facts.data)
    stream = blake3.derive_key("sotto 2026 sums stream v1", facts.data)
    return Stream(stream, blake3.derive_key("sotto 2026 sums header v1", payload), ticks, read, bool(columns >> 14 & 1), parts)


def place(stream, quantity):
    first, second = (stream.columns[quantity.columns[at]] for at in (0, -1))
    x, y, ticks, over = first.top, second.top, stream.ticks, max(1, first.turn) * stream.ticks
    least, most = {"square": (0, x * x), "product": (-x * y, x * y), "bins": (0, ticks), "changes": (0, ticks), "falls": (0, ticks),
                   "increase": (0, over), "doubt": (0, over if first.limit > 0 else 0),
                   "cosine": (-ANGLE * ticks, ANGLE * ticks), "sine": (-ANGLE * ticks, ANGLE * ticks)}.get(quantity.kind, (-x, x))
    if quantity.digit == 1:
        return Place(quantity.width, 0, LOW)
    shift = 30 if quantity.digit == 2 else 0
    return Place(quantity.width, least >> shift, most >> shift)


def form(stream, part):
    reasons, quantities = part
    once = [quantity for quantity in quantities if quantity.kind in ONCE]
    tick = [quantity for quantity in quantities if quantity.kind not in ONCE]
    places = [place(stream, quantity) for quantity in once for _ in range(len(quantity.edges) + 1)]
    counts = 1 + len(once) + reasons * len(stream.columns)
    return Form(places, [place(stream, quantity) for quantity in tick], counts, len(tick), stream.ticks)


def zigzag(number):
    return number >> 1 if number & 1 == 0 else -(number >> 1) - 1


def read_runs(data):
    ticks, end = [], 0
    for _ in range(data.varint()):
        first = end + data.varint()
        end = first + data.varint()
        ticks += range(first, end)
    return ticks


def read_counts(stream, data, readings):
    """The counts of a column: readings left out, and the number of those that were rounded."""
    mask, rounded = data.varint(), None
    if stream.rounded:
        code, mask = mask & 3, mask >> 2
        rounded = data.varint() if code == 2 else readings * code
        assert code < 3 and rounded <= readings
    return {reason: data.varint() for reason in range(mask.bit_length()) if mask >> reason & 1}, rounded


def read_replaces(data, number):
    """The numbers of the windows in whose place it comes, ascending, and the columns whose readings it replaces."""
    numbers = []
    for _ in range(data.varint()):
        number -= data.varint()
        numbers.insert(0, number)
    bits = int.from_bytes(data.take(data.varint()), "little")
    return numbers, [column for column in range(bits.bit_length()) if bits >> column & 1]


def read_receipt(data, sequence):
    """The number of the window that the device's last receipt is of, and its position in the log."""
    number = sequence - zigzag(data.varint())
    return number, number + zigzag(data.varint())


def read_head(stream, data):
    assert data.take(1) == b"\5" and data.take(8) == stream.tag[:8]
    salt, sequence, start, flags, ticks = data.take(12), data.varint(), zigzag(data.varint()), data.take(1)[0], data.varint()
    back = data.varint() if flags & 8 else 0
    columns = range(len(stream.columns))
    presence = [read_runs(data) if flags & 2 else list(range(ticks)) for _ in columns]
    none = {}, 0 if stream.rounded else None
    counted = [read_counts(stream, data, len(there)) if flags & 4 else none for there in presence]
    left_out, rounded = zip(*counted)
    replaces = read_replaces(data, sequence) if flags & 16 else None
    receipt = read_receipt(data, sequence) if flags & 64 else None
    return Head(sequence, salt, sequence - back, start, ticks, presence, left_out, rounded, flags & 1, replaces, flags >> 5 & 1, receipt)


def present(head, ticks, quantities):
    """For each place of a part, True if the window has it."""
    once = [bool(head.presence[q.columns[0]]) for q in quantities if q.kind in ONCE for _ in range(len(q.edges) + 1)]
    return once + [all(tick in head.presence[column] for column in q.columns)
                   for tick in range(ticks) for q in quantities if q.kind not in ONCE]


def counts(head, ticks, part):
    reasons, quantities = part
    once = [len(head.presence[q.columns[0]]) if q.kind == "bins" else min(1, len(head.presence[q.columns[0]]))
            for q in quantities if q.kind in ONCE]
    left_out = [column.get(reason, 0) for column in head.left_out for reason in range(reasons)]
    at_ticks = [q for q in quantities if q.kind not in ONCE]
    return [1] + once + left_out + [int(there) for there in present(head, ticks, at_ticks)]


def open_window(stream, secret, signing_key, data):
    data = Bytes(data)
    head = read_head(stream, data)
    before_parts = data.at
    keys, start = sums.stream_keys(secret, stream.id), sums.start_keys(secret, stream.id, head.salt)
    ticks = max((tick + 1 for column in head.presence for tick in column), default=0)
    opened, tags = [], b""
    for number, part in enumerate(stream.parts):
        shape = form(stream, part)
        bits = sum(place.width for place in sums.places(shape, ticks))
        body, tag = data.take((bits + 7) // 8), data.take(8)
        sent = sums.Part(sums.unpack(shape, ticks, body), counts(head, ticks, part), sums.unpack_tag(tag))
        there, tags = present(head, ticks, part[1]), tags + tag
        values = sums.open_sum(shape, keys, number, [Term(start, head.number, there, ticks, 1)], sent)
        opened.append([value if here else None for value, here in zip(values, there)])
    parts, signature = data.data[before_parts:data.at], data.take(64)
    assert data.at == len(data.data)
    message = b"sotto sums window v1" + stream.tag + data.data[:before_parts] + tags + blake3.digest(parts)
    assert ed25519.verify(signing_key, message, signature)
    return head._replace(salt=head.salt.hex())._asdict() | {"parts": opened}


def main():
    case = json.load(sys.stdin)
    secret, signing_key, header = (bytes.fromhex(case[name]) for name in ("secret", "signing_key", "header"))
    stream = read_header(header)
    json.dump([open_window(stream, secret, signing_key, bytes.fromhex(window)) for window in case["windows"]], sys.stdout)


if __name__ == "__main__":
    main()
