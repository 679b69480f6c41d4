"""Outcomes of repeating the cloud's work."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Verification:
    """The outcome of repeating the cloud's work behind an answer."""

    #: The answer's name.
    answer: str
    #: The question.
    question: str
    #: Pieces of work behind the answer, and those that were repeated.
    work: int
    repeated: int
    #: Sums whose tags showed them right when the answer was opened: nothing to repeat.
    tagged: int
    #: Windows in the repeated work, and bytes fetched.
    windows: int
    bytes: int
    #: Seconds in all; microseconds of the repetition, and of the cloud by its word.
    seconds: float
    repeat_us: int
    cloud_us: int
    #: True if the cloud's signing key is pinned.
    pinned: bool
    #: False statements of the cloud.
    findings: tuple[str, ...]
    #: Work that could not be repeated, with reasons: neither confirmed nor refuted.
    unchecked: tuple[str, ...]
    #: Number of days, of the plant's clock, on which the work could not be repeated: 0 once it
    #: was, a finding from 3 on.
    open_days: int

    @classmethod
    def read(cls, document: str) -> Verification:
        """Read the outcome's JSON document."""
        found = json.loads(document)
        for mine, theirs in (("findings", "findings"), ("unchecked", "open")):
            found[mine] = tuple(f"work {lie['work']}: {lie['lie']}" for lie in found.pop(theirs))
        return cls(**found)

    @property
    def holds(self) -> bool:
        """True if all work that was drawn was repeated, with the cloud's results."""
        return not self.findings and not self.unchecked
