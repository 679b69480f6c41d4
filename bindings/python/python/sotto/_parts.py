"""Object arrays of native vectors, and the record of the lines that used levels."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from sotto import _progress
from sotto._errors import OutOfDepth, PublicZero, SottoError
from sotto._native import Vector

#: A line of the caller's program and the operation in it.
Step = tuple[str, int, str]

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
#: Lines that an error names at most.
_SHOWN = 12


def objects(items: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return an object array of this shape, filled from an iterable, with a progress bar."""
    array = np.empty(shape, dtype=object)
    flat = array.reshape(-1)
    items = _progress.tracked(items, flat.size)
    for place, item in zip(range(flat.size), items, strict=True):
        flat[place] = item
    return array


def alone(item: Any) -> np.ndarray[Any, Any]:
    """Return an object array without axes. The compiled part calls it and `joined`."""
    array = np.empty((), dtype=object)
    array[()] = item
    return array


def caller(operation: str) -> Step:
    """Return the nearest line outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno, operation


def depth_of_caller() -> int:
    """Return the `stacklevel` of a warning that names the nearest line outside this package."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame, depth = frame.f_back, depth + 1
    return depth


def longer(trail: tuple[Step, ...], operation: str) -> tuple[Step, ...]:
    """Return a trail and the caller's line."""
    return joined(trail, (caller(operation),))


def joined(*trails: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the steps of several trails, each once, in order."""
    if all(trail == trails[0] for trail in trails):
        return trails[0]
    return tuple(dict.fromkeys(step for trail in trails for step in trail))


def computed(
    operation: str,
    run: Callable[[], Any],
    operands: list[Vector],
    trail: tuple[Step, ...],
) -> tuple[Any, tuple[Step, ...]]:
    """Run an operation. The trail grows by the caller's line if a level was used.

    `run` returns an object array of vectors.
    """
    try:
        parts = run()
    except (OutOfDepth, PublicZero) as error:
        raise _placed(error, (*trail, caller(operation)), operands[0]) from None
    return parts, _grown(operation, operands, parts.flat, trail)


def computed_alone(
    operation: str,
    run: Callable[..., Vector],
    operands: list[Vector],
    trail: tuple[Step, ...],
    *public: Any,
) -> tuple[Vector, tuple[Step, ...]]:
    """Return `computed` for one vector: `run(*operands, *public)`."""
    try:
        vector = run(*operands, *public)
    except (OutOfDepth, PublicZero) as error:
        raise _placed(error, (*trail, caller(operation)), operands[0]) from None
    return vector, _grown(operation, operands, (vector,), trail)


def _grown(
    operation: str, operands: list[Vector], results: Iterable[Vector], trail: tuple[Step, ...]
) -> tuple[Step, ...]:
    """Return the trail, with the caller's line if a level was used."""
    before = min([vector.levels_left for vector in operands])
    after = min([vector.levels_left for vector in results])
    return trail if after >= before else longer(trail, operation)


def _placed(error: SottoError, trail: tuple[Step, ...], operand: Vector) -> SottoError:
    """Return the error with the lines that led to it."""
    if type(error) is OutOfDepth:
        return OutOfDepth(_explained(str(error), trail, _way_out(operand, str(error))))
    name, line, operation = trail[-1]
    return type(error)(f"{os.path.basename(name)}:{line}, {operation}: {error}")


def _way_out(operand: Vector, reason: str) -> str:
    if not operand.is_real:
        # Several depths of whole numbers have the same parameters.
        return "let Owner.for_program(f, st.like(…, dtype=int)) find parameters with room"
    found = "or let Owner.for_program(f, …) find parameters with room"
    if operand.compares:
        return f"make room with Owner.new(depth=…, comparisons=…), depth one more, {found}"
    missing = re.search(r"takes (\d+) levels, and (\d+) are left", reason)
    more = int(missing[1]) - int(missing[2]) if missing else 1
    return f"make room with Owner.new(depth={operand.levels + more}), {found}"


def _explained(reason: str, trail: tuple[Step, ...], way_out: str) -> str:
    lines = [f"  {os.path.basename(name)}:{line}  {what}" for name, line, what in trail[-_SHOWN:]]
    return "\n".join(
        [
            f"no room for this: {reason}",
            "these lines used the levels, the last one was refused:",
            *lines,
            way_out,
        ]
    )
