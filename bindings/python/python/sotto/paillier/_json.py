"""The JSON of python-paillier's command line: keys as JWK, and encrypted numbers.

Texts are untrusted: bounded before they are parsed, and every field is checked.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any

from sotto._errors import BadBytes, WrongKeys

LONGEST = 1 << 16
"""Characters of the longest text: a key of 4096 bits has fewer than 4000."""
_BASE64URL = re.compile(r"[A-Za-z0-9_-]{1,2048}={0,2}", re.ASCII)
_DECIMAL = re.compile(r"[0-9]{1,2500}", re.ASCII)


def parsed(text: str | bytes) -> dict[str, Any]:
    """Return the fields of a JSON object."""
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"JSON is str or bytes, not {type(text).__name__}")
    if len(text) > LONGEST:
        raise BadBytes(f"a text of {len(text)} characters is no key and no encrypted number")
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise BadBytes("this is not JSON") from None
    if not isinstance(fields, dict):
        raise BadBytes("this JSON is not an object")
    return fields


def public_modulus(fields: object) -> int:
    """Return n of a public key."""
    if not isinstance(fields, dict):
        raise BadBytes('the key has no object "pub"')
    expect(fields, "kty", "DAJ")
    expect(fields, "alg", "PAI-GN1")
    return number(fields, "n")


def private_numbers(fields: dict[str, Any]) -> tuple[tuple[int, int] | None, int]:
    """Return the primes of a private key; or None, and lambda."""
    expect(fields, "kty", "DAJ")
    operations = fields.get("key_ops")
    if not isinstance(operations, list) or "decrypt" not in operations:
        raise BadBytes('"key_ops" of this key does not contain "decrypt": it is no private key')
    if "p" in fields or "q" in fields:
        return (number(fields, "p"), number(fields, "q")), 0
    return None, number(fields, "lambda")


def encrypted_fields(fields: dict[str, Any]) -> tuple[int, int]:
    """Return ciphertext and exponent of an encrypted number."""
    value, exponent = fields.get("v"), fields.get("e")
    if not isinstance(value, str) or not _DECIMAL.fullmatch(value):
        raise BadBytes('"v" of an encrypted number is a text of decimal digits')
    if type(exponent) is not int:
        raise BadBytes('"e" of an encrypted number is an integer')
    return int(value), exponent


def public_fields(n: int, comment: str) -> dict[str, Any]:
    """Return the fields of a public key."""
    return {"kty": "DAJ", "alg": "PAI-GN1", "key_ops": ["encrypt"], "n": text(n), "kid": comment}


def private_fields(p: int, q: int, public: dict[str, Any], comment: str) -> dict[str, Any]:
    """Return the fields of a private key."""
    return {
        "kty": "DAJ",
        "key_ops": ["decrypt"],
        "p": text(p),
        "q": text(q),
        "pub": public,
        "kid": comment,
    }


def expect(fields: dict[str, Any], name: str, value: str) -> None:
    """Refuse an object whose field has another value."""
    if fields.get(name) != value:
        raise BadBytes(f'"{name}" of a Paillier key is "{value}"')


def number(fields: dict[str, Any], name: str) -> int:
    """Return a positive integer from base64url, with or without padding."""
    value = fields.get(name)
    if not isinstance(value, str) or not _BASE64URL.fullmatch(value):
        raise BadBytes(f'"{name}" is not a number in base64url')
    digits = value.rstrip("=")
    try:
        found = int.from_bytes(base64.urlsafe_b64decode(digits + "=" * (-len(digits) % 4)), "big")
    except ValueError:
        raise BadBytes(f'"{name}" is not a number in base64url') from None
    if found == 0:
        raise BadBytes(f'"{name}" is zero')
    return found


def text(value: int) -> str:
    """Return base64url without padding."""
    data = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def other_key(what: str) -> WrongKeys:
    """Return the error for a number under another key."""
    return WrongKeys(f"{what} for another public key: use numbers of one key")
