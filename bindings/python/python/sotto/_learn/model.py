"""The form of every model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sotto._array import EncryptedArray
from sotto._errors import ShapeMismatch

Matrix = np.ndarray[Any, Any]


class Model:
    """A fitted model: scores on ciphertexts, predictions from decrypted scores."""

    def __init__(
        self,
        name: str,
        score: Callable[[EncryptedArray], EncryptedArray],
        predict: Callable[[Matrix], Matrix],
        features: int,
    ) -> None:
        """Take the two halves of a model."""
        self._name, self._score, self._predict, self._features = name, score, predict, features

    def __call__(self, rows: EncryptedArray) -> EncryptedArray:
        """Compute the scores of encrypted rows; anybody with the keys to compute can."""
        if rows.ndim != 2 or rows.shape[1] != self._features:
            raise ShapeMismatch(
                f"{self._name} takes rows of {self._features} features, not shape {rows.shape}"
            )
        return self._score(rows)

    def predict(self, scores: Any) -> Matrix:
        """Return predictions from decrypted scores: values, labels, or nearest centres."""
        return self._predict(np.asarray(scores))

    def __repr__(self) -> str:
        """Return the model's name and width."""
        return f"Model({self._name}, {self._features} features)"
