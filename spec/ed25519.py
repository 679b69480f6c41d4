"""Ed25519 (RFC 8032, section 5.1), on big integers. Verification is strict: no key and no R of small order, S below the group's order."""

from hashlib import sha512

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
NEUTRAL = (0, 1, 1)


def add(left, right):
    """The sum of two points of -x^2 + y^2 = 1 + d*x^2*y^2, each as (X, Y, Z) with x = X/Z and y = Y/Z."""
    (x1, y1, z1), (x2, y2, z2) = left, right
    both, cross = z1 * z2 % P, D * x1 * x2 % P * y1 * y2 % P
    squared, x, y = both * both, x1 * y2 + x2 * y1, y1 * y2 + x1 * x2
    less, more = squared - cross, squared + cross
    return both * less * x % P, both * more * y % P, less * more % P


def multiply(number, point):
    result = NEUTRAL
    while number:
        if number & 1:
            result = add(result, point)
        point, number = add(point, point), number >> 1
    return result


def equal(left, right):
    (x1, y1, z1), (x2, y2, z2) = left, right
    return (x1 * z2 - x2 * z1) % P == (y1 * z2 - y2 * z1) % P == 0


def compress(point):
    x, y = (coordinate * pow(point[2], P - 2, P) % P for coordinate in point[:2])
    return (y | (x & 1) << 255).to_bytes(32, "little")


def decompress(data):
    """The point of 32 bytes, or None."""
    number = int.from_bytes(data, "little")
    y, sign = number & (1 << 255) - 1, number >> 255
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * ROOT_OF_MINUS_ONE % P
    if x * x % P != square or (x == 0 and sign):
        return None
    return (P - x if x & 1 != sign else x), y, 1


BASE = decompress((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def is_small(point):
    """True for the eight points whose order divides 8."""
    return equal(multiply(8, point), NEUTRAL)


def number_of(*pieces):
    return int.from_bytes(sha512(b"".join(pieces)).digest(), "little")


def halves(secret):
    """The scalar and the prefix of a secret of 32 bytes."""
    digest = sha512(secret).digest()
    scalar = int.from_bytes(digest[:32], "little") & (1 << 254) - 8 | 1 << 254
    return scalar, digest[32:]


def public(secret):
    return compress(multiply(halves(secret)[0], BASE))


def sign(secret, message):
    scalar, prefix = halves(secret)
    nonce = number_of(prefix, message) % ORDER
    r = compress(multiply(nonce, BASE))
    return r + ((nonce + number_of(r, public(secret), message) * scalar) % ORDER).to_bytes(32, "little")


def verify(key, message, signature):
    """True if the holder of the key signed this message."""
    a, r, s = decompress(key), decompress(signature[:32]), int.from_bytes(signature[32:], "little")
    if len(key) != 32 or len(signature) != 64 or a is None or r is None or s >= ORDER or is_small(a) or is_small(r):
        return False
    challenge = number_of(signature[:32], key, message) % ORDER
    return equal(multiply(s, BASE), add(r, multiply(challenge, a)))
