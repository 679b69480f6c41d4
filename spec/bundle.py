"""The bundle of a device, without a passphrase: docs/reference/bundle.md."""

import json
from collections import namedtuple
from struct import pack, unpack_from

from spec import blake3, ed25519
from spec.transcripts import Refused

MAGIC, VERSION, IN_THE_CLEAR = b"sottokey", 1, 0
PLAIN, WITH_AUTHORITY, WITH_PUBLIC_KEYS = 5, 6, 7
LONGEST_CLOUD, LONGEST_AUTHORITY, LONGEST_PROFILE = 2 << 10, 64 << 10, 1 << 20
MOST_PUBLIC_KEYS, LONGEST_PUBLIC_KEYS = 64, 64 << 20

# secret: 32 bytes, or None beside public keys; identity: 32 bytes; cloud: text; authority: bytes or None; profile:
# bytes; public_keys: frames.
Bundle = namedtuple("Bundle", "secret identity cloud authority profile public_keys", defaults=[()])


def counted(data):
    return pack("<I", len(data)) + data


def write(bundle):
    cloud, authority, keys = bundle.cloud.encode(), bundle.authority, bundle.public_keys
    if len(cloud) > LONGEST_CLOUD or len(authority or b"") > LONGEST_AUTHORITY or len(bundle.profile) > LONGEST_PROFILE:
        raise Refused("a field is too long")
    if bundle.secret is not None:
        kind = PLAIN if authority is None else WITH_AUTHORITY
        body = bundle.secret + bundle.identity + counted(cloud) + (b"" if authority is None else counted(authority))
    else:
        if not 1 <= len(keys) <= MOST_PUBLIC_KEYS or sum(map(len, keys)) > LONGEST_PUBLIC_KEYS:
            raise Refused("no public key, or too many")
        kind = WITH_PUBLIC_KEYS
        body = bundle.identity + counted(cloud) + counted(authority or b"")
        body += pack("<I", len(keys)) + b"".join(map(counted, keys))
    body = MAGIC + bytes([VERSION, kind, IN_THE_CLEAR]) + body + bundle.profile
    return body + blake3.digest(body)


def read(data):
    body, digest = data[:-32], data[-32:]
    if len(body) < 11 or body[:8] != MAGIC or body[8] != VERSION or blake3.digest(body) != digest:
        raise Refused("not a key file of version 1, or damaged")
    kind = body[9]
    if kind not in (PLAIN, WITH_AUTHORITY, WITH_PUBLIC_KEYS) or body[10] != IN_THE_CLEAR:
        raise Refused("not a bundle, or under a passphrase")
    rest = body[11:]

    def take(length):
        nonlocal rest
        if len(rest) < length:
            raise Refused("ends too early")
        taken, rest = rest[:length], rest[length:]
        return taken

    def number():
        return unpack_from("<I", take(4))[0]

    def take_counted(longest):
        length = number()
        if length > longest:
            raise Refused("a field is too long")
        return take(length)

    secret = None if kind == WITH_PUBLIC_KEYS else take(32)
    identity, cloud = take(32), take_counted(LONGEST_CLOUD)
    authority = None if kind == PLAIN else take_counted(LONGEST_AUTHORITY)
    keys = ()
    if kind == WITH_PUBLIC_KEYS:
        authority, count = authority or None, number()
        if not 1 <= count <= MOST_PUBLIC_KEYS:
            raise Refused("no public key, or too many")
        left = LONGEST_PUBLIC_KEYS
        for _ in range(count):
            keys += (take_counted(left),)
            left -= len(keys[-1])
    return Bundle(secret, identity, cloud.decode(), authority, rest, keys)


PROFILE = {
    "device": "boiler", "period_ms": 60_000, "zone": "Europe/Vienna",
    "cloud_keys": [ed25519.public(bytes(range(32))).hex()],
    "streams": [
        {"stream": "exact-1h", "parameters": "736f7474", "encoding": "resolution", "ticks": 60, "span": "hour",
         "channels": [{"name": "temperature", "unit": "°C", "minimum": -20.0, "maximum": 120.0, "resolution": 0.5},
                      {"name": "pressure", "unit": "bar", "minimum": 0.0, "maximum": 10.0, "resolution": 0.25}],
         "slots": 256, "envelope": 2},
        {"stream": "coarse", "parameters": "736f7474", "encoding": {"integer": {"bits": 12}}, "ticks": 24, "period_ms": 3_600_000},
        {"stream": "model", "parameters": "736f7474", "encoding": "real", "ticks": 1024,
         "channels": [{"name": "vibration", "unit": "", "minimum": -1.0, "maximum": 1.0}], "slots": 1024}]}


# The profile of a device that holds public keys.
PUBLIC_PROFILE = {
    "device": "boiler", "period_ms": 3_600_000,
    "streams": [
        {"stream": "exact-1h", "parameters": "736f7474", "encoding": "resolution", "ticks": 24, "span": "day",
         "channels": [{"name": "temperature", "unit": "°C", "minimum": -20.0, "maximum": 120.0, "resolution": 0.5}], "public": True},
        {"stream": "real-1h", "parameters": "736f7474", "encoding": "real", "ticks": 24, "span": "day",
         "channels": [{"name": "temperature", "unit": "°C", "minimum": -20.0, "maximum": 120.0}], "slots": 32, "public": True}]}


def bundle_files():
    """Bundles without and with an authority, and one with public keys, from fixed secrets."""
    def profile(fields):
        return json.dumps(fields, indent=2, ensure_ascii=False).encode()

    secret, identity = bytes([1]) * 32, bytes(range(64, 96))
    pem = b"-----BEGIN CERTIFICATE-----\nno real one\n-----END CERTIFICATE-----\n"
    plain, tls = "http://127.0.0.1:7410", "https://cloud.example:7411"
    bundles = [Bundle(secret, identity, plain, None, profile(PROFILE)), Bundle(secret, identity, tls, pem, profile(PROFILE)),
               Bundle(None, identity, tls, pem, profile(PUBLIC_PROFILE), (b"a frame", b"another frame"))]
    cases = []
    for bundle in bundles:
        cases.append({"secret": bundle.secret and bundle.secret.hex(), "public_keys": [key.hex() for key in bundle.public_keys],
                      "identity": identity.hex(), "verifying_key": ed25519.public(identity).hex(), "cloud": bundle.cloud,
                      "authority": None if bundle.authority is None else bundle.authority.hex(), "profile": bundle.profile.hex(),
                      "bytes": write(bundle).hex()})
    yield "bundle", {"cases": cases}
