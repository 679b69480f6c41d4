"""Known answers of receipts, logs and transcripts: toy windows that devices sign, a cloud that adds them, the statements that it signs."""

from collections import namedtuple
from struct import pack

from spec import blake3, compact, ed25519, primes
from spec.evidence import KEPT_WINDOW, columns, read_message, read_stream, sums_frame
from spec.sample import Sampler
from spec.transcripts import (JOB, SUMS, Reader, Receipt, StreamHead, Sum, Transcript, fleet_sums_request, frame, frame_digest,
                              leaf, name, node, receipt_message, root, sign_head, sign_transcript, sums_request)

CLOUD, DEVICES = bytes(range(32)), [bytes([40 + i]) * 32 for i in range(2)]
PARAMETERS = bytes(range(100, 132))
START = 1_700_000_000_000
DEGREE, PLAIN, WIDTH, TICKS = 64, 1 << 20, 30, 12
PRIME = primes.largest_prime(DEGREE, 1 << 40)

Window = namedtuple("Window", "sequence salt back start length gaps values")


def varint(value):
    out = b""
    while value >= 128:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def stream_payload(device, key, fleet):
    """Two channels of 12 readings, an hour apart, without squares and products."""
    payload = name(device) + name("climate") + PARAMETERS + key + pack("<IIBBH", 3_600_000, TICKS, WIDTH, 2 if fleet else 0, 0) + fleet
    payload += pack("<H", 2)
    for channel, unit, low, high, step in (("temperature", "°C", -20.0, 120.0, 0.5), ("pressure", "bar", 0.0, 10.0, 0.25)):
        payload += name(channel) + name(unit) + pack("<ddd", low, high, step)
    return payload


def head_of(stream, window):
    """Gaps are, for each channel, runs of (ticks without a reading, ticks with one)."""
    flags = (2 if window.gaps else 0) | (8 if window.back else 0)
    out = b"\2" + stream.id[:8] + window.salt + varint(window.sequence) + varint(2 * window.start) + bytes([flags]) + varint(window.length)
    out += varint(window.back) if window.back else b""
    for runs in window.gaps:
        out += varint(len(runs)) + b"".join(varint(gap) + varint(run) for gap, run in runs)
    return out


def body_of(secret, mask_key, window, random):
    form = compact.Form(DEGREE, PRIME, PLAIN, len(window.values), WIDTH)
    number = window.sequence - window.back if any(window.salt) else window.start
    mask = compact.mask(form, mask_key, window.salt, number)
    return compact.pack(form, compact.encrypt(form, secret, mask, window.values, random.error(form.places)))


def alone(signing, stream, head, body):
    signature = ed25519.sign(signing, b"sotto window v2" + stream.id + head + blake3.digest(body))
    return frame(KEPT_WINDOW, stream.payload + head + body + signature)


def pair(signing, stream, windows):
    """Two windows under one signature."""
    left, right = (leaf(head + blake3.digest(body)) for head, body in windows)
    signature = ed25519.sign(signing, b"sotto windows v2" + stream.id + b"\2" + node(left, right))
    for at, ((head, body), beside) in enumerate(zip(windows, (right, left))):
        yield frame(KEPT_WINDOW, stream.payload + bytes([4, at, 2]) + beside + head + body + signature)


def one_device():
    """Windows of one device: with gaps, short, renumbered, after a restart, two of them under one signature."""
    random, key = Sampler("transcripts"), bytes(range(16))
    secret, mask_key = random.ternary(DEGREE), random.seed() + random.seed()[:8]
    salts = [random.seed()[:12], random.seed()[:12]]
    stream = read_stream(Reader(stream_payload("boiler", key, b"")))
    shapes = [(5, salts[0], 0, 12, ()), (6, salts[0], 1, 12, (((2, 3), (1, 6)), ())), (9, salts[1], 0, 12, ()), (10, salts[1], 0, 12, ())]
    parts = []
    for sequence, salt, back, length, gaps in shapes:
        values = random.below(2 * TICKS, 281)
        window = Window(sequence, salt, back, START + sequence * TICKS * 3_600_000, length, gaps, values)
        parts.append((window, (head_of(stream, window), body_of(secret, mask_key, window, random))))
    messages = [alone(DEVICES[0], stream, *part) for _, part in parts[:2]]
    messages += pair(DEVICES[0], stream, [part for _, part in parts[2:]])
    weights = [x - 40 for x in random.below(3 * 5, 81)]
    sums = [Sum((0, 4), (0, 2 * TICKS), None), Sum((1, 3), (7, 5), weights), Sum((2, 1), (23, 1), None)]
    return messages, sums


def two_devices():
    """Windows of two devices under one mask of their fleet, short ones."""
    random, fleet = Sampler("transcripts of a fleet"), bytes(range(200, 216))
    mask_key, messages = random.seed() + random.seed()[:8], []
    for at, signing in enumerate(DEVICES):
        stream = read_stream(Reader(stream_payload(f"pump-{at}", bytes([16 + at]) * 16, fleet)))
        window = Window(3 + at, bytes(12), 0, START, 7, (), random.below(2 * 7, 281))
        body = body_of(random.ternary(DEGREE), mask_key, window, random)
        messages.append(alone(signing, stream, head_of(stream, window), body))
    return messages, [Sum((0, 2), (0, 14), None), Sum((1, 1), (3, 2), None)]


def sums_case(messages, sums, cloud=CLOUD):
    read = [read_message(message) for message in messages]
    keys = {message.form.key for message in read}
    leaves = [leaf(message.signed_header) for message in read]
    answer, request = sums_frame(read, sums), sums_request(sums)
    transcript = Transcript(SUMS, PARAMETERS, keys.pop() if len(keys) == 1 else bytes(16), request, None, len(leaves), root(leaves),
                            [frame_digest(answer)], START, ed25519.public(cloud))
    return {"messages": [message.hex() for message in messages], "leaves": [one.hex() for one in leaves],
            "bodies": [columns(message.form, message.body) for message in read],
            "sums": [{"envelopes": one.envelopes, "places": one.places, "weights": one.weights} for one in sums],
            "request": request.hex(), "answer": answer.hex(), "transcript": sign_transcript(transcript, cloud).hex()}


def statements():
    leaves = [leaf(bytes([i])) for i in range(9)]
    receipt = Receipt("boiler", "climate", 2**64 - 1, leaves[3], 2**63, -1)
    head = StreamHead("boiler", "climate", len(leaves), root(leaves), START, ed25519.public(CLOUD))
    job = Transcript(JOB, PARAMETERS, bytes(range(16)), leaves[0], leaves[1], 9, root(leaves), leaves[2:5], START + 1, ed25519.public(CLOUD))
    fleet, last = bytes(range(200, 216)), bytes(range(16))
    return {
        "trees": [root(leaves[:size]).hex() for size in range(len(leaves) + 1)],
        "receipt": {"sequence": receipt.sequence, "digest": receipt.digest.hex(), "position": receipt.position, "stored_at": receipt.stored_at,
                    "message": receipt_message(receipt).hex(), "signature": ed25519.sign(CLOUD, receipt_message(receipt)).hex()},
        "head": sign_head(head, CLOUD).hex(),
        "job": sign_transcript(job, CLOUD).hex(),
        "fleet_requests": [{"after": after and after.hex(), "request": fleet_sums_request(fleet, START, 7, 2048, after).hex()}
                           for after in (None, last)],
    }


def transcript_files():
    content = {"cloud_secret": CLOUD.hex(), "device_secrets": [secret.hex() for secret in DEVICES], "parameter_id": PARAMETERS.hex(),
               "degree": DEGREE, "prime": PRIME, "plain_modulus": PLAIN, "width": WIDTH, "time": START}
    yield "transcripts", {**content, **statements(), "sums": [sums_case(*one_device()), sums_case(*two_devices())]}
