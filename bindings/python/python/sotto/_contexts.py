"""Parameters of owners and of plans."""

from __future__ import annotations

import operator
from typing import Any

from sotto._accuracy import Accuracy
from sotto._native import Context

#: Whole numbers are declared within this at most.
LARGEST_INTEGER = 2.0**40
RESULTS_WITHIN = 1e10
#: Products that there is room for unless a number is given, also before a comparison.
_DEPTH, _DEPTH_BEFORE_COMPARISON = 2, 0
#: Gaps of comparisons, and numbers of a range that is compared exactly.
_GAPS, _MOST_COMPARED = (2.0**-12, 0.5), 256


class Contexts:
    """Parameters for both kinds of numbers, made when they are needed."""

    def __init__(
        self,
        depth: int | None = None,
        results_within: float | None = None,
        public_inputs: bool = False,
        comparisons: float | None = None,
        integer_range: tuple[int, int] | None = None,
        error_within: float | str | None = None,
        chain: tuple[int, int] | None = None,
    ) -> None:
        # The arguments that make the same parameters again.
        self.options: dict[str, Any] = {
            name: value
            for name, value in (
                ("depth", depth),
                ("results_within", results_within),
                ("public_inputs", public_inputs or None),
                ("comparisons", comparisons),
                ("integer_range", integer_range),
                ("error_within", error_within),
                ("chain", chain),
            )
            if value is not None
        }
        self._error = None if error_within is None else Accuracy.of(error_within)
        if comparisons is not None and (self._error or chain) is not None:
            raise ValueError(
                "the gap of a comparison is its accuracy: comparisons=… goes without error_within "
                "and chain"
            )
        self._chain = chain
        if depth is None:
            depth = _DEPTH if comparisons is None else _DEPTH_BEFORE_COMPARISON
        if not 0 <= depth <= 100:
            raise ValueError(f"depth={depth} is not a number of products, 0 or more")
        if comparisons is not None and not _GAPS[0] <= comparisons <= _GAPS[1]:
            raise ValueError(
                f"comparisons={comparisons} is not a gap, a share of the range from 2^-12 to 2^-1"
            )
        self.depth, self._results, self._public = depth, results_within, public_inputs
        self._gap, self.integer_range = comparisons, _range_to_compare(integer_range)
        self._reals: Context | None = None
        self._integers: Context | None = None

    def __str__(self) -> str:
        parts = [f"depth={self.depth}"]
        if "error_within" in self.options:
            parts.append(f"error_within={self.options['error_within']!r}")
        parts += [] if self._chain is None else [f"chain={self._chain}"]
        parts += [] if self._gap is None else [f"comparisons={self._gap:g}"]
        parts += [] if self.integer_range is None else [f"integer_range={self.integer_range}"]
        return ", ".join(parts)

    def reals(self) -> Context:
        if self._reals is None:
            if self._gap is None:
                error = None if self._error is None else self._error.value
                self._reals = Context.reals(self.depth, self._public, error, self._chain)
            else:
                self._reals = Context.reals_to_compare(self.depth, self._gap, self._public)
        return self._reals

    def integers(self) -> Context:
        if self._integers is None:
            if self.integer_range is None:
                results = RESULTS_WITHIN if self._results is None else self._results
                within = min(results, LARGEST_INTEGER)
                self._integers = Context.integers(self.depth, within, results, self._public)
            else:
                first, last = self.integer_range
                self._integers = Context.integers_to_compare(
                    first, last, self._results, self._public
                )
        return self._integers


def _range_to_compare(given: tuple[int, int] | None) -> tuple[int, int] | None:
    """Return a range of whole numbers, checked."""
    if given is None:
        return None
    try:
        first, last = (operator.index(end) for end in given)
    except (TypeError, ValueError):
        raise TypeError(f"integer_range={given!r} is not two whole numbers") from None
    if not 0 < last - first < _MOST_COMPARED or max(abs(first), abs(last)) > LARGEST_INTEGER:
        raise ValueError(
            f"integer_range={given!r} is not (lowest, highest) of 2 to {_MOST_COMPARED} whole "
            "numbers: declare coarser steps, or compare real numbers with comparisons=2**-8"
        )
    return first, last
