"""Answers of a cloud as data frames. Needs pandas."""

from __future__ import annotations

import html
import re
from typing import Any

import numpy as np
import pandas as pd

from sotto._plot import AnswerPlot
from sotto._shown_frames import answer_shown

#: Follows a result's name in the name of its column of bounds.
BOUND = " ±"
#: The columns beside results.
_BESIDE = ["to", "readings", "missing", "why"]
#: The keys of groups that recur, as `by weekday and hour of day`.
_RECUR = ["hour_of_day", "weekday", "month_of_year"]
#: The days of a week, in order.
_WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
#: The name of one value of `values(…)`.
_VALUE = re.compile(r"(.+)\[\d+\]")


class Answer(pd.DataFrame):
    """A decrypted answer: a data frame with a row for each group of readings.

    The index is the start of the group in the plant's time zone; with `per device` its first level
    is the device. Groups that recur have their keys in columns: `hour_of_day` (0 to 23), `weekday`
    (an ordered category, mon to sun), `month_of_year` (1 to 12);
    `answer.pivot_table(index="weekday", columns="hour_of_day")` makes a map of two. For each result
    there is a column of values and, named with ` ±`, one of bounds: no value is off by more. A
    value that is missing is NaN, and `why` says why. `readings` counts the readings behind a row,
    `missing` those that did not arrive; `to` is the group's end.

    `attrs` has plain facts: question, kept_as, time_zone, units, assurance, remarks, left_out,
    took_part, cost. Results of pandas' operations are ordinary data frames.
    """

    _metadata = ["_rows"]
    _rows: pd.DataFrame

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    @property
    def results(self) -> list[str]:
        """The names of the results: the columns that have bounds."""
        return list(self.attrs["units"])

    @property
    def rows(self) -> pd.DataFrame:
        """One row a result: from, to, device, name, value, bound, unit, assurance and so on."""
        return self._rows

    @property
    def plot(self) -> Any:
        """Draw the results with their bounds: `answer.plot()`. With arguments: pandas' own plot."""
        return AnswerPlot(self)

    def __repr__(self) -> str:
        """Return the table, whose digits end where the bounds begin, and remarks."""
        return "\n".join([repr(self._shown()), *self._remarks()])

    def _repr_html_(self) -> str | None:
        table: str | None = self._shown()._repr_html_()
        if table is None:
            return None
        return table + "".join(f"<p>{html.escape(remark)}</p>" for remark in self._remarks())

    def _shown(self) -> pd.DataFrame:
        return answer_shown(self, list(self.attrs.get("units", [])), BOUND)

    def _remarks(self) -> list[str]:
        """Return gaps and remarks: pandas may cut their columns out of a printed table."""
        remarks = list(self.attrs.get("remarks", []))
        if "missing" in self and "why" in self:
            missing, empty = int(self["missing"].sum()), int((self["why"] != "").sum())
            if missing or empty:
                of = f"{empty} of {len(self)} rows lack a value: see the column why"
                remarks.insert(0, f"{missing} readings are missing; {of}")
        return remarks


def assembled(facts: dict[str, Any]) -> Answer:
    """Make an answer of columns and facts."""
    rows = pd.DataFrame(_recurring(facts.pop("columns")))
    zone = facts["time_zone"]
    for side in ("from", "to"):
        rows[side] = _times(rows[side].to_numpy(), zone)
    unread = rows["value"].isna() & rows["why"].isna()
    rows["why"] = rows["why"].astype(object).mask(unread, "no reading").fillna("")
    answer = Answer(_wide(rows, zone))
    answer._rows = rows
    facts["kept_as"] = facts.pop("name")
    facts["units"] = {
        str(name): str(next((unit for unit in group if unit), ""))
        for name, group in rows["unit"].groupby(_names(rows), sort=False)
    }
    answer.attrs.update(facts)
    return answer


def _recurring(columns: dict[str, Any]) -> dict[str, Any]:
    """Keep the keys of groups that recur if there are any, as whole numbers and ordered days."""
    kept = dict(columns)
    for name in _RECUR:
        values = kept.pop(name, [])
        if not any(value is not None for value in values):
            continue
        if name == "weekday":
            kept[name] = pd.Categorical(values, categories=_WEEKDAYS, ordered=True)
        else:
            kept[name] = pd.array(values, dtype="UInt8")
    return kept


def _times(milliseconds: Any, zone: str) -> pd.DatetimeIndex:
    times = np.asarray(milliseconds, dtype=np.int64).astype("datetime64[ms]")
    return pd.DatetimeIndex(times).tz_localize("UTC").tz_convert(zone)


def _names(rows: pd.DataFrame) -> pd.Series:
    """Return the names of columns: values of one result share a column."""
    return rows["name"].astype(object).map(lambda name: _VALUE.sub(r"\1", name))


def _wide(rows: pd.DataFrame, zone: str) -> pd.DataFrame:
    """Put the results of a group beside each other."""
    rows = rows.assign(name=_names(rows))
    # Rows are of devices or of tags, or over all devices.
    subject = "tag" if "tag" in rows and rows["tag"].notna().any() else "device"
    recur = [name for name in _RECUR if name in rows]
    key = [subject, "from", "to", *recur, "again"]
    # Windows of several devices may have equal times.
    same = rows.groupby([*key[:-1], "name"], dropna=False, observed=True)
    rows["again"] = same.cumcount()
    groups = rows.groupby(key, dropna=False, sort=True, observed=True)
    line = groups.ngroup().to_numpy()
    column, names = pd.factorize(rows["name"])
    shape = (int(line.max(initial=-1)) + 1, len(names))
    values, bounds = np.full(shape, np.nan), np.full(shape, np.nan)
    values[line, column] = rows["value"]
    bounds[line, column] = rows["bound"]
    first = groups[[]].first().reset_index()
    wide: dict[str, Any] = {name: first[name].array for name in recur}
    for at, name in enumerate(names):
        wide[name], wide[name + BOUND] = values[:, at], bounds[:, at]
    wide["to"] = first["to"].to_numpy() if shape[0] == 0 else pd.DatetimeIndex(first["to"])
    wide["readings"] = groups["readings"].min().to_numpy()
    wide["missing"] = groups["missing"].max().to_numpy()
    wide["why"] = _reasons(rows, line, shape[0])
    index: pd.Index = pd.DatetimeIndex(first["from"], name="from")
    if "place" in rows and rows["place"].notna().any():
        wide["place"] = groups["place"].first().to_numpy()
    if rows[subject].notna().any():
        index = pd.MultiIndex.from_arrays([first[subject], index], names=[subject, "from"])
    return pd.DataFrame(wide, index=index)


def _reasons(rows: pd.DataFrame, line: Any, lines: int) -> Any:
    """Return for each line the reasons of its missing values, each with its results."""
    of: list[dict[str, list[str]]] = [{} for _ in range(lines)]
    for at, name, why in zip(line, rows["name"], rows["why"], strict=True):
        if why:
            of[at].setdefault(why, []).append(name)
    results = rows["name"].nunique()
    return np.array(
        [
            "; ".join(
                why if len(names) == results else f"{', '.join(names)}: {why}"
                for why, names in reasons.items()
            )
            for reasons in of
        ],
        dtype=object,
    )
