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

import importlib

from sotto._array import EncryptedArray
from sotto._cloud import Cloud
from sotto._container import DetachedArray
from sotto._decrypted import Decrypted
from sotto._errors import (
    BadBytes,
    CloudAway,
    CloudError,
    NotTrusted,
    OutOfDepth,
    OutOfRange,
    PlantError,
    QuestionError,
    ShapeMismatch,
    SottoError,
    WrongKeys,
)
from sotto._learn import EncryptedMoments, Model, RidgeModel, fit_ridge, from_sklearn
from sotto._owner import Evaluator, Owner
from sotto._program import Like, Plan, Program, like, program
from sotto._verification import Verification


def __getattr__(name: str) -> object:
    """Load what needs pandas when it is first used."""
    if name not in (
        "Answer",
        "EncryptedColumn",
        "EncryptedDtype",
        "decrypt_frame",
        "encrypt_frame",
    ):
        raise AttributeError(f"module 'sotto' has no attribute {name!r}")
    try:
        module = importlib.import_module("sotto._answer" if name == "Answer" else "sotto._frame")
    except ImportError as error:
        raise ImportError(f"st.{name} needs pandas 2.2 or later: pip install pandas") from error
    return getattr(module, name)


__all__ = [
    "Answer",
    "BadBytes",
    "Cloud",
    "CloudAway",
    "CloudError",
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
    "PlantError",
    "Program",
    "QuestionError",
    "RidgeModel",
    "ShapeMismatch",
    "SottoError",
    "Verification",
    "WrongKeys",
    "decrypt_frame",
    "encrypt_frame",
    "fit_ridge",
    "from_sklearn",
    "like",
    "program",
]
