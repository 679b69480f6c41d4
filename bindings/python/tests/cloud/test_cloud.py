"""Questions to a cloud of real processes, against pandas on the clear readings."""

import datetime
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sotto as st
from plant_session import DEVICES, ZONE

pd = pytest.importorskip("pandas")


def measured(clear, device, channel="temperature"):
    """Return the readings of a channel that are within its range, in the plant's zone."""
    values = clear[device][channel].tz_convert(ZONE)
    return values[values <= 100]


def assert_within(answer, name, exact):
    """Compare a result with the exact values: within its bounds, and these are small."""
    found, bound = answer[name].to_numpy(), answer[f"{name} ±"].to_numpy()
    assert np.array_equal(np.isnan(found), np.isnan(exact))
    there = ~np.isnan(found)
    assert np.all(np.abs(found - exact)[there] <= bound[there] + 1e-9)
    assert np.all(bound[there] < 0.1)


def test_days(cloud, clear):
    answer = cloud.ask("mean(temperature), stddev(temperature) by day")
    both = pd.concat([measured(clear, device) for device in DEVICES])
    grouped = both.groupby(both.index.normalize())
    # Deviations are those of all readings, not of a sample.
    days = pd.DataFrame(
        {"mean": grouped.mean(), "std": grouped.std(ddof=0), "size": grouped.size()}
    )
    whole = pd.date_range(days.index[0], days.index[-1], tz=ZONE)
    days = days.reindex(whole)
    assert isinstance(answer, pd.DataFrame) and isinstance(answer.index, pd.DatetimeIndex)
    assert str(answer.index.tz) == ZONE and list(answer.index) == list(whole)
    assert list(answer["to"]) == list(whole + pd.DateOffset(days=1))
    assert_within(answer, "mean(temperature)", days["mean"].to_numpy())
    assert_within(answer, "stddev(temperature)", days["std"].to_numpy())
    assert list(answer["readings"]) == list(days["size"].fillna(0).astype(int))
    assert answer.attrs["units"] == {"mean(temperature)": "°C", "stddev(temperature)": "°C"}
    assert answer.results == ["mean(temperature)", "stddev(temperature)"]
    assert answer.attrs["left_out"] == {"temperature": {"out of range": 1}}
    assert answer["why"].eq("no reading").equals(answer["readings"].eq(0))


def test_groups_that_recur(cloud, clear):
    answer = cloud.ask("mean(temperature) by weekday and hour of day per device")
    assert list(answer.columns[:2]) == ["hour_of_day", "weekday"]
    for device in DEVICES:
        exact = measured(clear, device)
        days = exact.index.day_name().str[:3].str.lower()
        means = exact.groupby([days, exact.index.hour]).mean()
        found = answer.loc[device].dropna(subset="mean(temperature)")
        assert len(found) == len(means)
        for _, row in found.iterrows():
            mean = means[row["weekday"], row["hour_of_day"]]
            assert abs(row["mean(temperature)"] - mean) <= row["mean(temperature) ±"] + 1e-9


def test_gaps_are_seen(cloud, clear):
    answer = cloud.ask("mean(temperature) by day per device")
    boiler = answer.loc["boiler"]
    gap = boiler.loc["2024-03-30"]
    assert np.isnan(gap["mean(temperature)"]) and gap["why"] == "no reading"
    exact = measured(clear, "boiler")
    size = exact.groupby(exact.index.normalize()).size().reindex(boiler.index, fill_value=0)
    assert list(boiler["readings"]) == list(size)
    # March 30th has 96 quarters; on the 31st, of 23 hours, readings begin again at noon.
    assert list(boiler["missing"])[:3] == [1, 96, 48 - 4]
    assert "out of range" in repr(answer) and "lack a value" in repr(answer)
    assert "lack a value" in answer._repr_html_()
    assert list(answer.index.names) == ["device", "from"]
    assert set(answer.attrs["took_part"]) == set(DEVICES)
    assert np.isnan(answer.rows["value"]).sum() == answer["mean(temperature)"].isna().sum()


def test_as_the_command_line(cloud, session):
    for question in ["daily", "line", "mean(humidity) per device"]:
        printed = session.json("ask", question)
        rows = cloud.ask(question).rows
        assert len(rows) == len(printed["rows"])
        for row, told in zip(rows.to_dict("records"), printed["rows"], strict=True):
            value, bound = told["value"], told["bound"]
            assert np.array_equal([row["value"]], [np.nan if value is None else value], True)
            assert np.array_equal([row["bound"]], [np.nan if bound is None else bound], True)
            assert (row["name"], row["unit"]) == (told["name"], told["unit"])
            assert (row["readings"], row["missing"]) == (told["count"], told["missing"])
            for side in ("from", "to"):
                assert row[side] == pd.Timestamp(told[side])
    assert cloud.status() == session.json("status")["devices"]
    plans = cloud.plan("daily"), session.json("plan", "daily")["devices"]
    for stream in [stream for plan in plans for both in plan.values() for stream in both]:
        # A time that each measures for itself.
        assert stream.pop("seconds_a_window") > 0
    assert plans[0] == plans[1]


def test_a_line(cloud, clear):
    answer = cloud.ask("line")
    both = clear["boiler"][clear["boiler"]["temperature"] < 100]
    slope, intercept = np.polyfit(both["humidity"], both["temperature"], 1)
    name = "regression(temperature ~ humidity)"
    for part, exact in {"slope": slope, "intercept": intercept}.items():
        row = answer[f"{name}.{part}"].item(), answer[f"{name}.{part} ±"].item()
        assert abs(row[0] - exact) <= row[1] + 1e-12 and row[1] < 3
    covariance = answer["covariance(temperature, humidity)"].item()
    bound = answer["covariance(temperature, humidity) ±"].item()
    exact = both["temperature"].cov(both["humidity"], ddof=0)
    # The value in the clear is rounded, too.
    assert abs(covariance - exact) <= bound + 1e-12 * abs(exact) and bound < 1
    assert answer["readings"].item() == len(both)


def test_readings_that_come_down_are_bounded(cloud, clear):
    question = "last(temperature)"
    with pytest.raises(st.QuestionError, match="--fetch 1MB"):
        cloud.ask(question, fetch=100)
    assert cloud.ask(question, fetch=1_000_000)[question].notna().all()


def test_values_of_a_polynomial(cloud, clear):
    question = "polynomial(temperature, [1, 0, 0.01]), mean(temperature) by day per device"
    name = "polynomial(temperature, [1, 0, 0.01])"
    # Nothing has checked the cloud's work yet: its values are not in the frame, but for the wish.
    held_back = cloud.ask(question)
    assert held_back[name].isna().all() and held_back.attrs["assurance"] == "unchecked"
    assert held_back["mean(temperature)"].notna().any(), "sums have tags"
    assert cloud.ask(question, unchecked=True)[name].notna().any()
    answer = cloud.ask(question, verify=True)
    assert answer.attrs["assurance"] == "recomputed"
    for device in DEVICES:
        exact = measured(clear, device)
        values = answer.loc[device][name].dropna()
        assert list(values.index) == list(exact.index)
        bound = answer.loc[device][f"{name} ±"].dropna()
        assert np.all(np.abs(values - (1 + 0.01 * exact**2)) <= bound) and bound.max() < 0.1
    # Both devices have readings at the same times: none may be lost.
    across = cloud.ask("curve", verify=True)
    assert across[name].notna().sum() == sum(len(measured(clear, device)) for device in DEVICES)


def test_since_and_until(cloud):
    same = ["2024-03-31", datetime.date(2024, 3, 31), datetime.datetime(2024, 3, 31)]
    same += [pd.Timestamp("2024-03-31", tz=ZONE), pd.Timestamp("2024-03-30 23:00", tz="UTC")]
    answers = [cloud.ask("daily", since=since, until="2024-04-01") for since in same]
    assert len(answers[0]) == 1
    for answer in answers[1:]:
        pd.testing.assert_frame_equal(pd.DataFrame(answer), pd.DataFrame(answers[0]))
    none = cloud.ask("daily", since="2030-01-01")
    assert len(none) == 0 and "no answer: readings of" in repr(none)
    with pytest.raises(ValueError, match="nothing to draw"):
        none.plot()
    with pytest.raises(TypeError, match="not int"):
        cloud.ask("daily", since=20240331)
    with pytest.raises(st.QuestionError, match="whole second"):
        cloud.ask("daily", since=pd.Timestamp("2024-03-31 00:00:00.5"))
    with pytest.raises(st.QuestionError, match="leave one of them out"):
        cloud.ask("mean(temperature) over 7d", since="2024-03-31")


def test_frames_and_pickles(cloud):
    answer = cloud.ask("daily")
    again = pickle.loads(pickle.dumps(answer))
    assert isinstance(again, st.Answer) and again.attrs == answer.attrs
    pd.testing.assert_frame_equal(again.rows, answer.rows)
    kept = cloud.answer(answer.attrs["kept_as"])
    assert cloud.answers()[-1] == answer.attrs["kept_as"]
    pd.testing.assert_frame_equal(pd.DataFrame(kept), pd.DataFrame(answer))
    for derived in [answer.copy(), answer.iloc[:2], answer.dropna()]:
        assert type(derived) is pd.DataFrame
    with pytest.raises(st.PlantError, match="no answer"):
        cloud.answer("no such")


def test_verify(cloud):
    exact = cloud.verify(cloud.ask("daily"))
    assert exact.holds and exact.tagged > exact.work == 0 and exact.pinned
    answer = cloud.ask("curve")
    done = cloud.verify(answer)
    assert done.holds and done.repeated == done.work > 0 and done.tagged == 0
    assert cloud.verify().answer == done.answer == answer.attrs["kept_as"]
    assert cloud.verify(done.answer, sample=0.5).repeated < done.repeated
    passing = cloud.ask("daily", keep=False)
    assert passing.attrs["kept_as"] is None
    with pytest.raises(st.QuestionError, match="keep=True"):
        cloud.verify(passing)
    with pytest.raises(st.QuestionError, match="above 0"):
        cloud.verify(answer, sample=0)


def test_declared(cloud, session):
    assert cloud.devices == DEVICES and cloud.channels["temperature"]["unit"] == "°C"
    assert cloud.questions["curve"] == "polynomial(temperature, [1, 0, 0.01]) by day"
    assert cloud.url.endswith(str(session.port)) and str(session.plant) in repr(cloud)
    token = (session.plant / "secrets/owner-token").read_text().strip()
    assert token not in repr(cloud)


def test_pandas_is_asked_for_late(session):
    script = """
import sys
for name in ("pandas", "matplotlib", "asyncio"):
    assert name not in sys.modules
sys.modules["pandas"] = None
import sotto as st
assert "asyncio" not in sys.modules
cloud = st.Cloud(sys.argv[1])
assert len(cloud.status()) == 2 and cloud.verify().holds
try:
    cloud.ask("daily")
except ImportError as error:
    assert "sotto-he[frames]" in str(error)
else:
    raise AssertionError("pandas was not needed")
"""
    subprocess.run([sys.executable, "-c", script, str(session.plant)], check=True)
