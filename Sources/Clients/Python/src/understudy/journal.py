"""A sandbox's journal: what was called, what was answered, and which rule refused it."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Literal, Optional, cast

from . import control
from .control import Control
from .times import Duration, Moment, duration, moment

Kind = Literal["incoming", "outgoing"]


class Check:
    """A rule that was applied to a call, and how that went."""

    def __init__(self, record: control.Finding) -> None:
        self.record = record
        self.name = record["check"]
        self.outcome = record["outcome"]

    @property
    def has_failed(self) -> bool:
        return self.outcome == "failed"

    @property
    def expected(self) -> Any:
        return self.record.get("expected")

    @property
    def found(self) -> Any:
        return self.record.get("found")

    @property
    def source(self) -> Optional[str]:
        """The document that says so."""
        return self.record.get("source")

    def __repr__(self) -> str:
        return f"<Check {self.name} {self.outcome}>"


class Entry:
    """A call and its answer. `record` has all that the server says of it."""

    def __init__(self, record: control.JournalEntry) -> None:
        self.record = record
        self.id = record["id"]
        self.vendor = record["vendor"]
        self.route = record["route"]
        self.status = record["status"]
        self.failure = record["failure"]
        """The failure's name; `None` when the call was not refused."""
        self.reason = record["reason"]
        """Why it was refused, in a line that no answer holds."""
        self.method = record["request"]["method"]
        self.target = record["request"]["target"]
        self.request = record["request"]
        self.response = record["response"]

    @property
    def is_refused(self) -> bool:
        return self.failure is not None

    @property
    def checks(self) -> List[Check]:
        return [Check(each) for each in self.record["findings"]]

    @property
    def failed_checks(self) -> List[Check]:
        """All rules that the call broke, not only the one that decided its answer."""
        return [check for check in self.checks if check.has_failed]

    @property
    def nearest_routes(self) -> List[str]:
        """The routes that come closest to a call that found none."""
        return list(self.record.get("nearest_routes", []))

    def describe(self) -> str:
        """The entry in words: the call, its status, the rules that it broke, and the reason."""
        place = ", ".join(filter(None, [self.vendor, self.route])) or "no vendor"
        lines = [f"#{self.id} {self.method} {self.target} ({place})", f"   answered {self.status}"]
        if self.failure is not None:
            lines[-1] += f": {self.failure}"
        failed = [check.name for check in self.failed_checks]
        if failed:
            lines.append(f"   failed {'rule' if len(failed) == 1 else 'rules'}: {', '.join(failed)}")
        if self.reason is not None:
            lines.append(f"   reason: {self.reason}")
        if self.nearest_routes:
            lines.append(f"   nearest routes: {'; '.join(self.nearest_routes)}")
        intervention = self.record.get("intervention")
        if intervention is not None:
            steps = intervention if isinstance(intervention, list) else [intervention]
            lines.append(f"   intervention: {'; '.join(map(str, steps))}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Entry #{self.id} {self.method} {self.target}: {self.status} {self.failure or ''}>".replace(" >", ">")


class Journal:
    """The calls of a sandbox, oldest first; control calls are not among them."""

    def __init__(self, calls: Control, sandbox: str) -> None:
        self._calls = calls
        self._sandbox = sandbox

    def entries(
        self, *, vendor: Optional[str] = None, route: Optional[str] = None, status: Optional[object] = None,
        failure: Optional[str] = None, since: Optional[Moment] = None, after: Optional[int] = None,
        unmatched: Optional[bool] = None, refused: Optional[bool] = None, kind: Optional[Kind] = None,
        last: Optional[int] = None,
    ) -> List[Entry]:
        """The entries that a filter admits: `route` may be a pattern such as `addressbook.*`, `status` 401 or `4xx`."""
        return self._entries(dict(
            vendor=vendor, route=route, status=status, failure=failure, since=since, after=after, unmatched=unmatched,
            refused=refused, kind=kind, last=last))

    def wait_for(
        self, count: int = 1, *, within: Duration, vendor: Optional[str] = None, route: Optional[str] = None,
        status: Optional[object] = None, failure: Optional[str] = None, after: Optional[int] = None,
        refused: Optional[bool] = None,
    ) -> List[Entry]:
        """Waits until there are so many such entries, for a minute at most; returns those that are there then."""
        return self._entries(dict(
            vendor=vendor, route=route, status=status, failure=failure, after=after, refused=refused, count=count,
            wait=duration(within)))

    def last(
        self, *, vendor: Optional[str] = None, route: Optional[str] = None, status: Optional[object] = None,
        failure: Optional[str] = None, refused: Optional[bool] = None,
    ) -> Entry:
        """The newest such entry; a `LookupError` when there is none."""
        found = self._entries(dict(vendor=vendor, route=route, status=status, failure=failure, refused=refused, last=1))
        if not found:
            raise LookupError(f"the journal of sandbox {self._sandbox} has no such entry:\n{self.describe()}")
        return found[-1]

    def entry(self, number: int) -> Entry:
        return Entry(cast(control.JournalEntry, self._calls.journal_get(number)))

    def refusals(self) -> List[Entry]:
        return self.entries(refused=True)

    def clear(self) -> None:
        self._calls.journal_clear()

    def har(self) -> control.HTTPArchive:
        """An HTTP Archive for browsers' tools, Charles and Proxyman."""
        return cast(control.HTTPArchive, self._calls.journal_list(format="har"))

    def hurl(self) -> str:
        """Contract cases that `understudy contract run` can run."""
        return cast(str, self._calls.journal_list(format="hurl"))

    def describe(self, last: int = 20) -> str:
        """The newest calls in words, each refusal with the rules that it broke and the reason."""
        return described(self._sandbox, self.entries(last=last))

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries())

    def _entries(self, query: Dict[str, Any]) -> List[Entry]:
        if query.get("status") is not None:
            query["status"] = str(query["status"])
        if query.get("since") is not None:
            query["since"] = str(moment(query["since"]))
        answer = cast(control.Journal, self._calls.journal_list(**query))
        return [Entry(record) for record in answer["entries"]]


def described(sandbox: str, entries: List[Entry]) -> str:
    """Those entries of a sandbox in words."""
    if not entries:
        return f"Sandbox {sandbox} was not called."
    return "\n".join([f"Sandbox {sandbox}, newest last:", *(entry.describe() for entry in entries)])
