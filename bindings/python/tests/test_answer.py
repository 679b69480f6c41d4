"""Answers of a cloud as data frames and charts, made of rows without a cloud."""

import json
import sys

import numpy as np
import pytest
import sotto as st
from hypothesis import given
from hypothesis import strategies as some

pd = pytest.importorskip("pandas")
from sotto._answer import Answer, assembled  # noqa: E402

HOUR = 3_600_000


def answer_of(rows, zone="UTC", remarks=(), **recurs):
    """Make an answer of (from hour, to hour, device, name, value, bound, unit, count, missing)."""
    names = ["from", "to", "device", "name", "value", "bound", "unit", "readings", "missing", "why"]
    columns = dict(zip(names, zip(*rows, strict=True) if rows else [[]] * 10, strict=True))
    for name in ("from", "to"):
        columns[name] = np.array(columns[name], dtype=np.int64) * HOUR
    for name in ("value", "bound"):
        columns[name] = np.array([np.nan if x is None else x for x in columns[name]], dtype=float)
    for name in ("readings", "missing"):
        columns[name] = np.array(columns[name], dtype=np.int64)
    for name in ("device", "name", "unit", "why"):
        columns[name] = list(columns[name])
    columns |= recurs
    facts = {"columns": columns, "question": "a question", "name": "kept", "time_zone": zone}
    return assembled(
        facts | {"remarks": list(remarks), "left_out": {}, "took_part": {}, "cost": {}}
    )


def test_reasons_and_counts():
    answer = answer_of(
        [
            (0, 24, None, "mean(a)", 1.5, 0.05, "°C", 24, 0, None),
            (0, 24, None, "mean(b)", None, None, "", 0, 24, None),
            (24, 48, None, "mean(a)", None, None, "", 0, 24, None),
            (24, 48, None, "mean(b)", None, None, "", 0, 24, None),
            (48, 72, None, "mean(a)", 2.0, 0.05, "°C", 20, 4, None),
            (48, 72, None, "mean(b)", None, None, "%", 5, 19, "it is undetermined"),
        ]
    )
    assert list(answer.columns[:4]) == ["mean(a)", "mean(a) ±", "mean(b)", "mean(b) ±"]
    assert list(answer["readings"]) == [0, 0, 5] and list(answer["missing"]) == [24, 24, 19]
    assert list(answer["why"]) == [
        "mean(b): no reading",
        "no reading",
        "mean(b): it is undetermined",
    ]
    assert answer.attrs["units"] == {"mean(a)": "°C", "mean(b)": "%"}
    assert list(answer["mean(a)"].dropna()) == [1.5, 2.0]


def test_groups_that_recur_have_their_keys_in_columns():
    days = ["mon", "sun"]
    rows = [
        (0, 336, None, name, value + 10 * hour + day, 0.5, "kW", 2, 0, None)
        for day in range(2)
        for hour in range(24)
        for name, value in [("mean(a)", 0.0), ("max(a)", 100.0)]
    ]
    hours = [hour for _ in days for hour in range(24) for _ in range(2)]
    weekdays = [day for day in days for _ in range(48)]
    answer = answer_of(rows, hour_of_day=hours, weekday=weekdays, month_of_year=[None] * 96)
    assert list(answer.columns[:2]) == ["hour_of_day", "weekday"]
    assert "month_of_year" not in answer
    assert len(answer) == 48 and answer["weekday"].cat.ordered
    assert (answer["max(a)"] - answer["mean(a)"] == 100.0).all()
    table = answer.pivot_table(
        index="weekday", columns="hour_of_day", values="mean(a)", observed=True
    )
    assert list(table.index) == days and list(table.columns) == list(range(24))
    assert table.loc["sun", 23] == 231.0
    plain = answer_of(rows[:1], hour_of_day=[None], weekday=[None], month_of_year=[None])
    assert "weekday" not in plain and "weekday" not in plain.rows


def test_far_times_and_zones():
    # Before 1677, where nanoseconds end; and a day of 23 hours.
    first = int(np.datetime64("0987-01-01", "h").astype(int))
    old = answer_of([(first, first + 1, None, "count(a)", 1.0, 0.0, "", 1, 0, None)])
    assert old.index[0].year == 987
    spring = int(np.datetime64("2024-03-30T23", "h").astype(int))
    row = (spring, spring + 23, None, "count(a)", 1.0, 0.0, "", 1, 0, None)
    day = answer_of([row], "Europe/Rome")
    assert day.index[0] == pd.Timestamp("2024-03-31", tz="Europe/Rome")
    assert day["to"].iloc[0] == pd.Timestamp("2024-04-01", tz="Europe/Rome")


names = some.sampled_from(["mean(a)", "polynomial(a, [0, 1])[0]", "polynomial(a, [0, 1])[7]"])
devices = some.sampled_from(["x", "y"])


@given(
    some.lists(some.tuples(some.integers(0, 3), devices, names, some.floats(-9, 9))), some.data()
)
def test_no_value_is_lost(drawn, data):
    per_device = data.draw(some.booleans())
    rows = [
        (at, at + 1, device if per_device else None, name, value, 0.5, "u", 1, 0, None)
        for at, device, name, value in drawn
    ]
    answer = answer_of(rows)
    assert len(answer.rows) == len(rows)
    for name in answer.results:
        mine = [row[4] for row in rows if row[3].split("[7]")[0].split("[0]")[0] == name]
        assert sorted(answer[name].dropna()) == sorted(mine)
        assert answer[f"{name} ±"].count() == len(mine)
    starts = answer.index.get_level_values("from")
    assert per_device or starts.is_monotonic_increasing
    assert answer.index.nlevels == (2 if per_device and rows else 1)


def two_units():
    rows = []
    for at in range(6):
        for device in ("x", "y"):
            value = None if at == 3 else at + (device == "y")
            bound = None if at == 3 else 0.25
            rows.append((at, at + 1, device, "mean(a)", value, bound, "°C", 4, 0, None))
            rows.append((at, at + 1, device, "mean(b)", 2.0 * at, 0.5, "%", 4, 0, None))
    return answer_of(rows, "Asia/Tokyo")


def test_plot():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    answer = two_units()
    axes = answer.plot()
    assert [panel.get_ylabel() for panel in axes] == ["°C", "%"]
    assert [len(panel.lines) for panel in axes] == [2, 2]
    line, band = axes[0].lines[1], axes[0].collections[1].get_datalim(axes[0].transData)
    assert np.array_equal(line.get_ydata(), [1, 2, 3, np.nan, 5, 6], equal_nan=True)
    assert (band.y0, band.y1) == (0.75, 6.25)
    assert "mean(a), y" in [text.get_text() for text in axes[0].get_legend().get_texts()]
    zone = axes[0].xaxis.get_major_formatter()._tz
    assert str(zone) == "Asia/Tokyo"
    with pytest.raises(ValueError, match="2 units .°C, %.: pass as many axes"):
        answer.plot(ax=axes[0])
    # With arguments, and by its methods, it is the accessor of pandas.
    drawn = answer.plot(y="mean(a)", kind="bar")
    assert len(drawn.patches) == 12
    assert len(answer.plot.hist(column=["mean(b)"], bins=3).patches) == 3
    pyplot.close("all")
    one = answer_of([(0, 1, None, "mean(a)", 1.0, 0.5, "", 1, 0, None)])
    _, mine = pyplot.subplots()
    assert one.plot(ax=mine) is mine and mine.get_title() == "a question"
    pyplot.close("all")


def test_plot_needs_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="sotto-he.plot."):
        two_units().plot()


def test_shown():
    answer = answer_of(
        [
            (0, 1, None, "mean(a)", 20.512345, 0.05, "°C", 24, 0, None),
            (1, 2, None, "mean(a)", 21.5, 0.0, "°C", 24, 0, None),
            (2, 3, None, "mean(a)", None, None, "°C", 0, 3, None),
        ]
    )
    text = repr(answer)
    assert "20.51 ± 0.053" in text and "21.5 ± 0" in text and "NaN" in text
    assert "20.51 ± 0.053" in answer._repr_html_()
    assert answer["mean(a)"].iloc[0] == 20.512345 and answer["mean(a) ±"].iloc[0] == 0.05


def test_notebook():
    answer = answer_of(
        [(0, 1, None, "mean(a)", None, None, "", 0, 3, None)], remarks=["note: <b>boiler</b>"]
    )
    page = answer._repr_html_()
    assert "<table" in page and "note: &lt;b&gt;boiler&lt;/b&gt;" in page
    assert "3 readings are missing; 1 of 1 rows lack a value" in page
    assert isinstance(answer, Answer) and type(answer[answer["readings"] > 9]) is pd.DataFrame


def test_a_verification_that_does_not_hold():
    document = {"answer": "a", "question": "q", "work": 2, "repeated": 1, "windows": 1, "bytes": 9}
    document |= {
        "tagged": 3,
        "seconds": 0.1,
        "repeat_us": 1,
        "cloud_us": 1,
        "pinned": True,
        "open_days": 0,
    }
    lie, left = {"work": 0, "lie": "another sum"}, {"work": 1, "lie": "deleted"}
    for findings, unchecked in [([lie], []), ([], [left]), ([lie], [left])]:
        done = st.Verification.read(
            json.dumps(document | {"findings": findings, "open": unchecked})
        )
        assert not done.holds
        assert done.findings == tuple("work 0: another sum" for _ in findings)
        assert done.unchecked == tuple("work 1: deleted" for _ in unchecked)
    assert st.Verification.read(json.dumps(document | {"findings": [], "open": []})).holds
