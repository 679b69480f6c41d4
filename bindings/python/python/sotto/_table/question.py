"""Computations on columns of cells: run on ciphertexts by one party, planned by the owner."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sotto._array import EncryptedArray
from sotto._errors import NotTrusted
from sotto._owner import Owner
from sotto._program import Like, Plan, planned
from sotto._table.catalog import Catalog, Entry
from sotto._table.cells import EncryptedCells

_NAMES = ("sum", "mean", "var", "std")
#: A name, or a function of columns of cells; for several columns, or a new name, with them.
Asked = str | Callable[..., EncryptedCells] | tuple[Any, ...]


class Question:
    """A computation on columns of cells."""

    def __init__(self, name: str, asked: Asked) -> None:
        """Take the name of its result and what to compute."""
        function, *columns = asked if isinstance(asked, tuple) else (asked,)
        self.name, self.columns = name, [str(column) for column in columns] or [name]
        self._function: Any = function
        if isinstance(function, str):
            if function not in _NAMES:
                raise TypeError(f"no computation {function!r}: {', '.join(_NAMES)}, or a function")
            self._function = lambda column: getattr(column, function)()
        elif not callable(function):
            raise TypeError(f"{name}: {function!r} is neither a function nor one of {_NAMES}")
        self._plans: dict[tuple[Like, ...], Plan] = {}

    def __call__(self, sources: Sequence[Any]) -> EncryptedCells:
        """Return the result, which is not computed yet."""
        result = self._function(*(EncryptedCells.of(source) for source in sources))
        if not isinstance(result, EncryptedCells):
            raise TypeError(
                f"the computation of {self.name!r} returns {type(result).__name__}, not a column: "
                "use the column's sum, mean, var, std, each and arithmetic"
            )
        return result

    def plan(
        self, digests: list[bytes], catalog: Catalog, owner: Owner
    ) -> tuple[Plan, list[Entry]]:
        """Plan the answer that was computed from cells of these digests.

        Raises:
            NotTrusted: The catalog does not know a cell, or knows it of another column.
        """
        # The function says which columns it reads, in which order, and whether it pools rows.
        trial = [_Dry([Like((1,), 1.0, True)]) for _ in self.columns]
        layout = self(trial)
        used = [trial.index(source) for source in layout._sources]
        rows, odd = divmod(len(digests), len(used))
        if odd or not rows or (rows > 1 and not layout._pooled):
            raise NotTrusted(
                f"the answer was computed from {len(digests)} cells, which is not how "
                f"{self.name!r} is computed; do not act on it"
            )
        entries = [catalog.known(digest) for digest in digests]
        for at, found in enumerate(entries):
            asked = self.columns[used[at % len(used)]]
            if found.column != asked:
                raise NotTrusted(
                    f"the answer was computed from cells of {found.column!r} instead of "
                    f"{asked!r}; do not act on it"
                )
        per_column = [digests[at :: len(used)] for at in range(len(used))]
        if any(len(set(names)) < rows for names in per_column):
            raise NotTrusted("the answer counts a cell twice; do not act on it")
        likes = tuple(found.like for found in entries)
        if likes not in self._plans:
            self._plans[likes] = self._planned(used, rows, likes, owner)
        return self._plans[likes], entries

    def _planned(self, used: list[int], rows: int, likes: tuple[Like, ...], owner: Owner) -> Plan:
        def computation(*arrays: EncryptedArray) -> EncryptedArray:
            sources = [_Dry([Like((1,), 1.0, True)] * rows) for _ in self.columns]
            for at, which in enumerate(used):
                sources[which] = _Dry(likes[at :: len(used)])
                sources[which].arrays = arrays[at :: len(used)]
            result = self(sources)
            return result._value(result._groups[0])

        return planned(owner._contexts, computation, likes)


class _Dry:
    """Stands for a column of cells in a dry run."""

    def __init__(self, likes: Sequence[Like]) -> None:
        self._likes = likes
        self.missing = np.zeros(len(likes), dtype=bool)
        self.arrays: Sequence[EncryptedArray] = ()

    def __len__(self) -> int:
        return len(self._likes)

    def detached(self, row: int) -> Like:
        return self._likes[row]

    def digest(self, row: int) -> bytes:
        return row.to_bytes(8, "little")

    def array(self, row: int) -> EncryptedArray:
        return self.arrays[row]


def questions(computed: Mapping[str, Asked]) -> list[Question]:
    """Read what is asked, by the name of each result."""
    if not isinstance(computed, Mapping) or not computed:
        raise TypeError('computed={"column": "mean"} says what to compute')
    return [Question(name, asked) for name, asked in computed.items()]
