"""Expanding a 24-byte seed to a uniform polynomial: AES-128 (FIPS 197) in counter mode (NIST SP 800-38A).

The seed is a key (16 bytes) and a nonce (8). A stream is named (domain, kind, limb); streams are independent, so
each limb of a mask can be made separately.
"""


def _times_two(x):
    """x times X in GF(2^8) modulo X^8 + X^4 + X^3 + X + 1 (FIPS 197, section 4.2)."""
    return (x << 1) ^ 0x11B if x & 0x80 else x << 1


def _field_multiply(x, y):
    out = 0
    while y:
        out ^= x if y & 1 else 0
        x, y = _times_two(x), y >> 1
    return out


def _substitution(x):
    """One entry of the S-box: the inverse in the field, x^254, then an affine map (FIPS 197, section 5.1.1)."""
    inverse = 1
    for _ in range(254):
        inverse = _field_multiply(inverse, x)
    doubled = inverse << 8 | inverse
    rotations = doubled ^ doubled >> 4 ^ doubled >> 5 ^ doubled >> 6 ^ doubled >> 7
    return (rotations & 0xFF) ^ 0x63


SBOX = bytes(_substitution(x) for x in range(256))


def _xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def expand_key(key):
    """The eleven round keys (FIPS 197, section 5.2)."""
    words, constant = [key[4 * i:4 * i + 4] for i in range(4)], 1
    for i in range(4, 44):
        word = words[i - 1]
        if i % 4 == 0:
            word = bytes(SBOX[x] for x in word[1:] + word[:1])
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = _times_two(constant)
        words.append(_xor(words[i - 4], word))
    return [b"".join(words[4 * r:4 * r + 4]) for r in range(11)]


def _mix_column(column):
    total = column[0] ^ column[1] ^ column[2] ^ column[3]
    return bytes(column[i] ^ total ^ _times_two(column[i] ^ column[(i + 1) % 4]) for i in range(4))


def encrypt_block(round_keys, block):
    """AES-128 of one block (FIPS 197, section 5.1); byte 4*column + row of the block is the state's entry."""
    state = _xor(block, round_keys[0])
    for number, round_key in enumerate(round_keys[1:], 1):
        state = bytes(SBOX[x] for x in state)
        state = bytes(state[(i + 4 * (i % 4)) % 16] for i in range(16))  # shift row r left by r
        if number < 10:
            state = b"".join(_mix_column(state[4 * c:4 * c + 4]) for c in range(4))
        state = _xor(state, round_key)
    return state


def stream(seed, domain, kind, limb):
    """Yields the endless bytes of stream (domain, kind, limb), one by one."""
    round_keys = expand_key(seed[:16])
    prefix = seed[16:] + bytes([domain, kind]) + limb.to_bytes(2, "little")
    for counter in range(1 << 32):
        yield from encrypt_block(round_keys, prefix + counter.to_bytes(4, "big"))


def take(source, count):
    return bytes(next(source) for _ in range(count))


def uniform_limb(seed, domain, limb, q, n):
    """n residues modulo q, uniform: one word each from kind 0; residues not below q are drawn again from kind 1.

    A word is ceil(b/8) bytes, little-endian, of which the low b bits count, b the bits of q; in both kinds.
    """
    bits = q.bit_length()
    first, again = stream(seed, domain, 0, limb), stream(seed, domain, 1, limb)

    def word(source):
        return int.from_bytes(take(source, (bits + 7) // 8), "little") & ((1 << bits) - 1)

    out = [word(first) for _ in range(n)]
    for i in range(n):
        while out[i] >= q:
            out[i] = word(again)
    return out
