"""Checks the result of an operation, then times it."""

import gc
import statistics
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any, Callable, Optional

CONVERSIONS = 15


def nothing():
    return None


@dataclass
class Operation:
    """An operation. `before` makes its operand, untimed; `run` is timed; `right` checks the result. `conversion` does
    only the part of `run` that converts Python's lists; its time is subtracted. `size` returns the bytes of a
    result. `clock` counts nanoseconds: `process_time_ns` only those on a processor."""

    run: Callable[[Any], Any]
    right: Callable[[Any], bool]
    before: Callable[[], Any] = nothing
    conversion: Optional[Callable[[], Any]] = None
    size: Optional[Callable[[Any], int]] = None
    clock: Callable[[], int] = perf_counter_ns


def times(run, before, warm_up, repetitions, clock=perf_counter_ns):
    """Returns the microseconds of each run."""
    taken = []
    gc.collect()
    gc.disable()
    try:
        for repetition in range(warm_up + repetitions):
            operand = before()
            begin = clock()
            result = run(operand)
            end = clock()
            del operand, result
            if repetition >= warm_up:
                taken.append((end - begin) / 1000)
    finally:
        gc.enable()
    return taken


def measure(operation, request):
    size = None
    if not request.get("checked"):
        result = operation.run(operation.before())
        if not operation.right(result):
            raise ValueError("the result is wrong")
        size = operation.size(result) if operation.size else None
        # Keys may take gigabytes: do not hold them twice.
        del result
    warm_up, repetitions = request.get("warm_up", 0), request["repetitions"]
    taken = times(operation.run, operation.before, warm_up, repetitions, operation.clock)
    if operation.conversion:
        conversion = statistics.median(times(lambda _: operation.conversion(), nothing, 2, CONVERSIONS))
        taken = [max(one - conversion, 0.0) for one in taken]
    return {"microseconds": taken, "bytes": size, "verified": True}
