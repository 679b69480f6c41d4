"""Times array operations through Python and directly in Rust, in turn, and prints the ratios.

    cargo build --release --package sotto-he --example operations
    python bindings/python/benches/overhead.py [--rounds 200] [--depth 3] [--cpu]

Both run on one core at the same parameters: of degree 8192 at the default depth, 16384 at depth 3.
A round of an operation is a batch of calls in each language, one directly after the other; the
figures are medians over the rounds. `--cpu` measures the processor's time in place of the time that
passes, for machines where other programs interrupt both.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import clock_gettime, perf_counter, thread_time
from typing import Any

import numpy as np
import sotto as st

ROOT = Path(__file__).resolve().parents[3]
#: The largest absolute value of an input: that of the Rust program.
WITHIN = 100.0
#: The default depth, whose parameters have degree 8192.
DEPTH = 2
#: Seconds of a batch, about.
BATCH = 5e-3


class Rust:
    """The example `operations` of the crate, which answers requests for times."""

    def __init__(self, program: Path, numbers: str, depth: int, count: int) -> None:
        """Start it; it makes keys."""
        self._process = subprocess.Popen(
            [str(program), numbers, str(depth), str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.degree = self._answer()["degree"]

    def _answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._line())
        return answer

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def _run(self, operation: str, repetitions: int) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{operation} {repetitions}\n")
        self._process.stdin.flush()

    def seconds(self, operation: str, repetitions: int) -> float:
        """Return the mean seconds of a call."""
        self._run(operation, repetitions)
        return float(self._answer()["seconds"])

    def processor_seconds(self, operation: str, repetitions: int) -> float:
        """Return the mean seconds of the processor in a call, without those of the request."""
        return (self._spent(operation, repetitions) - self._spent(operation, 0)) / repetitions

    def _spent(self, operation: str, repetitions: int) -> float:
        # Linux's number of the clock that counts the processor's time in another process.
        clock = (~self._process.pid << 3) | 2
        start = clock_gettime(clock)
        self._run(operation, repetitions)
        self._line()
        return clock_gettime(clock) - start

    def end(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def operations(
    owner: st.Owner, values: np.ndarray[Any, Any], plain: np.ndarray[Any, Any]
) -> dict[str, Callable[[], Any]]:
    """Return the operations by the names that the Rust program knows."""
    within = (-WITHIN, WITHIN)
    x, y = owner.encrypt(values, range=within), owner.encrypt(plain, range=within)
    cloud = st.Evaluator(owner.public_bundle())
    number = values.dtype.type(2).item()
    coefficients = np.array([1, 2, 3, 1], dtype=values.dtype)
    indices = np.arange(10) * 97 % len(values)
    data = bytes(x)
    return {
        "encrypt": lambda: owner.encrypt(values, range=within),
        "decrypt": lambda: owner.decrypt(x),
        "+": lambda: x + y,
        "-": lambda: x - y,
        "*": lambda: x * y,
        "+ plain": lambda: x + plain,
        "* plain": lambda: x * plain,
        "+ number": lambda: x + number,
        "* number": lambda: x * number,
        "** 2": lambda: x**2,
        "polynomial": lambda: x.polynomial(coefficients),
        "sum": lambda: x.sum(),
        "dot": lambda: x @ y,
        "dot plain": lambda: x @ plain,
        "select": lambda: x[indices],
        "to bytes": lambda: bytes(x),
        "from bytes": lambda: cloud.read(data),
    }


def seconds(
    operation: Callable[[], Any], repetitions: int, clock: Callable[[], float] = perf_counter
) -> float:
    """Return the mean seconds of a call."""
    start = clock()
    for _ in range(repetitions):
        operation()
    return (clock() - start) / repetitions


def rows(
    program: Path, rounds: int, only: str | None, depth: int, processor: bool
) -> Iterator[tuple[str, str, float, float]]:
    """Yield numbers, operation, and the median seconds in Python and in Rust."""
    owner = st.Owner.new(depth=depth)
    clock = thread_time if processor else perf_counter
    for numbers, dtype, count in (("reals", np.float64, 4096), ("integers", np.int64, 8192)):
        places = np.arange(count)
        values, plain = (places * 7 % 50).astype(dtype), (places * 11 % 30).astype(dtype)
        rust = Rust(program, numbers, depth, count)
        ours = operations(owner, values, plain)
        native = getattr(owner._contexts, numbers)()
        assert rust.degree == native.degree, f"degrees {rust.degree} and {native.degree}"
        print(f"degree {rust.degree}", file=sys.stderr)
        theirs = rust.processor_seconds if processor else rust.seconds
        for name, operation in ours.items():
            if only not in (None, name):
                continue
            repetitions = max(1, round(BATCH / max(rust.seconds(name, 2), 1e-6)))
            seconds(operation, 2)
            pairs = []
            for turn in range(rounds):
                if turn % 2:
                    python = seconds(operation, repetitions, clock)
                    pairs.append((python, theirs(name, repetitions)))
                else:
                    first = theirs(name, repetitions)
                    pairs.append((seconds(operation, repetitions, clock), first))
            yield numbers, name, median(p for p, _ in pairs), median(r for _, r in pairs)
        rust.end()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    parser.add_argument("--program", type=Path, default=target / "release/examples/operations")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--only", help="one operation")
    parser.add_argument("--depth", type=int, default=DEPTH, help="products one after another")
    parser.add_argument("--cpu", action="store_true", help="measure the processor's time (Linux)")
    arguments = parser.parse_args()
    if not arguments.program.is_file():
        sys.exit(
            f"{arguments.program} is missing: "
            "cargo build --release --package sotto-he --example operations"
        )
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.environ["RAYON_NUM_THREADS"] = "1"
    print("| numbers | operation | Rust, µs | Python, µs | Python/Rust |")
    print("| --- | --- | ---: | ---: | ---: |")
    options = arguments.rounds, arguments.only, arguments.depth, arguments.cpu
    for numbers, name, python, rust in rows(arguments.program, *options):
        share = f"{python / rust:.3f}"
        print(f"| {numbers} | `{name}` | {rust * 1e6:.1f} | {python * 1e6:.1f} | {share} |")


if __name__ == "__main__":
    main()
