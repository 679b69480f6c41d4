"""Compares our Paillier with python-paillier: each reads keys and ciphertexts of the other; then times, interleaved.

    cargo build --release -p sotto-decrypt --example paillier_lines
    python3 spec/paillier_compare.py target/release/examples/paillier_lines [--times]

Needs `phe` and `gmpy2`. Fails if an answer is wrong. Prints times, without a limit.
"""

import random
import subprocess
import sys
import time

from phe import paillier, util


class Ours:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        line = " ".join(f"{w:x}" if isinstance(w, int) else w for w in words)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"our program ended on: {line[:80]}")
        return answer.split()

    def number(self, *words):
        return int(self.ask(*words)[0], 16)


def keys_of(n, p, q):
    public = paillier.PaillierPublicKey(n)
    return public, paillier.PaillierPrivateKey(public, p, q)


def both_ways(ours, public, private, rounds):
    """Compares both under one key that both hold."""
    n = public.n
    ends = [0, 1, n // 2, n - 1]
    for m in ends + [random.randrange(n) for _ in range(rounds)]:
        k = random.randrange(1, 1 << 60)
        theirs, mine = public.raw_encrypt(m), ours.number("encrypt", m)
        assert 0 < mine < n * n
        assert private.raw_decrypt(mine) == m, "our ciphertext, their decryption"
        assert ours.number("decrypt", theirs) == m, "their ciphertext, our decryption"
        assert ours.number("add", theirs, mine) == theirs * mine % (n * n), "sums are products modulo n²"
        assert private.raw_decrypt(ours.number("add", theirs, mine)) == 2 * m % n
        product = ours.number("multiply", theirs, str(k))
        assert product == pow(theirs, k, n * n), "products with plain numbers are powers"
        assert ours.number("decrypt", product) == m * k % n
        negative = ours.number("multiply", mine, str(-k))
        assert private.raw_decrypt(negative) == -m * k % n


def least(action, repetitions):
    best = float("inf")
    for _ in range(repetitions):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def times(ours, bits, rounds=6):
    public, private = paillier.generate_paillier_keypair(n_length=bits)
    a, b = public.encrypt(12345), public.encrypt(-7)
    scalar = (1 << 59) + 3
    theirs = {
        "encrypt": (lambda: public.encrypt(12345), 2),
        "decrypt": (lambda: private.decrypt(a), 3),
        "add": (lambda: a + b, 300),
        "multiply": (lambda: a * scalar, 20),
    }
    rows = [
        ("encrypt (table)", "half", "encrypt", "encrypt", 30),
        ("encrypt (no table)", "half", "encrypt-no-table", "encrypt", 8),
        ("encrypt (subgroup key, table)", "subgroup", "encrypt", "encrypt", 30),
        ("encrypt (textbook)", "textbook", "encrypt", "encrypt", 4),
        ("decrypt", "half", "decrypt", "decrypt", 8),
        ("add", "half", "add", "add", 300),
        ("multiply by 60 bits", "half", "multiply", "multiply", 20),
    ]
    found = {row[0]: [float("inf"), float("inf")] for row in rows}
    for masking in ("half", "subgroup", "textbook"):
        ours.ask("generate", str(bits), masking)
        for _ in range(rounds):
            for name, wanted, operation, counterpart, repetitions in rows:
                if wanted == masking:
                    pair = found[name]
                    pair[0] = min(pair[0], float(ours.ask("time", operation, str(repetitions))[0]))
                    pair[1] = min(pair[1], least(*theirs[counterpart]))
    print(f"\n{bits} bits{'':24} ours µs   python-paillier µs   ratio")
    for name, (mine, other) in found.items():
        print(f"  {name:30} {mine:8.1f} {other:20.1f} {other / mine:7.1f}")
    ours.ask("generate", str(bits), "half")
    for operation in ("mask", "subtract", "read", "write"):
        print(f"  {operation:30} {float(ours.ask('time', operation, '20')[0]):8.1f}")


def main():
    program, *options = sys.argv[1:]
    if not util.HAVE_GMP:
        print("python-paillier runs without gmpy2: its times mean nothing")
    ours = Ours(program)
    for bits in (2048, 3072):
        # Our program reads their key; then they read ours, of each kind.
        public, private = paillier.generate_paillier_keypair(n_length=bits)
        assert int(ours.ask("load", private.p, private.q)[0], 16) == public.n
        both_ways(ours, public, private, 4)
        for masking in ("half", "subgroup", "textbook"):
            both_ways(ours, *keys_of(*(int(x, 16) for x in ours.ask("generate", str(bits), masking))), 2)
        print(f"{bits} bits: keys, ciphertexts, sums and products agree both ways")
    if "--times" in options:
        for bits in (2048, 3072):
            times(ours, bits)


if __name__ == "__main__":
    main()
