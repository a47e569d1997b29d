"""A sandbox's journal: what was called, what was answered, and which rule refused it."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional

from ._transport import Transport, query
from .clock import Duration, Moment, duration, moment


class Entry:
    """A call and its answer. `record` has all that the server says of it."""

    def __init__(self, record: Dict[str, Any]) -> None:
        self.record = record
        self.id: int = record["id"]
        self.vendor: Optional[str] = record["vendor"]
        self.route: Optional[str] = record["route"]
        self.status: int = record["status"]
        self.failure: Optional[str] = record["failure"]
        """The failure's name; `None` when the call was not refused."""
        self.reason: Optional[str] = record["reason"]
        """Why it was refused, in one line; no answer contains it."""
        self.note: Optional[str] = record.get("note")
        """The remark on an accepted call."""
        self.method: str = record["request"]["method"]
        self.target: str = record["request"]["target"]
        self.request: Dict[str, Any] = record["request"]
        self.response: Dict[str, Any] = record["response"]

    @property
    def is_refused(self) -> bool:
        return self.failure is not None

    @property
    def failed_checks(self) -> List[Dict[str, Any]]:
        """All rules that the call broke, not only the one that decided its answer.

        Each has the rule's name as `check`, what was `expected` and `found`, and the `source` that says so.
        """
        return [check for check in self.record["findings"] if check["outcome"] == "failed"]

    def describe(self) -> str:
        """The entry in words: the call, its status, the rules that it broke, and the reason."""
        place = ", ".join(filter(None, [self.vendor, self.route])) or "no vendor"
        lines = [f"#{self.id} {self.method} {self.target} ({place})", f"   answered {self.status}"]
        if self.failure is not None:
            lines[-1] += f": {self.failure}"
        failed = [check["check"] for check in self.failed_checks]
        if failed:
            lines.append(f"   failed {'rule' if len(failed) == 1 else 'rules'}: {', '.join(failed)}")
        if self.reason is not None:
            lines.append(f"   reason: {self.reason}")
        if self.record.get("nearest_routes"):
            lines.append(f"   nearest routes: {'; '.join(self.record['nearest_routes'])}")
        intervention = self.record.get("intervention")
        if intervention is not None:
            steps = intervention if isinstance(intervention, list) else [intervention]
            lines.append(f"   intervention: {'; '.join(map(str, steps))}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Entry #{self.id} {self.method} {self.target}: {self.status} {self.failure or ''}>".replace(" >", ">")


class Journal:
    """The calls of a sandbox, oldest first; control calls are not among them."""

    def __init__(self, calls: Transport, sandbox: str) -> None:
        self._calls = calls
        self._sandbox = sandbox

    def entries(
        self, *, vendor: Optional[str] = None, route: Optional[str] = None, status: Optional[object] = None,
        failure: Optional[str] = None, since: Optional[Moment] = None, after: Optional[int] = None,
        unmatched: Optional[bool] = None, refused: Optional[bool] = None, last: Optional[int] = None,
    ) -> List[Entry]:
        """The entries that a filter admits: `route` may be a pattern such as `addressbook.*`, `status` 401 or `4xx`."""
        return self._entries(
            vendor=vendor, route=route, status=status, failure=failure, since=since, after=after, unmatched=unmatched,
            refused=refused, last=last)

    def wait_for(self, count: int = 1, *, within: Duration, **where: Any) -> List[Entry]:
        """Waits until that many entries exist that `entries(**where)` would give, a minute at most; returns all of them."""
        return self._entries(**where, count=count, wait=duration(within))

    def last(self, **where: Any) -> Entry:
        """The newest of `entries(**where)`; a `LookupError` when there is none."""
        found = self._entries(**where, last=1)
        if not found:
            raise LookupError(f"the journal of sandbox {self._sandbox} has no such entry:\n{self.describe()}")
        return found[-1]

    def entry(self, number: int) -> Entry:
        return Entry(self._calls.send("GET", f"journal/{number}"))

    def refusals(self) -> List[Entry]:
        return self.entries(refused=True)

    def clear(self) -> None:
        self._calls.send("DELETE", "journal")

    def describe(self, last: int = 20) -> str:
        """The newest calls in words, each refusal with the rules that it broke and the reason."""
        entries = self.entries(last=last)
        if not entries:
            return f"Sandbox {self._sandbox} was not called."
        return "\n".join([f"Sandbox {self._sandbox}, newest last:", *(entry.describe() for entry in entries)])

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries())

    def _entries(self, *, since: Any = None, **members: Any) -> List[Entry]:
        asked = query(**members, since=None if since is None else moment(since))
        return [Entry(record) for record in self._calls.send("GET", f"journal{asked}")["entries"]]
