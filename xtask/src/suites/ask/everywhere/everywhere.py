"""What pandas says to each function, grouping and condition, on a file of readings in a zone.

    everywhere.py readings FILE START PERIOD COLUMN...   writes data.csv: the file's numbers, as many seconds apart
    everywhere.py answers ZONE PERIOD                    prints questions with the values of their rows, in sotto's order

Each function takes the readings of a group, in order of time.
"""

import json
import sys
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd


def readings(path, start, period, columns):
    """Writes the readings at times in UTC, a period apart: only their values are the file's."""
    frame = pd.read_csv(path)
    values = frame[columns].to_numpy()[:9000]
    times = pd.Timestamp(start, tz="UTC") + pd.to_timedelta(np.arange(len(values)) * period, unit="s")
    kept = np.arange(len(values)) % 11 != 7  # Gaps.
    kept[len(values) // 3 : len(values) // 3 + 60] = False
    data = pd.DataFrame(values, columns=["x", "y"][: len(columns)])
    data.insert(0, "time", times.map(pd.Timestamp.isoformat))
    data[kept].to_csv("data.csv", index=False)


class Channel:
    """The readings of a channel, their period in hours, and limits among them."""

    def __init__(self, readings, period):
        self.readings, self.hours = readings, period / 3600
        self.low, self.middle, self.high = np.quantile(readings, [0.25, 0.5, 0.8], method="lower")

    def runs(self, mask):
        """Returns the lengths of the times in which a condition holds at each tick, in ticks."""
        if mask.empty:
            return []
        ticks = pd.date_range(mask.index[0], mask.index[-1], freq=pd.Timedelta(hours=self.hours))
        mask = mask.reindex(ticks, fill_value=False)
        number = (mask != mask.shift(fill_value=False)).cumsum()[mask]
        return number.groupby(number).size().tolist()

    def functions(self):
        """Returns the text of each function with one value, and what it computes."""
        low, middle, high, hours = self.low, self.middle, self.high, self.hours
        return {
            "count(x)": len,
            "sum(x)": np.sum,
            "mean(x)": np.mean,
            "variance(x)": lambda x: np.var(x.to_numpy()),
            "stddev(x)": lambda x: np.std(x.to_numpy()),
            "rms(x)": lambda x: np.sqrt(np.mean(x.to_numpy() ** 2)),
            "crest(x)": lambda x: np.max(np.abs(x)) / np.sqrt(np.mean(x.to_numpy() ** 2)),
            "skewness(x)": lambda x: moment(x, 3) / moment(x, 2) ** 1.5,
            "kurtosis(x)": lambda x: moment(x, 4) / moment(x, 2) ** 2,
            "energy(x)": lambda x: x.sum() * hours,
            "min(x)": np.min,
            "max(x)": np.max,
            "range(x)": lambda x: x.max() - x.min(),
            "median(x)": lambda x: x.quantile(0.5, interpolation="lower"),
            "quantile(x, 0.9)": lambda x: np.quantile(x, 0.9, method="inverted_cdf"),
            f"count(x > {high})": lambda x: (x > high).sum(),
            f"time(x <= {middle})": lambda x: (x <= middle).sum() * hours,
            f"count({low} <= x < {high})": lambda x: ((low <= x) & (x < high)).sum(),
            f"share(x > {middle})": lambda x: (x > middle).mean(),
            "mean(x) / stddev(x)": lambda x: x.mean() / np.std(x.to_numpy()),
        }

    def of_readings(self):
        """Returns the functions that take the readings of the windows."""
        high = self.high
        return {
            "first(x)": lambda x: x.iloc[0],
            "last(x)": lambda x: x.iloc[-1],
            f"episodes(x > {high})": lambda x: len(self.runs(x > high)),
            f"longest(x > {high})": lambda x: max(self.runs(x > high), default=0) * self.hours,
            "time_of_max(x)": lambda x: x.idxmax(),
            f"degree_hours(x, below {high})": lambda x: (high - x).clip(lower=0).sum() * self.hours,
        }


def moment(x, exponent):
    """Returns a central moment; NaN of readings that are all equal."""
    centred = x.to_numpy() - np.mean(x.to_numpy())
    return np.mean(centred**exponent) if np.ptp(x.to_numpy()) > 0 else np.nan


# Functions of the channel z, which devices compute as x - y.
DERIVED = {
    "count(z)": len,
    "mean(z)": np.mean,
    "max(z)": np.max,
    "count(z > 0)": lambda z: (z > 0).sum(),
    "max(x - y)": np.max,
}


def keys(by, times):
    """Returns the group of each time."""
    return {
        "": lambda: [0] * len(times),
        "by hour": lambda: times.floor("h"),
        "by 6h": lambda: [(time.date(), time.hour // 6) for time in times],
        "by day": lambda: [time.date() for time in times],
        "by week": lambda: [(time.date() - pd.Timedelta(days=time.weekday())) for time in times],
        "by month": lambda: [(time.year, time.month) for time in times],
        "by month from 21": lambda: [((time - pd.Timedelta(days=20)).year, (time - pd.Timedelta(days=20)).month) for time in times.tz_localize(None)],
        "by quarter": lambda: [(time.year, time.quarter) for time in times],
        "by year": lambda: [time.year for time in times],
        "by hour of day": lambda: times.hour,
        "by weekday": lambda: times.day_of_week,
        "by month of year": lambda: times.month,
        "by hour of day and weekday": lambda: list(zip(times.hour, times.day_of_week)),
        "by weekday and month of year": lambda: list(zip(times.day_of_week, times.month)),
    }[by]()


CONDITIONS = {
    "where time 22:00-06:00": lambda times: (times.hour >= 22) | (times.hour < 6),
    "where weekday in (sat, sun)": lambda times: times.day_of_week >= 5,
    "where month in (3, 10) and time 01:30-04:00": lambda times: np.isin(times.month, [3, 10])
    & (times.hour * 60 + times.minute >= 90)
    & (times.hour < 4),
}


def plain(value):
    if isinstance(value, pd.Timestamp):
        return value.timestamp()
    return float(value) if value is not None and np.isfinite(value) else None


def grouped(functions, readings, by, where=None):
    """Returns a question with the values of its rows."""
    if where:
        readings = readings[CONDITIONS[where](readings.index)]
    groups = pd.Series(range(len(readings))).groupby(pd.Series(keys(by, readings.index)), sort=True)
    rows = [plain(of(readings.iloc[at])) for _, at in groups.indices.items() for of in functions.values()]
    clauses = " ".join(filter(None, [by, where]))
    name = f"{len(functions)} functions from {next(iter(functions))} {clauses}".strip()
    return {"name": name, "sotto": f"{', '.join(functions)} {clauses}", "right": rows}


def along(readings):
    """Returns a question about groups that follow each other, day by day, up to the last whole one."""
    until = readings.index[-1].normalize()
    readings = readings[readings.index < until]
    days = readings.groupby(pd.Index(keys("by day", readings.index)))
    mean, total = days.mean(), days.sum()
    every = pd.date_range(mean.index[0], mean.index[-1]).date
    mean, total = mean.reindex(every), total.reindex(every)
    columns = {
        "cumulative(sum(x))": total.cumsum(),
        "difference(mean(x))": mean.diff(),
        "mean(x) offset 1w": mean.shift(7),
        "mean(x) - mean(x) offset previous": mean.diff(),
    }
    rows = [plain(columns[text].iloc[day]) for day in range(len(every)) for text in columns]
    return {"name": "along days", "sotto": f"{', '.join(columns)} by day until {until.date()}", "right": rows, "whole": True}


def answers(zone, period):
    frame = pd.read_csv("data.csv")
    frame.index = pd.to_datetime(frame.pop("time"), utc=True).dt.tz_convert(ZoneInfo(zone))
    x = frame["x"].dropna()
    channel = Channel(x, period)
    functions, of_readings = channel.functions(), channel.of_readings()
    few = {text: functions[text] for text in ("count(x)", "sum(x)", "max(x)", f"share(x > {channel.middle})")}
    questions = [
        grouped(functions, x, by)
        for by in ("", "by day", "by week", "by 6h", "by month", "by month from 21", "by quarter", "by year")
    ]
    questions += [
        grouped(few, x, by)
        for by in ("by hour of day", "by weekday", "by month of year", "by hour of day and weekday", "by weekday and month of year")
    ]  # fmt: skip
    questions += [grouped(few, x, by, where) for where in CONDITIONS for by in ("", "by day", "by month", "by hour of day")]
    questions += [grouped(of_readings, x, by) for by in ("", "by day", "by month")]
    questions.append(along(x))
    if "y" in frame:
        both = frame.dropna()
        pairs = {
            "covariance(x, y)": lambda at: np.cov(at.to_numpy().T, bias=True)[0, 1],
            "correlation(x, y)": lambda at: np.corrcoef(at.to_numpy().T)[0, 1],
        }
        questions.append(grouped(pairs, both, "by day"))
        questions += [grouped(DERIVED, (both["x"] - both["y"]).round(9), by) for by in ("", "by day", "by weekday")]
    json.dump([question for question in questions if question["right"]], sys.stdout)


if __name__ == "__main__":
    if sys.argv[1] == "readings":
        readings(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:])
    else:
        answers(sys.argv[2], int(sys.argv[3]))
