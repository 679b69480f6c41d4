"""A cloud with the readings of two devices, for the tests of `st.Cloud`."""

import numpy as np
import plant_session
import pytest
import sotto as st


def readings(seed, start, hours):
    """Return readings every quarter of an hour, rounded to tenths as sensors do."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    at = pd.date_range(start, periods=4 * hours, freq="15min", tz="UTC")
    temperature = np.round(20 + 8 * np.sin(np.arange(len(at)) / 15) + rng.normal(0, 1, len(at)), 1)
    humidity = np.round(np.clip(90 - 2 * temperature + rng.normal(0, 2, len(at)), 0, 100), 1)
    return pd.DataFrame({"temperature": temperature, "humidity": humidity}, index=at)


@pytest.fixture(scope="session")
def clear():
    """Return the readings of each device; the night of March 31st has no 02:00 in Rome."""
    boiler = readings(1, "2024-03-28 23:00", 4 * 24 + 30)
    # A day and a half without readings, and one that the sensor cannot have measured.
    boiler = boiler[(boiler.index < "2024-03-29 23:00") | (boiler.index >= "2024-03-31 10:00")]
    boiler.iloc[3, 0] = 900.0
    return {"boiler": boiler, "pump": readings(2, "2024-03-30 23:00", 48)}


@pytest.fixture(scope="session")
def session(tmp_path_factory, clear):
    """Run a cloud that has the readings."""
    if not plant_session.PROGRAMS:
        pytest.skip(plant_session.WHY_NOT)
    session = plant_session.Session(tmp_path_factory.mktemp("session"))
    session.init("--time-zone", plant_session.ZONE)
    add = ["sotto", "channel", "add"]
    every = ["--resolution", "0.1", "--every", "15m"]
    session.run(*add, "temperature", "--unit", "°C", "--range=-40..60", *every)
    session.run(*add, "humidity", "--unit", "%", "--range", "0..100", *every)
    for name, text in {
        "daily": "mean(temperature), stddev(temperature) by day",
        "line": "regression(temperature ~ humidity), covariance(temperature, humidity)",
        "curve": "polynomial(temperature, [1, 0, 0.01]) by day",
    }.items():
        session.run("sotto", "question", "add", name, text)
    for device, channels in plant_session.DEVICES.items():
        session.run("sotto", "device", "add", device, "--channels", ",".join(channels))
    session.start()
    try:
        for device, channels in plant_session.DEVICES.items():
            file = session.folder / f"{device}.csv"
            clear[device][channels].to_csv(
                file, index_label="time", date_format="%Y-%m-%dT%H:%M:%SZ"
            )
            columns = [word for name in channels for word in ("--column", f"{name}={name}")]
            agent = ["sotto-agent", "run", "--bundle", f"{device}.bundle", "--csv", str(file)]
            session.run(*agent, "--time", "time", *columns)
        yield session
    finally:
        session.stop()


@pytest.fixture
def cloud(session):
    """Return the plant's cloud."""
    return st.Cloud(session.plant)
