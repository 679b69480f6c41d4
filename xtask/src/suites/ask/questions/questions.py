"""Readings of three devices, and what pandas says to the questions of questions.toml.

    questions.py readings            writes barn.csv, kitchen.csv and roof.csv
    questions.py answers FILE        prints the questions, each with the values of its answer's rows as `right`
"""

import json
import sys
import tomllib
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

ZONE = ZoneInfo("Europe/Vienna")
PERIOD = pd.Timedelta(minutes=5)
FIRST, LAST = pd.Timestamp("2024-03-01", tz=ZONE), pd.Timestamp("2024-05-01", tz=ZONE)
TICKS = pd.date_range(FIRST, LAST, freq=PERIOD, inclusive="left")


def walk(random, start, step, low, high):
    """Returns a random walk between two ends."""
    values, at = np.empty(len(TICKS)), start
    for number, move in enumerate(random.normal(0, step, len(TICKS))):
        at = min(max(at + move, low), high)
        values[number] = at
    return values


def switching(random, shortest, longest):
    """Returns True and False in turns of random length, in ticks."""
    state, values = False, []
    while len(values) < len(TICKS):
        values += [state] * int(random.integers(shortest, longest))
        state = not state
    return np.array(values[: len(TICKS)])


def room(seed, warm):
    """Returns the readings of a room."""
    random = np.random.default_rng(seed)
    days = (TICKS.hour + TICKS.minute / 60) / 24
    heating = switching(random, 3, 60)
    temperature = warm + 3 * np.sin(2 * np.pi * (days - 0.3)) + walk(random, 0, 0.2, -4, 4)
    power = np.where(heating, 1400 + random.normal(0, 150, len(TICKS)), 30 + random.normal(0, 5, len(TICKS)))
    meter = np.cumsum(np.round(power).clip(0) / 12000)
    meter[len(TICKS) // 2 :] -= meter[len(TICKS) // 2 - 1]  # The meter is exchanged.
    frame = pd.DataFrame(
        {
            "temperature": temperature.round(1),
            "humidity": (80 - 1.5 * temperature + random.normal(0, 3, len(TICKS))).round(0),
            "power": power.round(0).clip(0),
            "meter": meter.round(2),
            "door": np.where(switching(random, 1, 200), "open", "closed"),
        },
        index=TICKS,
    )
    frame.loc[random.random(len(TICKS)) < 0.02, ["temperature", "humidity"]] = np.nan
    return frame


def roof():
    """Returns the readings of a weather station."""
    random = np.random.default_rng(3)
    rain = np.where(switching(random, 5, 300), 0, random.exponential(0.4, len(TICKS)))
    frame = pd.DataFrame(
        {
            "temperature": (8 + walk(random, 0, 0.3, -12, 14)).round(1),
            "rain": rain.round(1),
            "wind": (walk(random, 3600, 8, 3000, 4000) % 360).round(0) % 360,
        },
        index=TICKS,
    )
    frame.loc["2024-04-10":"2024-04-11", "temperature"] = np.nan  # Two dead days.
    return frame


def readings():
    """Writes the files."""
    kitchen = room(1, 21)
    barn = room(2, 12)
    for name, frame in (("barn", barn), ("kitchen", kitchen), ("roof", roof())):
        frame.index.name = "time"
        frame.reset_index().assign(time=lambda d: d.time.map(pd.Timestamp.isoformat)).to_csv(f"{name}.csv", index=False)


class Devices(dict):
    """The readings of each device."""

    def __init__(self):
        super().__init__()
        for name in ("barn", "kitchen", "roof"):
            frame = pd.read_csv(f"{name}.csv")
            frame.index = pd.to_datetime(frame.pop("time"), utc=True).dt.tz_convert(ZONE)
            self[name] = frame

    def every(self, channel):
        """Returns the readings of all devices with a channel."""
        all_of = [frame[channel].dropna() for frame in self.values() if channel in frame]
        return pd.concat(all_of).sort_index(kind="stable")

    def each(self, channel, of):
        """Returns a function of the readings of each device with a channel: a column or a value a device."""
        found = {name: of(frame[channel].dropna()) for name, frame in self.items() if channel in frame}
        is_column = all(isinstance(value, pd.Series) for value in found.values())
        return pd.DataFrame(found) if is_column else pd.Series(found)


def hours(mask):
    """Returns the hours at which a condition holds."""
    return mask.astype(float) / 12


def runs(mask):
    """Returns the lengths of the times in which a condition holds at each tick, in ticks, with their first ticks."""
    mask = mask.reindex(TICKS, fill_value=False)
    number = (mask != mask.shift(fill_value=False)).cumsum()[mask]
    return [(group.index[0], len(group)) for _, group in number.groupby(number)]


def increase(meter):
    """Returns what a counter grew by since the reading before."""
    grown = meter.diff()
    return grown.where(grown >= 0, meter)


def span(values, first, end):
    """Returns the values from a time to another, which is not among them."""
    return values[(values.index >= pd.Timestamp(first, tz=ZONE)) & (values.index < pd.Timestamp(end, tz=ZONE))]


def listed(value):
    """Returns the values of rows as JSON: None where there is none."""
    if isinstance(value, (pd.DataFrame, pd.Series)):
        value = value.to_numpy().ravel().tolist()
    elif isinstance(value, np.ndarray):
        value = value.ravel().tolist()
    elif not isinstance(value, (list, tuple)):
        value = [value]
    plain = [item.timestamp() if isinstance(item, pd.Timestamp) else item for item in value]
    return [None if item is None or item != item else float(item) for item in plain]


def answers(path):
    """Prints what pandas says."""
    with open(path, "rb") as file:
        questions = tomllib.load(file)["question"]
    devices = Devices()
    names = {
        "D": devices, "every": devices.every, "each": devices.each, "pd": pd, "np": np, "hours": hours, "runs": runs,
        "increase": increase, "span": span, "TICKS": TICKS, **devices,
    }  # fmt: skip
    for question in questions:
        if "pandas" in question:
            question["right"] = listed(eval(question["pandas"], names))
    json.dump(questions, sys.stdout)


if __name__ == "__main__":
    readings() if sys.argv[1] == "readings" else answers(sys.argv[2])
