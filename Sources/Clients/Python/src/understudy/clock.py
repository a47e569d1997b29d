"""A sandbox's clock, and times in the spelling of control calls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, Optional, Union

from ._transport import Transport

# Unix seconds, an RFC 3339 text, or a datetime with a time zone.
Moment = Union[int, float, str, datetime]
# A text such as “31m”, seconds, or a timedelta.
Duration = Union[int, float, str, timedelta]


def moment(value: Moment) -> Union[int, float, str]:
    if not isinstance(value, datetime):
        return value
    if value.tzinfo is None:
        raise ValueError(f"{value!r} has no time zone, so it is not a moment; add tzinfo=timezone.utc")
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


@dataclass(frozen=True)
class Reading:
    """What a clock showed."""

    unix: float
    """Seconds since 1970-01-01T00:00:00Z."""
    is_frozen: bool
    is_machine_time: bool
    """Whether it shows the machine's time, as it does until it is set, moved or frozen."""

    @property
    def now(self) -> datetime:
        """The moment, in UTC."""
        return datetime.fromtimestamp(self.unix, timezone.utc)


class Clock:
    """The time that a sandbox goes by: lifetimes of tokens, minting and the journal read it.

    Every change returns what the clock shows after it.
    """

    def __init__(self, calls: Transport) -> None:
        self._calls = calls

    def read(self) -> Reading:
        return self._reading("GET")

    @property
    def now(self) -> datetime:
        return self.read().now

    def advance(
        self, by: Optional[Duration] = None, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0,
        milliseconds: float = 0,
    ) -> Reading:
        """Moves the clock: `advance(minutes=31)`, `advance("31m")`; tokens issued earlier age by as much."""
        parts = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds, milliseconds=milliseconds)
        if by is not None and parts:
            raise ValueError("advance takes a duration or its parts, not both")
        return self._reading("PUT", {"advance": duration(parts if by is None else by)})

    def set(self, now: Moment) -> Reading:
        """Sets the clock, which runs on from there: Unix seconds, an RFC 3339 text, or a datetime with a time zone."""
        return self._reading("PUT", {"now": moment(now)})

    def freeze(self, at: Optional[Moment] = None) -> Reading:
        """Freezes the clock, at that moment or where it stands."""
        return self._reading("PUT", {"freeze": True, **({} if at is None else {"now": moment(at)})})

    def resume(self) -> Reading:
        """Lets a frozen clock run on from where it stands."""
        return self._reading("PUT", {"freeze": False})

    def use_machine_time(self) -> Reading:
        """Returns to the machine's time."""
        return self._reading("DELETE")

    def _reading(self, method: str, change: Optional[Dict[str, Any]] = None) -> Reading:
        shown = self._calls.send(method, "clock", change)
        return Reading(shown["unix"], shown["frozen"], shown["machine_time"])
