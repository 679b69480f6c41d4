"""`python3 -m spec.vectors` writes the known answers to conformance/vectors; with --check it only compares."""

import sys
from math import log2, prod
from pathlib import Path

from spec import encode, ntt, packing, primes, reduced, ring, rns, xof
from spec.bundle import bundle_files
from spec.expand_vectors import expand_files
from spec.sample import Sampler
from spec.scheme_vectors import scheme_files
from spec.sums_vectors import sums_files
from spec.sums_wire_vectors import sums_wire_files
from spec.tables import table_cases
from spec.text import render
from spec.transcript_vectors import transcript_files

FOLDER = Path(__file__).resolve().parent.parent / "conformance" / "vectors"

CHAINS = [  # degree, special bits, data bits
    (1024, [], [26]),
    (2048, [], [50]),
    (4096, [36], [35] * 2),
    (8192, [46], [42] * 4),
    (16384, [43] * 2, [43] * 8),
    (32768, [43] * 4, [43] * 16),
    (65536, [48] * 4, [48] * 32),
]
CKKS_CHAINS = [  # degree, special bits, bits of q_0, bits of the scale, scale primes
    (4096, [38], 38, 30, 1),
    (8192, [50], 50, 38, 3),
    (16384, [50] * 2, 50, 40, 7),
    (32768, [50] * 4, 50, 40, 15),
    (65536, [50] * 5, 50, 40, 36),
]
LONG_CHAINS = [(64, [60], 60, 30, 60), (64, [60], 60, 50, 60), (64, [60], 60, 58, 60), (16384, [50], 50, 40, 60)]
PRIME_BITS = (26, 36, 50, 60, 61)


def ntt_cases():
    pairs = [(8, 17)] + [(n, primes.largest_prime(n, 1 << bits)) for n in (8, 16, 64) for bits in PRIME_BITS]
    for n, q in pairs:
        a = list(range(1, 9)) if q == 17 else Sampler(f"ntt {n} {q}").below(n, q)
        yield {"degree": n, "modulus": q, "root": primes.smallest_root(n, q), "input": a, "output": ntt.forward(a, q)}


def chain_cases():
    for n, special_bits, data_bits in CHAINS:
        special, data = primes.chain(n, special_bits, data_bits)
        yield {"scheme": "bgv-bfv", "degree": n, "special_bits": special_bits, "data_bits": data_bits,
               "scale_bits": None, "special": special, "data": data, "scales_log2": None}
    for n, special_bits, base_bits, scale_bits, count in CKKS_CHAINS:
        special, data, scales = primes.ckks_chain(n, special_bits, base_bits, scale_bits, count)
        yield {"scheme": "ckks", "degree": n, "special_bits": special_bits,
               "data_bits": [base_bits] + [scale_bits] * count, "scale_bits": scale_bits,
               "special": special, "data": data, "scales_log2": [log2_of(scale) for scale in scales]}


def scale_cases():
    """Scales with more bits than a float. Arithmetic in 192 bits would lose the last 60 of them in 60 levels."""
    for n, special_bits, base_bits, scale_bits, count in CKKS_CHAINS + LONG_CHAINS:
        special, data, scales = primes.ckks_chain(n, special_bits, base_bits, scale_bits, count)
        pairs = [(count, end) for end in range(count)] + [(end + 1, end) for end in range(count - 1)]
        short = [primes.shortened(*scale, 8192, 8192) for scale in scales]
        yield {"degree": n, "scale_bits": scale_bits, "special": special, "data": data,
               "ratios": [f"{(numerator << 192 - scale_bits) // denominator:x}" for numerator, denominator in scales],
               "matches": [[start, end, primes.scale_match(short, data, start, end)] for start, end in pairs]}


def log2_of(fraction):
    """The logarithm of a fraction of integers far beyond any float."""
    numerator, denominator = fraction
    return log2((numerator << 64) // denominator) - 64


def edges(product):
    """Integers at which rounding and wrapping happen: around 0 and around half of the product, with both signs."""
    half = product // 2
    return [x % product for x in (0, 1, -1, half - 1, half, half + 1, half - (product >> 22), half + (product >> 22))]


def conversion_cases():
    targets = [primes.largest_prime(8, 1 << 59), primes.largest_prime(8, 1 << 31), 65537, 1000, 2]
    for bits, count in ((30, 1), (60, 1), (36, 2), (50, 2), (40, 3), (61, 3), (60, 8)):
        basis = tuple(primes.chain(16, [], [bits] * count)[1])
        values = edges(prod(basis)) + Sampler(f"conversion {bits} {count}").below(8, prod(basis))
        rows = [rns.residues(x, basis) for x in values]
        yield {"from": basis, "to": targets, "input": limbs(rows),
               "output": limbs([rns.convert(row, basis, targets) for row in rows])}


def divide_cases():
    for bits in (36, 58):
        basis = tuple(primes.chain(8, [bits + 2] * 2, [bits] * 3)[0] + primes.chain(8, [bits + 2] * 2, [bits] * 3)[1])
        for primes_of_input, dropped in ((basis[2:], [2]), (basis[2:], [1, 2]), (basis[1:], [0]), (basis, [0, 1])):
            for t in (None, 2, 257, 65537, 1000003):
                yield divide_case(primes_of_input, dropped, t)


def divide_case(basis, dropped, t):
    dropped_primes = tuple(basis[i] for i in dropped)
    values = edges(prod(dropped_primes))[1:7] + Sampler(f"divide {basis} {dropped} {t}").below(2, prod(basis))
    rows = [rns.residues(x, basis) for x in values]
    return {"primes": basis, "dropped": dropped, "rounding": "Nearest" if t is None else "CongruentMod",
            "plain_modulus": t, "input": limbs(rows),
            "output": limbs([rns.divide(row, basis, dropped_primes, t) for row in rows])}


def limbs(rows):
    """Reorders residues from coefficient by coefficient to limb by limb."""
    return [list(limb) for limb in zip(*rows)]


def seed_cases():
    n, just_above = 64, (primes.next_prime((1 << 28) + 1, 128), primes.next_prime((1 << 48) + 1, 128))
    others = tuple(primes.largest_prime(n, 1 << bits) for bits in (26, 36, 50, 61))
    for number, q in enumerate(just_above + others):
        seed, domain, limb = Sampler(f"seed {q}").seed(), (0, 0, 1, 2, 7, 255)[number], (0, 1, 0, 3, 20, 258)[number]
        streams = [xof.take(xof.stream(seed, domain, kind, limb), 48).hex() for kind in (0, 1)]
        yield {"seed": seed.hex(), "domain": domain, "limb": limb, "modulus": q, "degree": n,
               "streams": streams, "residues": xof.uniform_limb(seed, domain, limb, q, n)}


def galois_cases():
    for n, bits in ((8, 30), (16, 50), (64, 60)):
        q = primes.largest_prime(n, 1 << bits)
        steps = [(step, ring.galois_element(n, step)) for step in (1, 2, -1, n // 2 - 1)]
        for step, g in steps + [(None, ring.row_swap(n))]:
            a = Sampler(f"galois {n} {g}").below(n, q)
            moved = [x % q for x in ring.automorphism(a, g)]
            yield {"degree": n, "galois_element": g, "step": step, "permutation": ntt.galois_permutation(n, g),
                   "modulus": q, "input": a, "output": moved,
                   "input_evaluated": ntt.forward(a, q), "output_evaluated": ntt.forward(moved, q)}


def batching_cases():
    for n, t in ((8, 17), (8, 65537), (16, 257), (64, 257), (64, 65537), (64, primes.largest_prime(64, 1 << 40))):
        slots = Sampler(f"batching {n} {t}").below(n, t)
        yield {"degree": n, "plain_modulus": t, "root": primes.smallest_root(n, t),
               "slot_indices": encode.slot_indices(n), "slots": slots, "coefficients": encode.batch(slots, t)}


def embedding_cases():
    for n, scale_bits in ((8, 20), (8, 30), (16, 40), (64, 30), (64, 40)):
        random = Sampler(f"embedding {n} {scale_bits}")
        pairs, real = clear_of_ties(random, n, 1 << scale_bits, lambda: [0] * (n // 2))
        slots = [slot for slot, _ in pairs]
        yield {"degree": n, "scale_bits": scale_bits, "slots": slots, "coefficients": [round(x) for x in real]}


def complex_cases():
    for n, scale_bits in ((8, 30), (16, 40), (64, 40)):
        random = Sampler(f"complex {n} {scale_bits}")
        slots, real = clear_of_ties(random, n, 1 << scale_bits, lambda: random.thousandths(n // 2))
        yield {"degree": n, "scale_bits": scale_bits, "slots": slots, "coefficients": [round(x) for x in real]}


def clear_of_ties(random, n, scale, imaginary):
    """Slots whose scaled coefficients are all at least 2^-7 from a half: a float transform rounds them alike."""
    while True:
        slots = list(zip(random.thousandths(n // 2), imaginary()))
        real = [x * scale for x in encode.embed(slots)]
        if all(abs(abs(x - round(x)) * 2 - 1) > 2**-6 for x in real):
            return slots, real


def packing_cases():
    for n, sizes in ((8, (30, 61)), (16, (26, 37, 50)), (64, (43, 60))):
        basis = [primes.largest_prime(n, 1 << bits) for bits in sizes]
        rows = [Sampler(f"packing {n} {q}").below(n, q) for q in basis]
        yield {"degree": n, "primes": basis, "residues": rows, "bytes": packing.pack(rows, basis).hex()}


def reduced_cases():
    """Coefficients on both sides of the middle between two multiples of Q/2^w, the ends, and random ones."""
    for scheme, n, data, plain, width, spacing, count in (
            ("bfv", 16, [30], 97, 24, 1, 1), ("bfv", 16, [40, 40], 257, 30, 4, 3), ("bgv", 16, [40, 40], 257, 30, 8, 1),
            ("bgv", 64, [36, 36, 36], 65537, 40, 16, 5), ("bgv", 16, [40], 1000, 32, 16, 2), ("ckks", 16, [45, 40], 40, 56, 1, 1),
            ("ckks", 64, [40], 30, 33, 2, 1)):
        basis = primes.chain(n, [], data)[1] if scheme != "ckks" else [primes.largest_prime(n, 1 << data[0])]
        if scheme == "ckks" and len(data) > 1:
            basis = list(primes.ckks_chain(n, [50], data[0], data[1], 1)[1])
        modulus, factor = prod(basis), plain if scheme == "bgv" else 1
        random = Sampler(f"reduced {scheme} {n} {data} {plain}")
        middles = [(2 * m + 1) * modulus >> (width + 1) for m in (0, 1, 1 << (width - 1), (1 << width) - 1)]
        edges = [0, 1, modulus - 1, modulus // 2, modulus // 2 + 1] + middles + [m + 1 for m in middles]
        components = [[factor * x % modulus for x in (edges + random.below(n, modulus))[:n]], random.below(n, modulus)]
        read = reduced.exponents(n, spacing, count)
        body, mask = (reduced.reduce(c, modulus, width, factor) for c in components)
        body = [body[i] for i in read]
        lifted = [0] * n
        for i, x in zip(read, reduced.lift(body, modulus, width, factor)):
            lifted[i] = x
        lifted = [lifted, reduced.lift(mask, modulus, width, factor)]
        rows = lambda coefficients: [[x % q for x in coefficients] for q in basis]
        yield {"scheme": scheme, "degree": n, "data": basis, "plain": plain, "width": width, "spacing": spacing, "count": count,
               "components": [rows(c) for c in components], "body": body, "mask": mask, "lifted": [rows(c) for c in lifted]}


def files():
    for name, cases in (("ntt", ntt_cases), ("chains", chain_cases), ("scales", scale_cases),
                        ("conversion", conversion_cases), ("divide", divide_cases), ("seed", seed_cases),
                        ("galois", galois_cases), ("packing", packing_cases),
                        ("reduced", reduced_cases), ("tables", table_cases)):
        yield name, {"cases": list(cases())}
    yield "encode", {"batching": list(batching_cases()), "embedding": list(embedding_cases()),
                     "complex": list(complex_cases())}
    yield from scheme_files()
    yield from expand_files()
    yield from transcript_files()
    yield from bundle_files()
    yield from sums_files()
    yield from sums_wire_files()


def main():
    stale = []
    for name, content in files():
        path, text = FOLDER / f"{name}.json", render(content) + "\n"
        if "--check" not in sys.argv:
            FOLDER.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(path.name)
    if stale:
        sys.exit(f"these files differ from the spec's results (run python3 -m spec.vectors): {', '.join(stale)}")


if __name__ == "__main__":
    main()
