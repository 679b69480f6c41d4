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

import contextlib
import importlib
import sys
from typing import TYPE_CHECKING

from sotto._array import DetachedArray, EncryptedArray, EncryptedFlags
from sotto._cloud import Cloud
from sotto._decrypted import Decrypted, DecryptedValue
from sotto._errors import (
    BadBytes,
    BadFormula,
    CloudAway,
    CloudError,
    ConstantTooLarge,
    NotFitted,
    NotTrusted,
    OutOfDepth,
    OutOfRange,
    PlantError,
    PublicZero,
    QuestionError,
    ShapeMismatch,
    SottoError,
    WrongKeys,
    WrongLevel,
    WrongParameters,
)
from sotto._flags import DecryptedFlags, ExactFlags
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
from sotto._native import __version__ as __version__
from sotto._owner import Evaluator, Owner
from sotto._program import Like, Plan, Program, like, program
from sotto._progress import show_progress
from sotto._table.catalog import Catalog
from sotto._table.decrypt import decrypt_frame
from sotto._table.replay import plan_frame
from sotto._table.tables import attach_frame, encrypt_frame
from sotto._verification import Verification

if TYPE_CHECKING:
    from sotto import paillier, rlwe
    from sotto._answer import Answer
    from sotto._table.arrow import CiphertextType
    from sotto._table.cells import EncryptedCells, column
    from sotto._table.compute import compute_frame
    from sotto._table.frame import EncryptedColumn, EncryptedDtype

else:
    # Unseen by type checkers, so that they refuse a name that is not there.
    def __getattr__(name: str) -> object:
        """Load `rlwe`, `paillier`, and the names that need a package, when they are first used."""
        if name in ("paillier", "rlwe"):
            return importlib.import_module(f"sotto.{name}")
        if name not in _LAZY:
            raise AttributeError(f"module 'sotto' has no attribute {name!r}")
        module, package = _LAZY[name]
        try:
            found = importlib.import_module(f"sotto.{module}")
        except ImportError as error:
            raise ImportError(f"st.{name} needs {package}: pip install {package}") from error
        return getattr(found, name)


#: Where names are that need a package, and the package.
_LAZY = {
    "Answer": ("_answer", "pandas"),
    "CiphertextType": ("_table.arrow", "pyarrow"),
    "EncryptedCells": ("_table.cells", "pyarrow"),
    "EncryptedColumn": ("_table.frame", "pandas"),
    "EncryptedDtype": ("_table.frame", "pandas"),
    "column": ("_table.cells", "pyarrow"),
    "compute_frame": ("_table.compute", "pyarrow"),
}
if "pandas" in sys.modules:
    # pandas reads a dtype from a file only if it knows its name.
    with contextlib.suppress(ImportError):
        importlib.import_module("sotto._table.frame")


__all__ = [
    "Agreement",
    "Answer",
    "BadBytes",
    "BadFormula",
    "Catalog",
    "CiphertextType",
    "Cloud",
    "CloudAway",
    "CloudError",
    "ConstantTooLarge",
    "Decrypted",
    "DecryptedFlags",
    "DecryptedValue",
    "DetachedArray",
    "EncryptedArray",
    "EncryptedCells",
    "EncryptedColumn",
    "EncryptedDtype",
    "EncryptedFlags",
    "EncryptedMoments",
    "ExactFlags",
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
    "NotFitted",
    "PlantError",
    "Program",
    "PublicZero",
    "QuestionError",
    "RidgeModel",
    "ShapeMismatch",
    "SottoError",
    "Verification",
    "WrongKeys",
    "WrongLevel",
    "WrongParameters",
    "attach_frame",
    "column",
    "compute_frame",
    "decrypt_frame",
    "encrypt_frame",
    "fit_lda",
    "fit_naive_bayes",
    "fit_pca",
    "fit_ridge",
    "from_sklearn",
    "like",
    "paillier",
    "plan_fit",
    "plan_frame",
    "program",
    "rlwe",
    "show_progress",
]
