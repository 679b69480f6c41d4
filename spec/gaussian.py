"""The table of the flooding Gaussian: P(|z| <= i) of the discrete Gaussian with sigma = 8 over the integers.

    python3 -m spec.gaussian            # prints the table as Rust
    python3 -m spec.gaussian --check    # compares the table in crates/decrypt with it

Fixed point with 320 fractional bits; an entry is floor(2^127 * P(|z| <= i)). The table ends where the probability outside is at most 2^-127.
"""

import pathlib
import sys

SIGMA = 8
BITS = 320
ONE = 1 << BITS
TABLE = pathlib.Path(__file__).parent.parent / "crates/decrypt/src/gaussian/table.rs"


def exponential_of_minus(numerator, denominator):
    """exp(-numerator/denominator) in fixed point: the series at 2^-16 of the argument, then 16 squarings."""
    x = (numerator << BITS) // (denominator << 16)
    term, total, k = ONE, ONE, 0
    while term:
        k += 1
        term = (term * x >> BITS) // k
        total += term if k % 2 == 0 else -term
    for _ in range(16):
        total = total * total >> BITS
    return total


def table():
    """Entries until the next would be 2^127 - 1 or more."""
    weights = [exponential_of_minus(k * k, 2 * SIGMA * SIGMA) for k in range(40 * SIGMA)]
    whole = weights[0] + 2 * sum(weights[1:])
    entries, inside = [], 0
    for k, weight in enumerate(weights):
        inside += weight if k == 0 else 2 * weight
        entry = (inside << 127) // whole
        if entry >= (1 << 127) - 1:
            return entries
        entries.append(entry)
    raise AssertionError("the weights do not reach the tail")


def rust():
    entries = table()
    lines = [
        "//! Written by `python3 -m spec.gaussian`; `cargo ci spec` compares it with that program's output.",
        "",
        "/// floor(2^127 · P(|z| ≤ i)) for the discrete Gaussian z over the integers with σ = 8.",
        "#[rustfmt::skip]",
        f"pub(super) static CUMULATIVE: [u128; {len(entries)}] = [",
    ]
    for entry in entries:
        digits = f"{entry:032x}"
        lines.append("    0x" + "_".join(digits[i:i + 8] for i in range(0, 32, 8)) + ",")
    return "\n".join(lines + ["];"]) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        if TABLE.read_text(encoding="utf-8") != rust():
            sys.exit(f"{TABLE.name} differs from the output of `python3 -m spec.gaussian`")
        print("the table of the flooding Gaussian is right")
    else:
        print(rust(), end="")
