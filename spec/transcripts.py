"""The cloud's signed statements: receipts, heads of logs, transcripts (docs/concepts/transcripts.md).

Every statement is a tuple of its fields. `…_fields` gives the bytes that are signed behind the statement's context; a frame is these fields and
the signature. Integers are little-endian.
"""

from collections import namedtuple
from struct import pack

from spec import blake3, ed25519

STREAM_HEAD, TRANSCRIPT = 28, 29
JOB = 1  # 2 and 3 were sums of places
MOST_OUTPUTS = 4096
LARGEST_HEAD, LARGEST_TRANSCRIPT = 1024, 32 * MOST_OUTPUTS + 512

Receipt = namedtuple("Receipt", "device stream sequence digest position stored_at")
StreamHead = namedtuple("StreamHead", "device stream size root signed_at cloud")
Transcript = namedtuple("Transcript", "work parameters key request evaluation_keys count root outputs ended_at cloud")


class Refused(Exception):
    """Bytes that violate their format, or a statement that does not hold."""


def require(holds, reason):
    if not holds:
        raise Refused(reason)


class Reader:
    """Reads bytes from the front."""

    def __init__(self, data):
        self.rest = data

    def take(self, count):
        require(len(self.rest) >= count, "too short")
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def number(self, count, signed=False):
        return int.from_bytes(self.take(count), "little", signed=signed)

    def name(self):
        data = self.take(self.number(1))
        allowed = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
        require(1 <= len(data) <= 64 and all(byte in allowed for byte in data), "no name")
        return data.decode()

    def finish(self):
        require(not self.rest, "too long")


def name(text):
    data = text.encode()
    return bytes([len(data)]) + data


# Frames


def frame(kind, payload):
    data = b"sott" + bytes([1, kind, 0, 0]) + pack("<Q", len(payload)) + payload
    return data + blake3.digest(data)


def payload_of(data, kind, limit):
    require(48 <= len(data) <= limit, "length of a frame")
    require(data[:8] == b"sott" + bytes([1, kind, 0, 0]), "kind of a frame")
    require(int.from_bytes(data[8:16], "little") == len(data) - 48, "length of a payload")
    require(blake3.digest(data[:-32]) == data[-32:], "digest of a frame")
    return data[16:-32]


def frame_digest(data):
    return data[-32:]


# Trees (RFC 9162, section 2.1)


def leaf(entry):
    return blake3.digest(b"\0" + entry)


def node(left, right):
    return blake3.digest(b"\1" + left + right)


def root(leaves):
    if not leaves:
        return blake3.digest(b"")
    if len(leaves) == 1:
        return leaves[0]
    left = 1 << (len(leaves) - 1).bit_length() - 1
    return node(root(leaves[:left]), root(leaves[left:]))


# Receipts: a signature beside the fields, no frame


def receipt_message(receipt):
    return (b"sotto receipt v1" + name(receipt.device) + name(receipt.stream) + pack("<Q", receipt.sequence) + receipt.digest
            + pack("<Qq", receipt.position, receipt.stored_at))


# Heads of logs


def head_fields(head):
    return (name(head.device) + name(head.stream) + pack("<Q", head.size) + head.root + pack("<q", head.signed_at) + head.cloud)


def sign_head(head, secret):
    fields = head_fields(head)
    return frame(STREAM_HEAD, fields + ed25519.sign(secret, b"sotto stream head v1" + fields))


def read_head(data):
    """Reads a head and checks its signature under the key that it names. The caller must compare that key with the cloud's."""
    reader = Reader(payload_of(data, STREAM_HEAD, LARGEST_HEAD))
    device, stream, size, digest = reader.name(), reader.name(), reader.number(8), reader.take(32)
    head = StreamHead(device, stream, size, digest, reader.number(8, signed=True), reader.take(32))
    signature = reader.take(64)
    reader.finish()
    require(ed25519.verify(head.cloud, b"sotto stream head v1" + head_fields(head), signature), "forged signature")
    return head


# Transcripts


def transcript_fields(transcript):
    require(len(transcript.outputs) <= MOST_OUTPUTS, "more than 4,096 outputs")
    keys = transcript.evaluation_keys
    return (bytes([transcript.work]) + transcript.parameters + transcript.key + transcript.request
            + (b"\0" * 33 if keys is None else b"\1" + keys) + pack("<Q", transcript.count) + transcript.root
            + pack("<I", len(transcript.outputs)) + b"".join(transcript.outputs) + pack("<q", transcript.ended_at) + transcript.cloud)


def sign_transcript(transcript, secret):
    fields = transcript_fields(transcript)
    return frame(TRANSCRIPT, fields + ed25519.sign(secret, b"sotto transcript v1" + fields))


def read_transcript(data):
    """Reads a transcript and checks its signature under the key that it names. The caller must compare that key with the cloud's."""
    reader = Reader(payload_of(data, TRANSCRIPT, LARGEST_TRANSCRIPT))
    work = reader.number(1)
    require(work == JOB, "other work")
    parameters, key, request = reader.take(32), reader.take(16), reader.take(32)
    has_keys, keys = reader.number(1), reader.take(32)
    require(has_keys in (0, 1), "a flag")
    require(has_keys or not any(keys), "padding")
    count, inputs, outputs = reader.number(8), reader.take(32), reader.number(4)
    require(outputs <= MOST_OUTPUTS, "more than 4,096 outputs")
    digests = [reader.take(32) for _ in range(outputs)]
    transcript = Transcript(work, parameters, key, request, keys if has_keys else None, count, inputs, digests,
                            reader.number(8, signed=True), reader.take(32))
    signature = reader.take(64)
    reader.finish()
    require(ed25519.verify(transcript.cloud, b"sotto transcript v1" + transcript_fields(transcript), signature), "forged signature")
    return transcript
