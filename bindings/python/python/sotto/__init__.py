"""Compute on numbers that the computer doing the work cannot read.

>>> import numpy as np
>>> import sotto as st
>>> owner = st.Owner.new()
>>> x = owner.encrypt([20.5, 21.0, 18.5], range=(-40, 60))
>>> mean = owner.decrypt((x * 1.8 + 32).mean())
>>> bool(abs(mean - 68.0) <= mean.bound)
True

Unaudited: nobody outside the project has reviewed this code.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from sotto._array import EncryptedArray
from sotto._container import DetachedArray
from sotto._decrypted import Decrypted
from sotto._errors import (
    BadBytes,
    NotTrusted,
    OutOfDepth,
    OutOfRange,
    ShapeMismatch,
    SottoError,
    WrongKeys,
    WrongLevel,
    WrongParameters,
)
from sotto._learn import EncryptedMoments, Model, RidgeModel, fit_ridge, from_sklearn
from sotto._owner import Evaluator, Owner
from sotto._program import Like, Plan, Program, like, program

if TYPE_CHECKING:
    from sotto import paillier, rlwe


def __getattr__(name: str) -> object:
    """Load what needs pandas, and the modules `rlwe` and `paillier`, when they are first used."""
    if name in ("paillier", "rlwe"):
        return import_module(f"sotto.{name}")
    if name not in ("EncryptedColumn", "EncryptedDtype", "decrypt_frame", "encrypt_frame"):
        raise AttributeError(f"module 'sotto' has no attribute {name!r}")
    try:
        from sotto import _frame
    except ImportError as error:
        raise ImportError(f"st.{name} needs pandas 2.2 or later: pip install pandas") from error
    return getattr(_frame, name)


__all__ = [
    "BadBytes",
    "Decrypted",
    "DetachedArray",
    "EncryptedArray",
    "EncryptedColumn",
    "EncryptedDtype",
    "EncryptedMoments",
    "Evaluator",
    "Like",
    "Model",
    "NotTrusted",
    "OutOfDepth",
    "OutOfRange",
    "Owner",
    "Plan",
    "Program",
    "RidgeModel",
    "ShapeMismatch",
    "SottoError",
    "WrongKeys",
    "WrongLevel",
    "WrongParameters",
    "decrypt_frame",
    "encrypt_frame",
    "fit_ridge",
    "from_sklearn",
    "like",
    "paillier",
    "program",
    "rlwe",
]
