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
from sotto._decrypted import Decrypted
from sotto._errors import (
    BadBytes,
    NotTrusted,
    OutOfDepth,
    OutOfRange,
    ShapeMismatch,
    SottoError,
    WrongKeys,
)
from sotto._learn import (
    Agreement,
    EncryptedMoments,
    FitPlan,
    LdaModel,
    Model,
    NaiveBayesModel,
    NetworkModel,
    PcaModel,
    RidgeModel,
    fit_lda,
    fit_naive_bayes,
    fit_pca,
    fit_ridge,
    from_sklearn,
    plan_fit,
)
from sotto._owner import Evaluator, Owner
from sotto._program import Like, Plan, Program, like, program


def __getattr__(name: str) -> object:
    """Load what needs pandas when it is first used."""
    if name not in ("EncryptedColumn", "EncryptedDtype", "decrypt_frame", "encrypt_frame"):
        raise AttributeError(f"module 'sotto' has no attribute {name!r}")
    try:
        from sotto import _frame
    except ImportError as error:
        raise ImportError(f"st.{name} needs pandas 2.2 or later: pip install pandas") from error
    return getattr(_frame, name)


__all__ = [
    "Agreement",
    "BadBytes",
    "Decrypted",
    "DetachedArray",
    "EncryptedArray",
    "EncryptedColumn",
    "EncryptedDtype",
    "EncryptedMoments",
    "Evaluator",
    "FitPlan",
    "LdaModel",
    "Like",
    "Model",
    "NaiveBayesModel",
    "NetworkModel",
    "NotTrusted",
    "OutOfDepth",
    "OutOfRange",
    "Owner",
    "PcaModel",
    "Plan",
    "Program",
    "RidgeModel",
    "ShapeMismatch",
    "SottoError",
    "WrongKeys",
    "decrypt_frame",
    "encrypt_frame",
    "fit_lda",
    "fit_naive_bayes",
    "fit_pca",
    "fit_ridge",
    "from_sklearn",
    "like",
    "plan_fit",
    "program",
]
