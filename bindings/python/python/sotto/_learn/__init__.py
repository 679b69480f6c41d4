"""Models on encrypted rows: taken from scikit-learn, or fitted from encrypted moments."""

from sotto._learn.fits import fit_lda, fit_naive_bayes, fit_pca, fit_ridge
from sotto._learn.fitted import LdaModel, NaiveBayesModel, PcaModel, RidgeModel
from sotto._learn.model import Model
from sotto._learn.models import from_sklearn
from sotto._learn.moments import EncryptedMoments
from sotto._learn.network import Agreement, NetworkModel
from sotto._learn.plans import FitPlan, plan_fit

__all__ = [
    "Agreement",
    "EncryptedMoments",
    "FitPlan",
    "LdaModel",
    "Model",
    "NaiveBayesModel",
    "NetworkModel",
    "PcaModel",
    "RidgeModel",
    "fit_lda",
    "fit_naive_bayes",
    "fit_pca",
    "fit_ridge",
    "from_sklearn",
    "plan_fit",
]
