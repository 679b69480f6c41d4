"""The search for the smallest parameters on which a computation has room and is exact enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sotto._accuracy import Accuracy
from sotto._contexts import Contexts
from sotto._errors import OutOfDepth

#: The deepest computation that is tried.
_DEEPEST = 24
#: Bits of scales that cost no time, the most precise first, and of those that cost some.
_FREE, _SLOW = (50, 48, 46), (53, 56)


#: Plans a computation on parameters, or refuses it.
DryRun = Callable[[Contexts], Any]


def parameters_for(
    dry_run: DryRun, error_within: float | str | None, options: dict[str, Any]
) -> Contexts:
    """Return the smallest parameters; of those that cost the same, the most precise."""
    asked = None if error_within is None else Accuracy.of(error_within)
    refusal: OutOfDepth | None = None
    given = options.pop("depth", None)
    for depth in range(_DEEPEST + 1) if given is None else [given]:
        usual = Contexts(depth, **options)
        try:
            plan = dry_run(usual)
        except OutOfDepth as error:
            if refusal is not None and "128 bits of security" in str(error):
                raise _none(refusal) from None
            refusal = error
            continue
        exact = not plan._facts.real or "comparisons" in options or "chain" in options
        if exact or (asked is not None and asked.met_by(plan._answers)):
            return usual
        for contexts, finer in _finer(usual, dry_run, options, asked):
            plan = finer if finer.bound < plan.bound else plan
            if asked is None or asked.met_by(finer._answers):
                return contexts
        if asked is None:
            return usual
        refusal = asked.refusal(
            plan._answers, "no parameters are more exact; scale the values down"
        )
    if refusal is None:
        raise OutOfDepth("no parameters have room for this")
    raise refusal if given is not None or asked is not None else _none(refusal)


def _none(refusal: OutOfDepth) -> OutOfDepth:
    """Return the refusal of the largest parameters, without the advice to take larger ones."""
    lines = [line for line in str(refusal).splitlines() if not line.startswith("make room")]
    advice = "no parameters have room: multiply less deeply, or let the owner decrypt in between"
    return OutOfDepth("\n".join([*lines, advice]))


def _finer(
    usual: Contexts, dry_run: DryRun, options: dict[str, Any], asked: Accuracy | None
) -> Iterator[tuple[Contexts, Any]]:
    """Yield parameters of the same degree with larger scales on which the computation has room.

    Without an accuracy the most precise comes first, with one the least precise.
    """
    degree = usual.reals().degree
    for bits in _FREE if asked is None else (*reversed(_FREE), *_SLOW):
        contexts = Contexts(usual.depth, **options, chain=(degree, bits))
        try:
            yield contexts, dry_run(contexts)
        except OutOfDepth:
            continue
