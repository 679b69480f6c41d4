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

from sotto._array import EncryptedArray
from sotto._container import DetachedArray
from sotto._errors import (
    BadBytes,
    NotTrusted,
    OutOfDepth,
    OutOfRange,
    ShapeMismatch,
    SottoError,
    WrongKeys,
)
from sotto._owner import Decrypted, Evaluator, Owner
from sotto._program import Like, Plan, Program, like, program

__all__ = [
    "BadBytes",
    "Decrypted",
    "DetachedArray",
    "EncryptedArray",
    "Evaluator",
    "Like",
    "NotTrusted",
    "OutOfDepth",
    "OutOfRange",
    "Owner",
    "Plan",
    "Program",
    "ShapeMismatch",
    "SottoError",
    "WrongKeys",
    "like",
    "program",
]
