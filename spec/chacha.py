"""ChaCha (Bernstein 2008; RFC 8439, section 2) with a number of rounds: key 32 bytes, nonce 12, block counter from 0."""


def _quarter(state, a, b, c, d):
    """RFC 8439, section 2.1."""
    for x, y, z, shift in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        state[x] = (state[x] + state[y]) & 0xFFFFFFFF
        turned = state[z] ^ state[x]
        state[z] = (turned << shift | turned >> (32 - shift)) & 0xFFFFFFFF


def block(key, counter, nonce, rounds):
    """64 bytes (RFC 8439, section 2.3, where the rounds are 20)."""
    words = [int.from_bytes(part[i:i + 4], "little")
             for part in (b"expand 32-byte k", key, counter.to_bytes(4, "little") + nonce)
             for i in range(0, len(part), 4)]
    state = list(words)
    for _ in range(rounds // 2):
        for i in range(4):
            _quarter(state, i, i + 4, i + 8, i + 12)
        for i in range(4):
            _quarter(state, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return b"".join(((x + y) & 0xFFFFFFFF).to_bytes(4, "little") for x, y in zip(state, words))


def stream(key, nonce, rounds):
    """Yields the endless key stream of a key and nonce, byte by byte."""
    for counter in range(1 << 32):
        yield from block(key, counter, nonce, rounds)
