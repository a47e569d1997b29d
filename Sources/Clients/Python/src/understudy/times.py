"""Moments and durations in the spelling of control calls."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Union

# Unix seconds, an RFC 3339 text, or a datetime with a time zone.
Moment = Union[int, float, str, datetime]
# A text such as “31m”, seconds, or a timedelta.
Duration = Union[int, float, str, timedelta]


def moment(value: Moment) -> Union[int, float, str]:
    if not isinstance(value, datetime):
        return value
    if value.tzinfo is None:
        raise ValueError(f"{value!r} has no time zone, so it is not a moment; say tzinfo=timezone.utc")
    return value.isoformat()


def duration(value: Duration) -> str:
    """The duration in milliseconds, the smallest unit of control calls."""
    if isinstance(value, str):
        return value
    # From whole microseconds, since seconds as a fraction are not exact.
    span = value if isinstance(value, timedelta) else timedelta(seconds=value)
    thousands, rest = divmod(abs(span) // timedelta(microseconds=1), 1000)
    # Away from zero: what has passed has passed completely.
    return f"{'-' if span < timedelta(0) else ''}{thousands + (rest > 0)}ms"
