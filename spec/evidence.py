"""Repeats the cloud's sums of compact windows from the evidence that an owner keeps, and compares digests.

`python3 -m spec.evidence FOLDER`, where `sotto verify --save FOLDER` wrote the folder: `evidence.json` has the keys of the cloud and of the devices, the
transcripts, the names of the inputs and the sums; `messages/ID` is the frame that a device signed. Takes no secret. Jobs are not repeated here.
"""

import json
import sys
from collections import namedtuple
from pathlib import Path
from struct import pack

from spec import blake3, ed25519
from spec.transcripts import (SUMS, Reader, Refused, Sum, frame, frame_digest, leaf, node, payload_of, read_transcript,
                              require, root, sums_request)

ENVELOPE, SIGNED_HEADER, COMPACT, COMPACT_SUMS, SIGNED_WINDOW, KEPT_WINDOW, FLEET_SUMS_FRAME = 6, 18, 19, 20, 22, 23, 26
LARGEST = 64 << 20

Stream = namedtuple("Stream", "payload id device name parameters key period ticks width columns channels fleet")
Form = namedtuple("Form", "parameters key places width")
Message = namedtuple("Message", "device stream sequence signed_header signed_message signature form salt number body fleet")


# Messages


def varint(reader):
    value, shift = 0, 0
    while True:
        byte = reader.number(1)
        value |= (byte & 127) << shift
        if byte < 128:
            require(value < 1 << 64 and (byte or not shift), "a number of variable length")
            return value
        shift += 7


def unzigzag(number):
    return number >> 1 ^ -(number & 1)


def read_stream(reader):
    """A stream of places: the payload of kind 21."""
    before = reader.rest
    device, name, parameters, key = reader.name(), reader.name(), reader.take(32), reader.take(16)
    period, ticks, width, flags, products = (reader.number(size) for size in (4, 4, 1, 1, 2))
    require(2 <= width <= 64 and flags < 4, "a stream of places")
    reader.take(4 * products)
    fleet = reader.take(16) if flags & 2 else None
    channels = reader.number(2)
    for _ in range(channels):
        reader.take(reader.number(1))
        reader.take(reader.number(1))
        reader.take(24)
    payload = before[:len(before) - len(reader.rest)]
    columns = channels * (2 if flags & 1 else 1) + products
    stream_id = blake3.derive_key("sotto 2026 stream header v1", payload)
    return Stream(payload, stream_id, device, name, parameters, key, period, ticks, width, columns, channels, fleet)


def read_head(reader, stream):
    """The head of a window: number, salt, number of the mask, ticks that it sends."""
    require(reader.take(9) == b"\2" + stream.id[:8], "a window of the stream")
    salt, sequence, start, flags, length = reader.take(12), varint(reader), unzigzag(varint(reader)), reader.number(1), varint(reader)
    require(1 <= length <= stream.ticks and flags < 16, "a window's head")
    number = sequence - (varint(reader) if flags & 8 else 0)
    reach = length
    if flags & 2:
        reach = 1
        for _ in range(stream.channels):
            end = 0
            for _ in range(varint(reader)):
                end += varint(reader) + varint(reader)
            reach = max(reach, end)
    if flags & 4:
        for _ in range(stream.channels):
            for _ in range(bin(varint(reader)).count("1")):
                varint(reader)
    if not any(salt):
        require(stream.fleet is not None and start >= 0, "a mask of a fleet")
        number = start
    step = -(-stream.ticks // 16)
    return sequence, salt, number, min(-(-reach // step) * step, stream.ticks)


def steps(index, count):
    if count < 2:
        return 0
    left = 1 << (count - 1).bit_length() - 1
    return 1 + (steps(index, left) if index < left else steps(index - left, count - left))


def climb(digest, index, count, path):
    """The root of `count` leaves to which a path leads, the lowest neighbour first."""
    if not path:
        return digest
    left = 1 << (count - 1).bit_length() - 1
    if index < left:
        return node(climb(digest, index, left, path[:-1]), path[-1])
    return node(path[-1], climb(digest, index - left, count - left, path[:-1]))


def read_window(data):
    """A frame of kind 23: the stream's header, the place in a group if there is one, head, body, signature."""
    reader = Reader(payload_of(data, KEPT_WINDOW, LARGEST))
    stream, place, member = read_stream(reader), b"", None
    if reader.rest[:1] == b"\4":
        before = reader.rest
        _, index, count = reader.take(3)
        require(2 <= count <= 64 and index < count, "a place in a group")
        member = index, count, [reader.take(32) for _ in range(steps(index, count))]
        place = before[:3 + 32 * len(member[2])]
    before = reader.rest
    sequence, salt, number, ticks = read_head(reader, stream)
    head = before[:len(before) - len(reader.rest)]
    form = Form(stream.parameters, stream.key, stream.columns * ticks, stream.width)
    body, signature = reader.take((form.places * form.width + 7) // 8), reader.take(64)
    reader.finish()
    digest = blake3.digest(body)
    if member is None:
        signed = b"sotto window v2" + stream.id + head + digest
    else:
        index, count, path = member
        signed = b"sotto windows v2" + stream.id + bytes([count]) + climb(leaf(head + digest), index, count, path)
    header = frame(SIGNED_WINDOW, stream.payload + place + head + digest + signature)
    fleet = None if any(salt) else stream.fleet
    return Message(stream.device, stream.name, sequence, header, signed, signature, form, salt, number, body, fleet)


def read_compact(data):
    reader = Reader(payload_of(data, COMPACT, LARGEST))
    form = Form(reader.take(32), reader.take(16), reader.number(2), reader.number(1))
    require(reader.number(1) == 0, "padding")
    salt, number, body = reader.take(12), reader.number(8), reader.rest
    require(len(body) == (form.places * form.width + 7) // 8, "length of a body")
    return form, salt, number, body


def read_envelope(data):
    """A frame of kind 6 around a compact ciphertext."""
    reader = Reader(payload_of(data, ENVELOPE, LARGEST))
    header = reader.take(reader.number(4))
    inner, signature = reader.rest[:-64], reader.rest[-64:]
    form, salt, number, body = read_compact(inner)
    fields = Reader(header)
    device, stream, sequence = fields.name(), fields.name(), fields.number(8)
    require((fields.take(32), fields.take(16)) == (form.parameters, form.key), "parameters and key of an envelope")
    signed = header + frame_digest(inner)
    return Message(device, stream, sequence, frame(SIGNED_HEADER, signed + signature), b"sotto envelope v1" + signed, signature,
                   form, salt, number, body, None)


def read_message(data):
    return read_envelope(data) if data[5:6] == bytes([ENVELOPE]) else read_window(data)


# Sums


def columns(form, body, places=None):
    """The integers of a body, w bits each; the bits after them are zero."""
    places = form.places if places is None else places
    joined = int.from_bytes(body, "little")
    require(joined >> places * form.width == 0, "padding")
    return [joined >> i * form.width & (1 << form.width) - 1 for i in range(places)]


def packed(form, values):
    joined = sum(value << i * form.width for i, value in enumerate(values))
    return joined.to_bytes((len(values) * form.width + 7) // 8, "little")


def add(form, bodies, one):
    """The body of a sum: integers modulo 2^w, times their weights if there are any."""
    (begin, count), (first, places) = one.envelopes, one.places
    totals = [0] * places
    for at, body in enumerate(bodies[begin:begin + count]):
        weights = [1] * places if one.weights is None else one.weights[at * places:(at + 1) * places]
        for i, (weight, column) in enumerate(zip(weights, body[first:first + places])):
            totals[i] = (totals[i] + weight * column) % (1 << form.width)
    return packed(form, totals)


def sums_frame(messages, sums):
    """The frame that answers a request for sums: of kind 20 under one key, of kind 26 under one mask of a fleet."""
    first, bodies = messages[0], [columns(message.form, message.body) for message in messages]
    form, keys = first.form, [message.form.key for message in messages]
    for message in messages:
        require(message.form._replace(key=form.key) == form, "several forms")
    for (begin, count), (place, places), weights in sums:
        require(count and begin + count <= len(messages), "envelopes that are not named")
        require(places and place + places <= form.places, "places that are not there")
        require(weights is None or len(weights) == count * places, "a weight for each place")
    added = [add(form, bodies, one) for one in sums]
    if len(set(keys)) == 1:
        return frame(COMPACT_SUMS, compact_sums(form, messages, sums, added))
    require(first.fleet is not None, "several keys")
    for message in messages:
        require((message.fleet, message.salt, message.number) == (first.fleet, first.salt, first.number), "several keys and masks")
    require(len(set(keys)) == len(keys), "a key twice")
    payload = form.parameters + pack("<HBx", form.places, form.width) + first.fleet
    payload += pack("<qII", first.number, len(keys), len(sums)) + b"".join(keys)
    for one, body in zip(sums, added):
        payload += pack("<IIHH", *one.envelopes, *one.places) + body
    return frame(FLEET_SUMS_FRAME, payload)


def compact_sums(form, messages, sums, added):
    salts = list(dict.fromkeys(message.salt for message in messages))
    payload = form.parameters + form.key + pack("<HBx", form.places, form.width)
    payload += pack("<HHH", len(salts), len(messages), len(sums)) + b"".join(salts)
    for message in messages:
        payload += pack("<HQ", salts.index(message.salt), message.number)
    for one, body in zip(sums, added):
        payload += pack("<HH", *one.places) + body
    return payload


# Verification


def repeat(transcript, sums, messages, clouds, devices):
    """Raises Refused with the name of the false statement, unless the transcript fits these sums of these messages. If `clouds` has no key,
    accepts the signature of any cloud."""
    transcript = read_transcript(transcript)
    require(not clouds or transcript.cloud in clouds, "other cloud")
    messages = [read_message(message) for message in messages]
    for message in messages:
        keys = devices.get(message.device, [])
        require(any(message.signature), "unsigned layout")
        require(any(ed25519.verify(key, message.signed_message, message.signature) for key in keys), "changed window")
    leaves = [leaf(message.signed_header) for message in messages]
    require((transcript.count, transcript.root) == (len(leaves), root(leaves)), "other windows")
    require((transcript.work, transcript.request) == (SUMS, sums_request(sums)), "other plan")
    keys = {message.form.key for message in messages}
    require(transcript.key == (keys.pop() if len(keys) == 1 else bytes(16)), "wrong key")
    require(transcript.outputs == [frame_digest(sums_frame(messages, sums))], "forged answer")


def verify(folder):
    """Repeats all sums of an evidence; returns the number of pieces of work, and number and reason of each that does not hold."""
    document = json.loads((folder / "evidence.json").read_text())
    require(document["version"] == 1, "another version of the folder's form")
    clouds = [bytes.fromhex(key) for key in document["cloud_keys"]]
    devices = {name: [bytes.fromhex(key) for key in own] for name, own in document["devices"].items()}
    work_done, findings = document["evidence"]["work"], []
    for at, work in enumerate(work_done):
        if work.get("sums") is None:
            findings.append((at, "a job: not repeated here"))
            continue
        sums = [Sum(tuple(one["envelopes"]), tuple(one["places"]), one.get("weights")) for one in work["sums"]]
        messages = [(folder / "messages" / name).read_bytes() for name in work["inputs"]]
        try:
            repeat(bytes.fromhex(work["transcript"]), sums, messages, clouds, devices)
        except Refused as reason:
            findings.append((at, str(reason)))
    return len(work_done), findings


def main():
    count, findings = verify(Path(sys.argv[1]))
    for at, reason in findings:
        print(f"work {at}: {reason}")
    print(f"{count - len(findings)} of {count} pieces of work hold")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
