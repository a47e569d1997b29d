"""A sandbox's clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Optional

from . import control
from .control import Control
from .times import Duration, Moment, duration, moment


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
    """The time that a sandbox believes in: lifetimes of tokens, minting and the journal read it.

    Every change returns what the clock shows then.
    """

    def __init__(self, calls: Control) -> None:
        self._calls = calls

    def read(self) -> Reading:
        return _reading(self._calls.clock_get())

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
        return _reading(self._calls.clock_set({"advance": duration(parts if by is None else by)}))

    def set(self, now: Moment) -> Reading:
        """Sets the clock, which goes on from there: Unix seconds, an RFC 3339 text, or a datetime with a time zone."""
        return _reading(self._calls.clock_set({"now": moment(now)}))

    def freeze(self, at: Optional[Moment] = None) -> Reading:
        """Stops the clock, there or where it stands."""
        change: control.ClockChange = {"freeze": True}
        if at is not None:
            change["now"] = moment(at)
        return _reading(self._calls.clock_set(change))

    def resume(self) -> Reading:
        """Lets a frozen clock go on from where it stands."""
        return _reading(self._calls.clock_set({"freeze": False}))

    def use_machine_time(self) -> Reading:
        """Returns to the machine's time."""
        return _reading(self._calls.clock_clear())


def _reading(clock: control.Clock) -> Reading:
    return Reading(clock["unix"], clock["frozen"], clock["machine_time"])
