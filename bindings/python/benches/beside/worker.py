"""Runs tasks with one library. Reads a task's name a line, answers with a line of JSON."""

from __future__ import annotations

import importlib
import json
import os
import sys
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np
from tasks import TASKS, Registered

#: The seed of the inputs, the same for all libraries.
SEED = 7


def size_of(library: ModuleType, sent: Any) -> int:
    """Return the bytes of the encrypted things, or those given."""
    if isinstance(sent, bytes):
        return len(sent)
    if isinstance(sent, (list, tuple)):
        return sum(size_of(library, part) for part in sent)
    return int(library.size(sent))


def run(library: ModuleType, he: Any, name: str, length: int | None = None) -> dict[str, Any]:
    """Run a task once: seconds without what measures, bytes that travel, largest error."""
    task, program = TASKS[name], library.PROGRAMS[name].program
    inputs = task.inputs(np.random.default_rng(SEED), length or task.length)
    generator = program(he, **inputs)
    seconds, sent, item = 0.0, 0, None
    while True:
        start = perf_counter()
        try:
            item = generator.send(item)
        except StopIteration as end:
            seconds += perf_counter() - start
            found = np.asarray(end.value)
            break
        seconds += perf_counter() - start
        sent += size_of(library, item)
    exact = np.asarray(task.answer(**inputs))
    found = found.reshape(exact.shape)
    error = float(np.abs(found - exact).max())
    return {
        "seconds": seconds,
        "bytes": sent,
        "error": error,
        "right": error <= (0.0 if task.span is None else 1e-3 * task.span),
    }


def main() -> None:
    """Answer lines until there are no more."""
    # Libraries write warnings to stdout.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    library = importlib.import_module(f"{sys.argv[1]}_tasks")
    made: dict[tuple[int, bool], Any] = {}
    for line in sys.stdin:
        name = line.strip()
        registered: Registered = library.PROGRAMS[name]
        kind = registered.levels, registered.whole
        start = perf_counter()
        if kind not in made:
            made[kind] = library.keys(*kind)
        keys = perf_counter() - start
        answer = run(library, made[kind], name)
        answer |= {"keys": keys, "key_bytes": library.key_bytes(made[kind])}
        print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    main()
