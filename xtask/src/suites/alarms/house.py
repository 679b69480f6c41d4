"""Finds the events of a house's alarms in its readings, with pandas."""

import glob
import json

import pandas as pd

DAY = pd.Timedelta(days=1)
MUTE_FROM, MUTE_TO = 22, 6


def read(device):
    """Returns the readings of a device by time."""
    files = [pd.read_csv(name) for name in glob.glob(f"{device}-*.csv")]
    table = pd.concat(files)
    table["time"] = pd.to_datetime(table["time"])
    return table.set_index("time").sort_index()


tables = {device: read(device) for device in ["upstairs", "cellar", "meter"]}
rounds = [
    {"now": pd.Timestamp(each["now"]), "until": pd.Timestamp(each["until"]), "muted": each["muted"]}
    for each in json.load(open("rounds.json"))
]


def change(kind, start, known, value=None):
    """A change that is known from a time on at which its readings have arrived."""
    return {"event": kind, "from": start, "known": known, "value": value}


def by_limit(days, holds, quiet, needed, needed_quiet, lasts=pd.Timedelta(0), takes_empty=False, span=DAY):
    """Changes of a condition: `days` has a row for each window, `holds` and `quiet` are its verdicts."""
    changes, raised, run, begin, before = [], False, 0, None, None
    for day, value, is_over, is_quiet in zip(days.index, days, holds, quiet):
        if before is not None and day != before + span:
            run = 0
        before = day
        if pd.isna(value) and not takes_empty:
            run = 0
            continue
        counts = is_quiet if raised else is_over
        if not counts:
            run = 0
            continue
        begin = begin if run else day
        run += 1
        enough = run >= needed_quiet if raised else run >= needed and day + span - begin >= lasts
        if enough:
            changes.append(change("cleared" if raised else "raised", day, day + span, value))
            raised, run = not raised, 0
    return changes


def by_silence(times, least):
    """Changes of a silence. The last one is known when the time is over, the others when the next reading has come."""
    changes = []
    times = pd.Series(times)
    for at in times.index[times.diff() >= least]:
        before, after = times[at - 1], times[at]
        hours = (after - before) / pd.Timedelta(hours=1)
        known = after.floor("D") + DAY
        changes.append(dict(change("raised", before, known), least=before + least, hours=hours))
        changes.append(change("cleared", after, known, hours))
    return changes


def windows(device, channel):
    """One row for each day with any reading of the device."""
    table = tables[device]
    days = table.index.floor("D")
    return table[channel].groupby(days)


def condition(device, channel, value, over, quiet, needed=1, needed_quiet=1, **more):
    """Changes of a condition on a daily value."""
    days = value(windows(device, channel))
    return by_limit(days, over(days), quiet(days), needed, needed_quiet, **more)


def gaps():
    """Changes of the coverage of a02. Missing days count as 0, between others."""
    days = windows("upstairs", "a02").count() / 24
    days = days.reindex(pd.date_range(days.index[0], days.index[-1], freq="D"), fill_value=0)
    return by_limit(days, days < 0.5, days >= 0.5, 1, 1, takes_empty=True)


def heat():
    """Changes of the difference of two daily means."""
    days = windows("upstairs", "a05").mean() - windows("upstairs", "a06").mean()
    return by_limit(days, days < 2, days >= 2, 3, 1)


def hot():
    """Largest readings: the value told is the number of readings above the limit."""
    table = tables["upstairs"]["a01"]
    days = windows("upstairs", "a01").max()
    changes = by_limit(days, days > 30, days <= 28, 2, 1)
    for each in changes:
        of_day = table[table.index.floor("D") == each["from"]]
        each["value"] = float((of_day > 30).sum())
    return changes


def flood():
    """Any reading above 5."""
    days = windows("cellar", "b01").max()
    changes = by_limit(days, days > 5, days <= 5, 1, 1)
    for each in changes:
        each["value"] = None
    return changes


def surge():
    """Any reading of an hour above 40: the value told is their number."""
    readings = tables["meter"]["c01"]
    hours = readings.groupby(readings.index.floor("h"))
    highest = hours.max()
    changes = by_limit(highest, highest > 40, highest <= 40, 1, 1, span=pd.Timedelta(hours=1))
    above = (readings > 40).groupby(readings.index.floor("h")).sum()
    for each in changes:
        each["value"] = float(above[each["from"]])
    return changes


spread = lambda of: of.max() - of.min()
two_days = pd.Timedelta(days=2)
ALARMS = {
    ("hot", "upstairs"): (hot(), pd.Timedelta(weeks=1)),
    ("warm", "upstairs"): (
        condition(
            "upstairs", "a04", lambda of: of.mean(), lambda d: d > 24, lambda d: d <= 24, 1, 2, lasts=pd.Timedelta(days=3)
        ),
        None,
    ),
    ("dead", "upstairs"): (by_silence(tables["upstairs"].dropna(how="all").index, two_days), pd.Timedelta(hours=8)),
    ("dead", "cellar"): (by_silence(tables["cellar"].dropna(how="all").index, two_days), pd.Timedelta(hours=8)),
    ("lost", "upstairs"): (by_silence(tables["upstairs"]["a02"].dropna().index, two_days), None),
    ("gaps", "upstairs"): (gaps(), None),
    ("stuck", "upstairs"): (
        condition("upstairs", "a03", spread, lambda d: d.round(6) < 0.2, lambda d: d.round(6) >= 0.2, 3, 1),
        None,
    ),
    ("flood", "cellar"): (flood(), None),
    ("heat", "upstairs"): (heat(), None),
    ("surge", "meter"): (surge(), None),
}
MUTED = {"flood"}


def told(alarm, device, changes, repeat):
    """Events in the order of the rounds, with repetitions and mutes."""
    events, left = [], list(changes)
    raised, anchor, repeats, was_muted, sinks_know = None, None, 0, False, False
    for each in rounds:
        now, until = each["now"], each["until"]
        muted = alarm in MUTED and (now.hour >= MUTE_FROM or now.hour < MUTE_TO) or alarm in each["muted"]
        is_told = False
        while left:
            next_change = left[0]
            # A silence that lasts is told when its time is over, though no reading has come.
            least = next_change.get("least")
            lasts = least is not None and least <= now and next_change["from"] + pd.Timedelta(hours=1) <= until
            if next_change["known"] > until and not lasts:
                break
            left.pop(0)
            value = next_change["value"]
            if least is not None:
                is_over = next_change["known"] <= until
                value = next_change["hours"] if is_over else (now - next_change["from"]) / pd.Timedelta(hours=1)
            events.append((next_change["event"], next_change["from"], muted, value))
            if next_change["event"] == "raised":
                raised, anchor, repeats = next_change["from"], now, 0
            else:
                raised = None
            if not muted:
                sinks_know, is_told = raised is not None, True
        ends = was_muted and not muted
        was_muted = muted
        if raised is not None:
            passed = (now - anchor) // repeat if repeat is not None else 0
            if ((passed > repeats and not muted) or ends) and not is_told:
                events.append(("still", raised, False, None))
                sinks_know = True
            if not muted:
                repeats = max(repeats, passed)
        elif ends and sinks_know:
            events.append(("cleared", until - DAY, False, None))
            sinks_know = False
    return [
        {"alarm": alarm, "device": device, "event": kind, "from": start.isoformat(), "muted": muted, "value": value}
        for kind, start, muted, value in events
    ]


found = []
for (alarm, device), (changes, repeat) in ALARMS.items():
    found.extend(told(alarm, device, changes, repeat))
for event in found:
    event["value"] = None if event["value"] is None or pd.isna(event["value"]) else float(event["value"])
print(json.dumps(found))
