"""Real readings through device and cloud, against pandas.

They read the folder that SOTTO_DATASETS names.
"""

import os
from pathlib import Path

import numpy as np
import plant_session
import pytest
import sotto as st

pd = pytest.importorskip("pandas")
FOLDER = os.environ.get("SOTTO_DATASETS")
pytestmark = [
    pytest.mark.skipif(not FOLDER, reason="SOTTO_DATASETS names no folder"),
    pytest.mark.skipif(not plant_session.PROGRAMS, reason=plant_session.WHY_NOT),
]


@pytest.fixture
def session(tmp_path):
    """Return a session in an empty folder."""
    session = plant_session.Session(tmp_path)
    yield session
    session.stop()


def channel(session, name, unit, range, resolution, every):
    """Declare a channel."""
    words = ["--unit", unit, f"--range={range}", "--resolution", resolution, "--every", every]
    session.run("sotto", "channel", "add", name, *words)


def send(session, device, file, *options):
    """Send a file as a device."""
    agent = ["sotto-agent", "run", "--bundle", f"{device}.bundle", "--csv", str(file)]
    session.run(*agent, *options)


def within(answer, name, exact):
    """Compare a result with the exact values, row by row."""
    found, bound = answer[name].to_numpy(), answer[f"{name} ±"].to_numpy()
    assert len(found) == len(exact) and np.all(np.abs(found - exact.to_numpy()) <= bound + 1e-9)


def test_a_year_in_seattle(session):
    session.init("--time-zone", "America/Los_Angeles")
    channel(session, "temperature", "°F", "-20..120", "0.1", "1h")
    daily = "mean(temperature), stddev(temperature) by day"
    session.run("sotto", "question", "add", "daily", daily)
    session.run("sotto", "device", "add", "station", "--channels", "temperature")
    session.start()
    file = Path(FOLDER) / "seattle-temps.csv"
    send(session, "station", file, "--time", "date", "--column", "temperature=temp")
    clear = pd.read_csv(file)
    # In Seattle there was no such time.
    clear = clear[clear.date != "2010/03/14 02:00"]
    days = clear.temp.groupby(clear.date.str[:10])
    cloud = st.Cloud(session.plant)
    answer = cloud.ask("daily")
    assert list(answer.index.strftime("%Y/%m/%d")) == sorted(days.groups) and len(days) == 365
    within(answer, "mean(temperature)", days.mean())
    within(answer, "stddev(temperature)", days.std(ddof=0))
    assert list(answer["readings"]) == list(days.size())
    assert answer["missing"].sum() == 2 and cloud.verify(answer).holds


def test_motes_by_device(session):
    clear = pd.read_csv(Path(FOLDER) / "sensor-network.csv")
    session.init()
    channel(session, "humidity", "%", "0..100", "0.01", "5s")
    channel(session, "temperature", "°C", "-20..80", "0.01", "5s")
    both = ["humidity", "temperature"]
    question = "mean(humidity), mean(temperature), correlation(humidity, temperature) per device"
    session.run("sotto", "question", "add", "motes", question)
    motes = {f"mote{number}": rows for number, rows in clear.groupby("mote_id")}
    for name in motes:
        session.run("sotto", "device", "add", name, "--channels", ",".join(both))
    session.start()
    for name, rows in motes.items():
        rows[both].to_csv(session.folder / f"{name}.csv", index=False)
        columns = [word for channel in both for word in ("--column", f"{channel}={channel}")]
        send(session, name, f"{name}.csv", "--start", "2010-05-01 00:00", *columns)
    answer = st.Cloud(session.plant).ask("motes").droplevel("from")
    assert list(answer.index) == list(motes)
    for name in both:
        within(answer, f"mean({name})", clear.groupby("mote_id")[name].mean())
    exact = [rows["humidity"].corr(rows["temperature"]) for rows in motes.values()]
    within(answer, "correlation(humidity, temperature)", pd.Series(exact))
    assert list(answer["readings"]) == [len(rows) for rows in motes.values()]


def test_water_by_month(session):
    session.init("--time-zone", "Europe/Rome")
    channel(session, "flow", "l/s", "0..400", "0.01", "1h")
    session.run("sotto", "question", "add", "monthly", "sum(flow), rms(flow) by month")
    session.run("sotto", "device", "add", "meter", "--channels", "flow")
    session.start()
    file = Path(FOLDER) / "water-flow.csv"
    send(session, "meter", file, "--time", "Time", "--column", "flow=Water flow [l/s]")
    clear = pd.read_csv(file)
    at = pd.to_datetime(clear["Time"], utc=True).dt.tz_convert("Europe/Rome")
    months = clear["Water flow [l/s]"].groupby(at.dt.strftime("%Y-%m").to_numpy())
    answer = st.Cloud(session.plant).ask("monthly")
    assert list(answer.index.strftime("%Y-%m")) == sorted(months.groups)
    within(answer, "sum(flow)", months.sum())
    within(answer, "rms(flow)", months.agg(lambda flow: np.sqrt((flow**2).mean())))
