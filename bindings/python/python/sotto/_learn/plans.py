"""Fits on another computer: the owner plans them, and solves for the sums that come back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from sotto._array import EncryptedArray
from sotto._container import unpack_sums
from sotto._decrypted import assembled
from sotto._errors import NotTrusted
from sotto._learn.bounded import Bounded
from sotto._learn.moments import EncryptedMoments
from sotto._native import Plan as NativePlan
from sotto._owner import Owner
from sotto._program import Like, dry_run

M = TypeVar("M")


class FitPlan(Generic[M]):
    """The sums of a fit that another computer does, followed without values."""

    def __init__(self, moments: EncryptedMoments[M], plans: list[NativePlan]) -> None:
        """Take the fit of a dry run, and a plan for each of its ciphertexts."""
        self._moments, self._plans = moments, plans

    @property
    def answer_bytes(self) -> int:
        """Bytes of the ciphertexts that come back."""
        return sum(plan.answer_bytes for plan in self._plans)

    def solve(self, owner: Owner, answer: bytes) -> M:
        """Decrypt the bytes of the sums and solve for the model.

        Args:
            owner: The owner that planned the fit.
            answer: `bytes(moments)` of the other computer.

        Raises:
            NotTrusted: The sums are not those that were planned.
            BadBytes: The bytes are damaged.
        """
        planned, found = self._moments.sums, unpack_sums(answer)
        if list(found) != list(planned) or any(
            (given._inner, given._length, given._real)
            != (planned[name]._parts.shape, planned[name]._length, True)
            for name, given in found.items()
        ):
            raise NotTrusted("the sums are not those of the planned fit; do not act on them")
        plans = iter(self._plans)
        sums = {}
        for name, given in found.items():
            grid = planned[name]._grid
            opened = [
                assembled([owner._secret.decrypt_answer(frame, next(plans))], (), None, grid, None)
                for frame in given._frames
            ]
            values = np.array([float(value) for value in opened]).reshape(given._inner)
            errors = np.array([value.bound for value in opened]).reshape(given._inner)
            sums[name] = Bounded(values, errors)
        return self._moments._solved(sums)

    def __repr__(self) -> str:
        """Return the sums and their size."""
        return f"FitPlan({self._moments!r}, {self.answer_bytes} bytes)"


def plan_fit(
    owner: Owner,
    fit: Callable[..., EncryptedMoments[M]],
    *inputs: Like | EncryptedArray,
    **options: Any,
) -> FitPlan[M]:
    """Plan a fit that another computer does on encrypted rows.

    Args:
        owner: The owner of the rows.
        fit: `fit_ridge`, `fit_pca`, `fit_lda` or `fit_naive_bayes`.
        inputs: The encrypted arrays that the fit takes, or `st.like` of each.
        options: The options of the fit, such as `alpha` and `centres`. The owner
            solves with these, whatever the other computer took.
    """
    found: list[EncryptedMoments[M]] = []

    def computation(arrays: list[EncryptedArray]) -> list[Any]:
        found.append(fit(*arrays, **options))
        return [vector for array in found[0].sums.values() for vector in array._vectors]

    _, plans = dry_run(owner._contexts, computation, inputs)
    return FitPlan(found[0], plans)
