"""Residues as bytes: b(q) bits each, least significant bit first, each limb padded with zero bits to a byte."""


def pack_limb(limb, q):
    bits = q.bit_length()
    joined = sum(x << (i * bits) for i, x in enumerate(limb))
    return joined.to_bytes((len(limb) * bits + 7) // 8, "little")


def unpack_limb(data, q, n):
    bits = q.bit_length()
    joined = int.from_bytes(data, "little")
    return [joined >> (i * bits) & ((1 << bits) - 1) for i in range(n)]


def pack(limbs, primes):
    return b"".join(pack_limb(limb, q) for limb, q in zip(limbs, primes))
