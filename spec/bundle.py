"""The bundle of a device, without a passphrase: docs/reference/bundle.md."""

import json
from collections import namedtuple
from struct import pack, unpack_from

from spec import blake3, ed25519
from spec.transcripts import Refused

MAGIC, VERSION, IN_THE_CLEAR = b"sottokey", 1, 0
PLAIN, WITH_AUTHORITY = 5, 6
LONGEST_CLOUD, LONGEST_AUTHORITY, LONGEST_PROFILE = 2 << 10, 64 << 10, 1 << 20

# secret and identity: 32 bytes each; cloud: text; authority: bytes or None; profile: bytes.
Bundle = namedtuple("Bundle", "secret identity cloud authority profile")


def write(bundle):
    cloud = bundle.cloud.encode()
    if len(cloud) > LONGEST_CLOUD or len(bundle.authority or b"") > LONGEST_AUTHORITY or len(bundle.profile) > LONGEST_PROFILE:
        raise Refused("a field is too long")
    kind = PLAIN if bundle.authority is None else WITH_AUTHORITY
    body = MAGIC + bytes([VERSION, kind, IN_THE_CLEAR]) + bundle.secret + bundle.identity + pack("<I", len(cloud)) + cloud
    if bundle.authority is not None:
        body += pack("<I", len(bundle.authority)) + bundle.authority
    body += bundle.profile
    return body + blake3.digest(body)


def read(data):
    body, digest = data[:-32], data[-32:]
    if len(body) < 11 or body[:8] != MAGIC or body[8] != VERSION or blake3.digest(body) != digest:
        raise Refused("not a key file of version 1, or damaged")
    if body[9] not in (PLAIN, WITH_AUTHORITY) or body[10] != IN_THE_CLEAR:
        raise Refused("not a bundle, or under a passphrase")
    rest = body[11:]

    def take(length):
        nonlocal rest
        if len(rest) < length:
            raise Refused("ends too early")
        taken, rest = rest[:length], rest[length:]
        return taken

    def counted(longest):
        length, = unpack_from("<I", take(4))
        if length > longest:
            raise Refused("a field is too long")
        return take(length)

    secret, identity, cloud = take(32), take(32), counted(LONGEST_CLOUD)
    authority = counted(LONGEST_AUTHORITY) if body[9] == WITH_AUTHORITY else None
    return Bundle(secret, identity, cloud.decode(), authority, rest)


PROFILE = {
    "device": "boiler", "period_ms": 60_000, "zone": "Europe/Vienna",
    "cloud_keys": [ed25519.public(bytes(range(32))).hex()],
    "streams": [
        {"stream": "exact-1h", "parameters": "736f7474", "encoding": "resolution", "ticks": 60, "span": "hour",
         "channels": [{"name": "temperature", "unit": "°C", "minimum": -20.0, "maximum": 120.0, "resolution": 0.5},
                      {"name": "pressure", "unit": "bar", "minimum": 0.0, "maximum": 10.0, "resolution": 0.25}],
         "compact": {"width": 30, "squares": True, "products": [[0, 1]]}, "envelope": 2, "fleet": "06" * 16},
        {"stream": "coarse", "parameters": "736f7474", "encoding": {"integer": {"bits": 12}}, "ticks": 24, "period_ms": 3_600_000},
        {"stream": "model", "parameters": "736f7474", "encoding": "real", "ticks": 1024,
         "channels": [{"name": "vibration", "unit": "", "minimum": -1.0, "maximum": 1.0}], "slots": 1024}]}


def bundle_files():
    """A bundle without and one with an authority, from fixed secrets."""
    profile = json.dumps(PROFILE, indent=2, ensure_ascii=False).encode()
    cases = []
    for authority in (None, b"-----BEGIN CERTIFICATE-----\nno real one\n-----END CERTIFICATE-----\n"):
        cloud = "http://127.0.0.1:7410" if authority is None else "https://cloud.example:7411"
        bundle = Bundle(bytes([1]) * 32, bytes(range(64, 96)), cloud, authority, profile)
        cases.append({"secret": bundle.secret.hex(), "identity": bundle.identity.hex(),
                      "verifying_key": ed25519.public(bundle.identity).hex(), "cloud": cloud,
                      "authority": None if authority is None else authority.hex(), "profile": profile.hex(),
                      "bytes": write(bundle).hex()})
    yield "bundle", {"cases": cases}
