"""Encrypted moments: sums over rows of features and of their products, one level deep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from sotto._array import EncryptedArray
from sotto._container import pack_sums
from sotto._errors import OutOfRange, ShapeMismatch
from sotto._learn.bounded import Bounded, Matrix
from sotto._matmul import over_rows
from sotto._native import Vector
from sotto._owner import Owner

M = TypeVar("M")


class EncryptedMoments(Generic[M]):
    """Sums on ciphertexts that determine a model. The owner decrypts them and solves.

    Attributes:
        sums: The encrypted sums by name: everything that the owner decrypts.
        count: Number of rows; public.
    """

    def __init__(
        self,
        sums: dict[str, EncryptedArray],
        count: int,
        solved: Callable[[dict[str, Bounded]], M],
    ) -> None:
        """Take sums, and the owner's part of the computation."""
        self.sums, self.count, self._solved = sums, count, solved

    def solve(self, owner: Owner) -> M:
        """Decrypt the sums and solve for the model.

        Raises:
            WrongKeys: The sums are another owner's.
        """
        return self._solved({name: _opened(owner, array) for name, array in self.sums.items()})

    def __bytes__(self) -> bytes:
        """Return the sums as bytes, for the owner on another computer: see `plan_fit`."""
        return pack_sums(self.sums)

    def __repr__(self) -> str:
        """Return the names and shapes of the sums."""
        shapes = ", ".join(f"{name} {array.shape}" for name, array in self.sums.items())
        return f"EncryptedMoments({self.count} rows: {shapes})"


def _opened(owner: Owner, array: EncryptedArray) -> Bounded:
    """Decrypt value by value: sums of wide and of narrow columns have bounds of their own."""
    values, errors = np.empty(array.shape), np.empty(array.shape)
    known: dict[int, Any] = {}
    for index, vector in np.ndenumerate(array._parts):
        # Both halves of a symmetric matrix hold the same ciphertexts.
        if id(vector) not in known:
            known[id(vector)] = owner.decrypt(array[index])
        values[index], errors[index] = float(known[id(vector)]), known[id(vector)].bound
    return Bounded(values, errors)


def table(rows: EncryptedArray) -> int:
    """Return the number of features of encrypted rows, checked."""
    if not isinstance(rows, EncryptedArray):
        raise TypeError(f"rows of type {type(rows).__name__} are not encrypted: owner.encrypt(X)")
    if rows.ndim != 2 or rows._length is None or not rows._real:
        raise ShapeMismatch(
            f"features of shape {rows.shape} and dtype {rows.dtype}: encrypt rows and columns of "
            "float64"
        )
    return rows.shape[1]


def products(left: EncryptedArray, right: EncryptedArray) -> EncryptedArray:
    """Return leftᵀ·right as the last step: more exact, and faster, than `left.T @ right`."""
    return over_rows(left, right, Vector.dot_for_answer)


def totals(rows: EncryptedArray) -> EncryptedArray:
    """Return the sums over the rows as the last step."""
    sums = rows._each("sum", Vector.sum_for_answer)
    return sums._with(length=None, grid=rows._grid)


def centres_of(centres: Any, features: int) -> Matrix:
    """Return the public numbers that were subtracted from the columns before encryption."""
    given = np.zeros(features) if centres is None else np.asarray(centres, dtype=np.float64)
    if given.shape not in ((), (features,)) or not np.isfinite(given).all():
        raise OutOfRange(f"centres={centres!r}: one finite number for each of {features} features")
    return np.broadcast_to(given, (features,))


class Classes:
    """The sums of every class: of rows whose labels are encrypted one-hot columns, or public."""

    def __init__(self, rows: EncryptedArray, labels: Any, classes: Any) -> None:
        """Check labels. `classes` names the columns of encrypted ones; default 0, 1, 2, …"""
        self.names: Matrix
        self._hot: EncryptedArray | Matrix
        if isinstance(labels, EncryptedArray):
            if labels.ndim != 2 or len(labels) != len(rows) or labels.shape[1] < 2:
                raise ShapeMismatch(
                    f"labels of shape {labels.shape} for {len(rows)} rows: encrypt one column of 0 "
                    "and 1 for each class, (labels[:, None] == classes).astype(float)"
                )
            names = np.arange(labels.shape[1]) if classes is None else np.asarray(classes)
            if names.shape != labels.shape[1:]:
                raise ShapeMismatch(f"{names.size} classes for {labels.shape[1]} columns of labels")
            self.names, self._hot = names, labels
            return
        public = np.asarray(labels)
        if public.shape != (len(rows),):
            raise ShapeMismatch(f"labels of shape {public.shape} for {len(rows)} rows")
        self.names = np.unique(public) if classes is None else np.asarray(classes)
        hot: Matrix = (public[:, None] == self.names).astype(np.float64)
        self._hot, counts = hot, hot.sum(axis=0)
        if len(self.names) < 2 or not counts.all() or counts.sum() != len(rows):
            raise OutOfRange("labels: at least two classes, and rows of every one")

    def sums(self, rows: EncryptedArray) -> EncryptedArray:
        """Add up the rows of each class: features by classes."""
        if isinstance(self._hot, EncryptedArray):
            return products(rows, self._hot)
        parts = [totals(rows * column[:, None])._parts for column in self._hot.T]
        return EncryptedArray._of(np.stack(parts, axis=-1), None, trail=rows._trail)

    def sizes(self) -> dict[str, EncryptedArray]:
        """Return the encrypted numbers of rows, if the labels are encrypted."""
        if isinstance(self._hot, EncryptedArray):
            return {"class_counts": totals(self._hot)}
        return {}

    def counted(self, sums: dict[str, Bounded]) -> Matrix:
        """Return the number of rows of each class, exactly."""
        if not isinstance(self._hot, EncryptedArray):
            return np.asarray(self._hot.sum(axis=0))
        found = sums["class_counts"]
        whole: Matrix = np.round(found.values)
        if found.errors.max() >= 0.5 or (np.abs(found.values - whole) > found.errors).any():
            raise OutOfRange("the columns of labels are not 0 and 1, or their sums too inexact")
        if not (whole >= 1).all():
            raise OutOfRange(f"a class without rows: the classes have {whole.astype(int)} rows")
        return whole
