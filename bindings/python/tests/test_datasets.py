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


def test_a_week_of_tables(owner, tmp_path):
    pl, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    # No file has several devices and a clock: of the motes, readings count as one every 5 s.
    clear = pl.read_csv(Path(FOLDER) / "sensor-network.csv").with_columns(
        day=((pl.col("reading") - 1) * 7 // pl.col("reading").max().over("mote_id")).cast(int)
    )
    ranges = {"humidity": (0, 100), "temperature": (0, 60)}
    hidden = st.encrypt_frame(
        clear, owner, ranges, dict.fromkeys(ranges, 0.01), by=["mote_id", "day"]
    )
    catalog = st.Catalog.of(hidden)
    hidden.write_parquet(tmp_path / "week.parquet")
    query = f"from '{tmp_path}/week.parquet' where day between 1 and 5 order by day desc"
    cloud = st.Evaluator(owner.public_bundle())
    computed = {"temperature": "mean", "deviation": ("std", "humidity")}
    answers = st.compute_frame(duckdb.sql(query), cloud, computed, by="mote_id")
    found = pl.from_arrow(st.decrypt_frame(answers, owner, catalog, computed)).sort("mote_id")
    exact = (
        clear.filter(pl.col("day").is_between(1, 5))
        .group_by("mote_id")
        .agg(
            pl.col("temperature").mean(),
            deviation=pl.col("humidity").std(),
            count=pl.len(),
        )
        .sort("mote_id")
    )
    assert found["temperature_count"].to_list() == exact["count"].to_list()
    for name in computed:
        error = (found[name] - exact[name]).abs()
        assert (error <= found[f"{name}_bound"] + 1e-9).all(), name
        # The bound on a root grows as the value nears zero.
        assert found[f"{name}_bound"].max() < (0.01 if name == "temperature" else 0.1)


def test_water_by_day(owner):
    pa_csv = pytest.importorskip("pyarrow.csv")
    pa = pytest.importorskip("pyarrow")
    clear = pa_csv.read_csv(Path(FOLDER) / "water-flow.csv").rename_columns(["time", "flow"])
    days = [str(when)[:10] for when in clear["time"].to_pylist()]
    clear = clear.append_column("day", pa.array(days))
    hidden = st.encrypt_frame(clear, owner, {"flow": (0, 500)}, {"flow": 0.01}, by="day")
    cloud, catalog = st.Evaluator(owner.public_bundle()), st.Catalog.of(hidden)
    for name in ("sum", "mean", "std"):
        computed = {"flow": name}
        answers = st.compute_frame(hidden, cloud, computed, by="day")
        found = st.decrypt_frame(answers, owner, catalog, computed).to_pandas()
        exact = clear.to_pandas().groupby("day").flow.agg(name).reindex(found.day)
        assert found.flow.isna().tolist() == exact.isna().tolist()
        error = np.abs(found.flow - exact.to_numpy())
        assert np.all((error <= found.flow_bound + 1e-9) | found.flow.isna()), name
