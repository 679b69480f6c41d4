"""Parameters on the wire, and their id: docs/concepts/wire.md, "Parameters"."""

from collections import namedtuple

from spec import blake3

SCHEMES = {1: "bfv", 2: "ckks", 3: "bgv"}
# AES-128 in counter mode expands seeds.
EXPANSION = 1
VERSION = 1

Parameters = namedtuple("Parameters", "scheme degree special data digit plain")


def read(frame):
    """The parameters in a frame of kind 1."""
    assert frame[:8] == b"sott" + bytes([VERSION, 1, 0, 0])
    assert frame[-32:] == blake3.digest(frame[:-32])
    payload = frame[16:-32]
    assert number(frame[8:16]) == len(payload)
    at = 5
    chains = []
    for _ in range(2):
        count, at = payload[at], at + 1
        chains.append([number(payload[at + 8 * i : at + 8 * i + 8]) for i in range(count)])
        at += 8 * count
    assert len(payload) == at + 9
    return Parameters(payload[0], number(payload[1:5]), *chains, payload[at], number(payload[at + 1 :]))


def parameter_id(parameters):
    """The id: counts have four bytes here, one in a frame."""
    scheme, degree, special, data, digit, plain = parameters
    chain = b"".join(fixed(len(primes), 4) + b"".join(fixed(p, 8) for p in primes) for primes in (special, data))
    end = fixed(digit, 4) + fixed(plain, 8) + bytes([EXPANSION]) + fixed(VERSION, 2)
    return blake3.derive_key("sotto parameters v1", bytes([scheme]) + fixed(degree, 4) + chain + end)


def number(data):
    return int.from_bytes(data, "little")


def fixed(value, count):
    return value.to_bytes(count, "little")
