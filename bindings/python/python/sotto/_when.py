"""Dates and times of questions."""

from __future__ import annotations

import datetime

from sotto._errors import QuestionError

#: A date or time; without a zone it is in the plant's.
When = str | datetime.date | datetime.datetime


def written(time: When | None) -> str | None:
    """Return a time as questions write it."""
    if time is None or isinstance(time, str):
        return time
    if isinstance(time, datetime.datetime):
        if time != time.replace(microsecond=0):
            raise QuestionError(f"{time} is not a whole second: round it")
        if time.tzinfo is None:
            return time.replace(microsecond=0).isoformat()
        return time.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(time, datetime.date):
        return time.isoformat()
    raise TypeError(f"a time is a str, date or datetime, not {type(time).__name__}")
