"""Encrypted columns against pandas on clear ones."""

import numpy as np
import pandas as pd
import pytest
import sotto as st


@pytest.fixture(scope="module")
def frames(owner):
    """Return readings of three devices with gaps, clear and encrypted."""
    rng = np.random.default_rng(5)
    size = 200
    clear = pd.DataFrame(
        {
            "device": rng.choice(["boiler", "pump", "roof"], size),
            "temperature": np.round(rng.uniform(-20, 90, size), 1),
            "load": rng.integers(0, 100, size),
        }
    )
    clear.loc[rng.choice(size, 17, replace=False), "temperature"] = np.nan
    ranges = {"temperature": (-20, 90), "load": (0, 100)}
    return clear, st.encrypt_frame(clear, owner, ranges, {"temperature": 0.1})


REDUCTIONS = [
    lambda df: df.groupby("device").temperature.mean(),
    lambda df: df.groupby("device")["temperature"].sum(),
    lambda df: df.groupby("device").temperature.var(),
    lambda df: df.groupby("device").temperature.std(ddof=0),
    lambda df: df.groupby("device").load.sum(),
    lambda df: (df.temperature * 1.8 + 32).groupby(df.device).mean(),
    lambda df: df[df.device != "pump"].groupby("device").temperature.mean(),
    lambda df: df.sort_values("device").groupby("device").temperature.mean(),
    lambda df: df.groupby("device")[["temperature"]].mean(),
    lambda df: df.groupby("device").temperature.agg("mean"),
    lambda df: df.groupby(df.index // 50).temperature.mean(),
]


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_groups(owner, frames, reduction):
    clear, hidden = frames
    exact = reduction(clear)
    found = st.decrypt_frame(reduction(hidden), owner)
    bound = found.attrs["bound"]
    bound = max(bound.values()) if isinstance(bound, dict) else bound
    assert found.index.equals(exact.index)
    assert np.allclose(found, exact, rtol=1e-9, atol=bound) and bound < 0.01


@pytest.mark.parametrize("name", ["sum", "mean", "var", "std"])
def test_columns(owner, frames, name):
    clear, hidden = frames
    for select in [lambda df: df, lambda df: df[df.device == "roof"], lambda df: df.head(9)]:
        exact = getattr(select(clear).temperature, name)()
        found = owner.decrypt(getattr(select(hidden).temperature, name)())
        assert abs(found - exact) <= found.bound + 1e-9 * abs(exact)


def test_rows_come_back(owner, frames):
    clear, hidden = frames
    found = st.decrypt_frame(hidden, owner)
    assert np.allclose(found.temperature, clear.temperature, equal_nan=True, atol=1e-9)
    assert found.load.tolist() == clear.load.tolist()
    assert hidden.temperature.isna().equals(clear.temperature.isna())
    assert "encrypted" in repr(hidden) and str(clear.temperature[0]) not in repr(hidden)


def test_a_group_without_values_is_missing(owner):
    clear = pd.DataFrame({"k": ["a", "b", "b"], "v": [np.nan, 1.0, 2.5]})
    hidden = st.encrypt_frame(clear, owner, {"v": (0, 4)})
    found = st.decrypt_frame(hidden.groupby("k").v.mean(), owner)
    assert np.isnan(found["a"]) and abs(found["b"] - 1.75) < 1e-3


def test_refusals(owner, frames):
    clear, hidden = frames
    with pytest.raises(TypeError, match="these work"):
        hidden.temperature.max()
    with pytest.raises(TypeError):
        hidden.groupby("device").temperature.max()
    with pytest.raises(TypeError):
        hidden.temperature.to_numpy(dtype=float)
    with pytest.raises(TypeError, match="compared"):
        assert hidden.temperature > 5
    with pytest.raises(TypeError, match="do not change"):
        hidden.temperature.array[0] = 1.0
    with pytest.raises(KeyError, match="no column"):
        st.encrypt_frame(clear, owner, {"pressure": (0, 1)})
    with pytest.raises(st.OutOfRange, match="column 'temperature'"):
        st.encrypt_frame(clear, owner, {"temperature": (0, 1)})
    with pytest.raises(TypeError, match="encrypt the column as float"):
        hidden.groupby("device").load.mean()


def test_groups_that_stand_together_in_a_column_longer_than_a_ciphertext():
    owner = st.Owner.new(depth=1)
    rows = 9_001
    clear = pd.DataFrame({"device": np.arange(rows) // 3_000, "t": np.linspace(-5, 20, rows)})
    hidden = st.encrypt_frame(clear, owner, {"t": (-10, 30)})
    for how in ("sum", "mean"):
        found = st.decrypt_frame(getattr(hidden.groupby("device").t, how)(), owner)
        exact = getattr(clear.groupby("device").t, how)()
        assert np.all(np.abs(found - exact) <= found.attrs["bound"])
        assert found.attrs["bound"] < 1e-2


def test_a_bound_beyond_the_values_is_a_warning(owner):
    """Variances of groups subtract large squares; a result that says nothing is not silent."""
    rng = np.random.default_rng(1)
    clear = pd.DataFrame({"g": np.repeat([0, 1], 2016), "t": 61 + rng.normal(0, 0.02, 4032)})
    hidden = st.encrypt_frame(clear, owner, {"t": (-20, 120)})
    with pytest.warns(UserWarning, match="may be off by"):
        found = st.decrypt_frame(hidden.groupby("g").t.var(), owner)
    exact = clear.groupby("g").t.var()
    assert np.all(np.abs(found - exact) <= found.attrs["bound"])
