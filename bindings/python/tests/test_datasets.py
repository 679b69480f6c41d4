"""Real readings: groups, moments and a model, against pandas and scikit-learn.

They read the folder that SOTTO_DATASETS names.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sotto as st

FOLDER = os.environ.get("SOTTO_DATASETS")
pytestmark = pytest.mark.skipif(not FOLDER, reason="SOTTO_DATASETS names no folder")


def read(name):
    """Read a file of the folder."""
    return pd.read_csv(Path(FOLDER) / name)


def test_motes_by_group(owner):
    clear = read("sensor-network.csv").head(8000)
    ranges = {"humidity": (0, 100), "temperature": (0, 60)}
    hidden = st.encrypt_frame(clear, owner, ranges, dict.fromkeys(ranges, 0.01))
    exact = clear.groupby("mote_id")[list(ranges)].mean()
    found = st.decrypt_frame(hidden.groupby("mote_id")[list(ranges)].mean(), owner)
    for name in ranges:
        bound = found.attrs["bound"][name]
        assert bound < 0.01
        assert np.all(np.abs(found[name] - exact[name]) <= bound + 1e-9)


def test_a_week_by_day(owner):
    clear = read("seattle-temps.csv").head(7 * 24)
    hidden = st.encrypt_frame(clear, owner, {"temp": (-20, 120)}, {"temp": 0.1})
    day = clear.date.str[:10]
    exact = clear.temp.groupby(day).agg(["sum", "mean", "std"])
    for name in exact:
        found = st.decrypt_frame(getattr(hidden.temp.groupby(day), name)(), owner)
        assert np.all(np.abs(found - exact[name]) <= found.attrs["bound"] + 1e-9), name


def test_a_model_of_temperature(owner):
    linear = pytest.importorskip("sklearn.linear_model")
    data = read("seattle-temps.csv").head(4096)
    hour = np.arange(len(data)) * 2 * np.pi / 24
    year = hour / 365
    rows = np.column_stack([np.sin(hour), np.cos(hour), np.sin(year), np.cos(year)])
    target = data.temp.to_numpy()
    X = owner.encrypt(rows, range=(-1, 1))
    found = st.fit_ridge(X, owner.encrypt(target - 50, range=(-50, 50))).solve(owner)
    exact = linear.Ridge(alpha=1.0).fit(rows, target)
    assert found.coef_bound_.max() < 0.05
    assert np.all(np.abs(found.coef_ - exact.coef_) <= found.coef_bound_)
    assert np.allclose(found.predict(rows) + 50, exact.predict(rows), atol=0.1)
    scores = owner.decrypt(st.from_sklearn(exact)(X))
    assert np.all(np.abs(scores - exact.predict(rows)) <= scores.bound + 1e-9)
