"""A test's own environment in a server: users, clock, settings, scenarios, faults, journal."""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType
from typing import Any, Dict, List, Literal, Mapping, Optional, Type, Union

from ._transport import Transport, part, query
from .clock import Clock, Duration, duration
from .errors import NotFound, UnmetExpectation
from .journal import Journal


class Sandbox:
    """Control over what happens behind the app in one test.

    Give the app `base_url`; where it takes only a host, have it send `headers`.
    """

    def __init__(self, name: str, base_url: str, calls: Transport, others: Transport) -> None:
        self.name = name
        self.base_url = base_url
        """The base URL for the app under test, such as `http://127.0.0.1:49213/~signup`; append the path."""
        self.headers: Dict[str, str] = {"X-Understudy-Sandbox": name}
        """The header that selects the sandbox where the path cannot."""
        self.clock = Clock(calls)
        self.journal = Journal(calls, name)
        self._calls = calls
        # Outside this sandbox: a call that selects it would create it again.
        self._others = others

    def control(self, method: str, path: str, content: object = None) -> Any:
        """Makes any call of the control API to this sandbox: `control("POST", "keys/ims/rotating/replace")`.

        Returns what the answer holds; a refused call raises a `Refusal`. The 409 of `journal/verify` is none.
        """
        return self._calls.send(method, path, content)

    # Tokens

    def mint(self, kind: str, **order: Any) -> str:
        """Mints a token of a vendor's kind: `mint("rezolve/login", expires_in=900)`, `mint("ims/user", defect="expired")`.

        Besides the kind's members an order has `claims`, `header` and `defect`; `control("GET", "tokens")` lists them.
        """
        path = _pair(kind, "a vendor and a kind of token, such as rezolve/login")
        return str(self._calls.send("POST", f"tokens/{path}", order)["token"])

    def explain(
        self, token: str, *, vendor: Optional[str] = None, request: Optional[Mapping[str, Any]] = None,
    ) -> List[Dict[str, Any]]:
        """What each vendor, or that one, would answer to a request with the token, and why."""
        order = {"token": token, "vendor": vendor, "request": request}
        given = {name: value for name, value in order.items() if value is not None}
        return list(self._calls.send("POST", "tokens/explain", given)["verdicts"])

    # Behaviour

    def set_profile(self, profile: Literal["documented", "observed"], vendor: Optional[str] = None) -> None:
        """Has all vendors, or one, behave as documented or as observed."""
        self._calls.send("PUT", "settings", {"profile": profile if vendor is None else {vendor: profile}})

    def set_switch(self, name: str, value: Union[str, float, None]) -> None:
        """Sets one difference in behaviour, such as `rezolve.device-check` to `off`; `None` leaves it to the profile."""
        self._calls.send("PUT", "settings", {"switches": {name: value}})

    def set_seed(self, seed: Optional[int]) -> None:
        """Makes ids and times repeatable; `None` ends that."""
        self._calls.send("PUT", "settings", {"seed": seed})

    def activate(self, *scenarios: str) -> None:
        """Replaces the active scenarios; the first has precedence. Without any, all are ended."""
        self._calls.send("PUT", "scenarios", {"scenarios": scenarios})

    def arm(self, *faults: Mapping[str, Any]) -> None:
        """Replaces the armed faults. Without any, all are disarmed.

        `arm({"route": "addressbook.list", "call": 3, "fail": "token-expired"})` hits the third call once,
        `arm({"vendor": "rezolve", "every": 2, "fault": {"delay": "2s"}})` every second one.
        """
        self._calls.send("PUT", "faults", {"faults": faults})

    # State

    def act(self, action: str, **members: Any) -> Any:
        """Has something happen behind the app's back: `act("rezolve/remove-customer", entity="entity123")`."""
        path = _pair(action, "a vendor and an action, such as rezolve/remove-customer")
        return self._calls.send("POST", f"state/{path}", members)

    def state(self, vendor: str) -> Dict[str, Any]:
        """What the vendor remembers here: users and what belongs to them, without secrets."""
        return dict(self._calls.send("GET", f"state/{part(vendor)}"))

    def set_state(self, vendor: str, state: Mapping[str, Any]) -> Dict[str, Any]:
        """Replaces what the vendor remembers here."""
        return dict(self._calls.send("PUT", f"state/{part(vendor)}", state))

    def reset(self) -> None:
        """Restores the sandbox's initial state."""
        self._calls.send("POST", "reset")

    def delete(self) -> None:
        """Removes the sandbox with all it holds."""
        with suppress(NotFound):  # Nobody has used it.
            self._others.send("DELETE", f"sandboxes/{self.name}")

    # Expectations

    def expect_calls(
        self, where: Optional[Mapping[str, Any]] = None, *, at_least: Optional[int] = None, at_most: Optional[int] = None,
        exactly: Optional[int] = None, unread: Optional[int] = None, within: Optional[Duration] = None, **conditions: Any,
    ) -> List[int]:
        """Expects calls, at least one if no count is given; `within` waits for them, for a minute at most.

        `expect_calls(route="rua.ping", exactly=1)`; conditions are `vendor`, `route`, `status`, `failure`, `method`,
        `path`, `query`, `header`, `body`, `claims`, `reason` and the like. `where` takes those that are no words of
        Python. An `UnmetExpectation` lists the nearest calls and what each of them missed.

        `unread=0` expects that none was accepted with a field that nobody reads, such as a misspelled one.

        Returns the numbers of the calls in the journal.
        """
        __tracebackhide__ = True  # pytest then shows the line of the test
        bounds = {"at_least": at_least, "at_most": at_most, "exactly": exactly, "unread": unread}
        order = {name: count for name, count in bounds.items() if count is not None}
        return self._verify({**order, "where": {**(where or {}), **conditions}}, within)

    def expect_sequence(
        self, *steps: Mapping[str, Any], none_after: Optional[Mapping[str, Any]] = None, within: Optional[Duration] = None,
    ) -> List[int]:
        """Expects calls in this order; `within` waits for them.

        A step has the conditions of `expect_calls`, and from the second on `within`, `between` and `token`:
        `expect_sequence({"status": 401}, {"route": "rua.ping", "within": "5s"}, {"status": "2xx", "token": "other"})`.

        Returns the numbers of their calls in the journal.
        """
        __tracebackhide__ = True
        order: Dict[str, Any] = {"sequence": list(steps)}
        if none_after is not None:
            order["none_after"] = none_after
        return self._verify(order, within)

    def _verify(self, order: Mapping[str, Any], within: Optional[Duration]) -> List[int]:
        __tracebackhide__ = True
        wait = query(wait=None if within is None else duration(within))
        verdict = self._calls.send("POST", f"journal/verify{wait}", order)
        if not verdict["verified"]:
            raise UnmetExpectation(_complaint(verdict))
        return list(verdict["entries"])

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType],
    ) -> None:
        self.delete()

    def __repr__(self) -> str:
        return f"<Sandbox {self.name} at {self.base_url}>"


def _pair(text: str, form: str) -> str:
    """Two names as the parts of a path."""
    first, slash, second = text.partition("/")
    if not (first and slash and second):
        raise ValueError(f"{text!r} is not {form}")
    return f"{part(first)}/{part(second)}"


def _complaint(verdict: Dict[str, Any]) -> str:
    """What was expected and found, then the nearest calls and what each missed."""
    lines = [verdict["message"]]
    for call in verdict["nearest"]:
        lines.append(f"  #{call['id']} {call['summary']}")
        for miss in call["missed"]:
            found = "nothing" if miss["found"] is None else miss["found"]
            lines.append(f"      {miss['condition']}: expected {miss['expected']}, found {found}")
    return "\n".join(lines)
