"""Accuracy that is asked for: an error in the unit of the values, or a share of the largest one."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sotto._errors import OutOfDepth


@dataclass(frozen=True)
class Accuracy:
    """A largest error: `value`, or `value` times the largest possible result."""

    value: float
    relative: bool

    @classmethod
    def of(cls, error_within: float | str) -> Accuracy:
        """Read a number, `1e-3`, or a share, `"0.1%"`."""
        relative = isinstance(error_within, str)
        try:
            if isinstance(error_within, str):
                text = error_within.strip()
                value = float(text.removesuffix("%")) / 100
                value = value if text.endswith("%") else math.nan
            else:
                value = float(error_within)
        except (TypeError, ValueError):
            value = math.nan
        if not 0 < value < math.inf:
            raise ValueError(
                f"error_within={error_within!r} is neither a positive number, such as 1e-3, nor a "
                'share of the largest possible result, such as "0.1%"'
            )
        return cls(value, relative)

    def met_by(self, answers: list[tuple[float, float]]) -> bool:
        """Return True if every result has a bound within this one."""
        return all(bound <= self.limit(magnitude) for bound, magnitude in answers)

    def limit(self, magnitude: float) -> float:
        """Return the largest error of results within ±magnitude."""
        return self.value * magnitude if self.relative else self.value

    def refusal(self, answers: list[tuple[float, float]], remedy: str) -> OutOfDepth:
        """Return the refusal of results that may be off by more."""
        bound, magnitude = max(answers, key=lambda answer: answer[0] / self.limit(answer[1]))
        return OutOfDepth(
            f"the answer may be off by {bound:.1e}, and an error of {self.limit(magnitude):.1e} is "
            f"asked: {remedy}"
        )
