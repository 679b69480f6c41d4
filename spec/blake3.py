"""BLAKE3 (O'Connor, Aumasson, Neves, Wilcox-O'Hearn, 2020): digests of 32 bytes, as a hash and for key derivation.

The input is cut into chunks of 1,024 bytes; the chunks are leaves of a binary tree whose left half has the largest power of two of chunks
that is smaller than their number.
"""

from struct import pack, unpack

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
ORDER = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
QUARTERS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
            (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
CHUNK_START, CHUNK_END, PARENT, ROOT, DERIVE_CONTEXT, DERIVE_MATERIAL = 1, 2, 4, 8, 32, 64
WORD = (1 << 32) - 1


def compress(chain, block, counter, length, flags):
    """The next chaining value: 8 words from 8 words and a block of 16."""
    v = [*chain, *IV[:4], counter & WORD, counter >> 32, length, flags]
    words = list(block)
    for _ in range(7):
        for at, (a, b, c, d) in enumerate(QUARTERS):
            for word, right in ((words[2 * at], (16, 12)), (words[2 * at + 1], (8, 7))):
                v[a] = (v[a] + v[b] + word) & WORD
                v[d] = rotate(v[d] ^ v[a], right[0])
                v[c] = (v[c] + v[d]) & WORD
                v[b] = rotate(v[b] ^ v[c], right[1])
        words = [words[i] for i in ORDER]
    return [v[i] ^ v[i + 8] for i in range(8)]


def rotate(word, right):
    return (word >> right | word << (32 - right)) & WORD


def chunk(key, data, counter, flags, root):
    blocks = [data[i:i + 64] for i in range(0, len(data), 64)] or [b""]
    chain = key
    for at, block in enumerate(blocks):
        last = at == len(blocks) - 1
        edge = (CHUNK_START if at == 0 else 0) | (CHUNK_END if last else 0) | (root if last else 0)
        chain = compress(chain, unpack("<16I", block.ljust(64, b"\0")), counter, len(block), flags | edge)
    return chain


def tree(key, data, counter, flags, root):
    """The chaining value of the part of the input that begins with chunk `counter`."""
    chunks = -(-len(data) // 1024)
    if chunks <= 1:
        return chunk(key, data, counter, flags, root)
    left = 1 << (chunks - 1).bit_length() - 1
    halves = tree(key, data[:1024 * left], counter, flags, 0) + tree(key, data[1024 * left:], counter + left, flags, 0)
    return compress(key, halves, 0, 64, flags | PARENT | root)


def digest(data):
    return pack("<8I", *tree(IV, data, 0, 0, ROOT))


def derive_key(context, data):
    key = tree(IV, context.encode(), 0, DERIVE_CONTEXT, ROOT)
    return pack("<8I", *tree(key, data, 0, DERIVE_MATERIAL, ROOT))
