"""Sums of windows of readings. PROTOCOL.md states the timed part."""

import random
from dataclasses import dataclass, field
from time import process_time_ns
from typing import Any, Callable

from clock import Operation

READINGS = 16
BITS = 12
COUNTS = (1000, 10000)
# The largest total of a reading over the windows of a sum.
LARGEST_TOTAL = max(COUNTS) * (2**BITS - 1)
# Windows that are encrypted; sums add them again and again, because 10,000 would take some libraries hours.
KEPT = 4


@dataclass
class Windows:
    """Windows under one key. `encrypt` takes a list of readings, `open` returns a list of totals, `size` the bytes of a
    window or a sum. `add` returns the sum of its operands, and may overwrite the first, which `copy` made."""

    encrypt: Callable[[list], Any]
    add: Callable[[Any, Any], Any]
    open: Callable[[Any], list]
    size: Callable[[Any], int]
    copy: Callable[[Any], Any] = lambda window: window
    clear: list = field(default_factory=list)
    kept: list = field(default_factory=list)
    sums: dict = field(default_factory=dict)

    def made(self):
        """Returns the encrypted windows; the first call makes them."""
        if not self.kept:
            self.clear = [[random.randrange(2**BITS) for _ in range(READINGS)] for _ in range(KEPT)]
            self.kept = [self.encrypt(readings) for readings in self.clear]
        return self.kept

    def sum(self, count):
        """Returns the encrypted sum of `count` windows."""
        kept = self.kept
        total = self.copy(kept[0])
        for position in range(1, count):
            total = self.add(total, kept[position % KEPT])
        return total

    def expected(self, count):
        times = [len(range(first, count, KEPT)) for first in range(KEPT)]
        return [sum(n * reading for n, reading in zip(times, column)) for column in zip(*self.clear)]

    def encrypting(self, _):
        self.made()
        readings = self.clear[0]
        return timed(lambda: self.encrypt(readings), lambda window: self.open(window) == readings, self.size)

    def summing(self, count):
        self.made()
        return timed(lambda: self.sum(count), lambda total: self.open(total) == self.expected(count), self.size)

    def opening(self, count):
        self.made()
        if count not in self.sums:
            self.sums[count] = self.sum(count)
        total = self.sums[count]
        return timed(lambda: self.open(total), lambda found: found == self.expected(count))

    def operations(self):
        named = {"window_encrypt": self.encrypting}
        for count in COUNTS:
            named[f"window_sum_{count}"] = lambda _, count=count: self.summing(count)
            named[f"window_open_{count}"] = lambda _, count=count: self.opening(count)
        return named


def timed(run, right, size=None):
    """Returns an operation that is timed on the processor: it takes seconds, in which other programs run, too."""
    return Operation(lambda _: run(), right, size=size, clock=process_time_ns)
