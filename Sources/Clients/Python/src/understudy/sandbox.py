"""A test's own world in a server: users, clock, settings, scenarios, faults, journal."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Type, Union

from . import control
from .clock import Clock
from .control import Control
from .errors import NotFound, UnmetExpectation
from .journal import Journal
from .times import Duration, duration


class Sandbox:
    """Control over what happens behind the app in one test.

    Give the app `base_url`; where it takes only a host, have it send `headers`.
    """

    def __init__(self, name: str, base_url: str, calls: Control, others: Control) -> None:
        self.name = name
        self.base_url = base_url
        """The base URL for the app under test, such as `http://127.0.0.1:49213/~signup`; append the path."""
        self.headers: Dict[str, str] = {"X-Understudy-Sandbox": name}
        """The header that selects the sandbox where the path cannot."""
        self.control = calls
        """Every operation of the control API, for what has no name here."""
        self.clock = Clock(calls)
        self.journal = Journal(calls, name)
        # Not of this sandbox: a call that selects it would bring it back.
        self._others = others

    # Tokens

    def mint(self, kind: str, **order: Any) -> str:
        """Mints a token of a vendor's kind: `mint("rezolve/login", expires_in=900)`, `mint("ims/user", defect="expired")`.

        Besides the kind's members an order has `claims`, `header` and `defect`; `control.tokens_kinds()` lists them.
        """
        return self.control.tokens_mint(*_pair(kind, "a vendor and a kind of token, such as rezolve/login"), order)["token"]

    def explain(
        self, token: str, *, vendor: Optional[str] = None, request: Optional[Mapping[str, Any]] = None,
    ) -> List[control.Verdict]:
        """What each vendor, or that one, would answer to a request with the token, and why."""
        order: control.ExplainOrder = {"token": token}
        if vendor is not None:
            order["vendor"] = vendor
        if request is not None:
            order["request"] = dict(request)
        return self.control.tokens_explain(order)["verdicts"]

    def drill(self, issuer: str, drill: control.KeyDrill) -> control.Issuer:
        """Rotates or breaks the keys that an issuer publishes: `drill("ims/rotating", "replace")`."""
        return self.control.keys_drill(*_pair(issuer, "a vendor and an issuer, such as ims/rotating"), drill)

    # Behaviour

    def set_profile(self, profile: control.Profile, vendor: Optional[str] = None) -> None:
        """Has all vendors, or one, behave as documented or as observed."""
        self.control.settings_set({"profile": profile if vendor is None else {vendor: profile}})

    def set_switch(self, name: str, value: Union[str, float, None]) -> None:
        """Sets one difference in behaviour, such as `rezolve.device-check` to `off`; `None` leaves it to the profile."""
        self.control.settings_set({"switches": {name: value}})

    def set_seed(self, seed: Optional[int]) -> None:
        """Makes ids and times repeatable; `None` ends that."""
        self.control.settings_set({"seed": seed})

    def activate(self, *scenarios: str) -> None:
        """Replaces the active scenarios; the first has precedence, and none ends them all."""
        self.control.scenarios_set({"scenarios": list(scenarios)})

    def arm(self, *faults: control.FaultOrder) -> None:
        """Replaces the armed faults; none disarms them all.

        `arm({"route": "addressbook.list", "call": 3, "fail": "token-expired"})` hits the third call once,
        `arm({"vendor": "rezolve", "every": 2, "fault": {"delay": "2s"}})` each second one.
        """
        self.control.faults_set({"faults": list(faults)})

    # State

    def act(self, action: str, **members: Any) -> Any:
        """Has something happen behind the app's back: `act("rezolve/remove-customer", entity="entity123")`."""
        return self.control.state_act(*_pair(action, "a vendor and an action, such as rezolve/remove-customer"), members)

    def state(self, vendor: str) -> Dict[str, Any]:
        """What the vendor remembers here: users and what belongs to them, without secrets."""
        return self.control.state_get(vendor)

    def set_state(self, vendor: str, state: Mapping[str, Any]) -> Dict[str, Any]:
        """Replaces what the vendor remembers here."""
        return self.control.state_set(vendor, state)

    def reset(self) -> None:
        """Makes the sandbox as it was at first."""
        self.control.reset()

    def delete(self) -> None:
        """Removes the sandbox with all it holds."""
        try:
            self._others.sandboxes_delete(self.name)
        except NotFound:
            pass  # Nobody has used it.

    # Expectations

    def expect_calls(
        self, where: Optional[Mapping[str, Any]] = None, *, at_least: Optional[int] = None, at_most: Optional[int] = None,
        exactly: Optional[int] = None, within: Optional[Duration] = None, **conditions: Any,
    ) -> List[int]:
        """Expects calls, at least one if no count is given; `within` waits for them, for a minute at most.

        `expect_calls(route="rua.ping", exactly=1)`; conditions are `vendor`, `route`, `status`, `failure`, `method`,
        `path`, `query`, `header`, `body`, `claims`, `reason` and the like. `where` takes those that are no words of
        Python. An `UnmetExpectation` lists the nearest calls and what each of them missed.

        Returns the numbers of the calls in the journal.
        """
        __tracebackhide__ = True  # pytest then shows the line of the test
        order: control.Expectation = {}
        if at_least is not None:
            order["at_least"] = at_least
        if at_most is not None:
            order["at_most"] = at_most
        if exactly is not None:
            order["exactly"] = exactly
        order["where"] = {**(where or {}), **conditions}
        verdict = self.control.journal_verify(order, wait=None if within is None else duration(within))
        if verdict["verified"]:
            return verdict["entries"]
        raise UnmetExpectation(_complaint(verdict))

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType],
    ) -> None:
        self.delete()

    def __repr__(self) -> str:
        return f"<Sandbox {self.name} at {self.base_url}>"


def _pair(text: str, form: str) -> Tuple[str, str]:
    first, slash, second = text.partition("/")
    if not (first and slash and second):
        raise ValueError(f"{text!r} is not {form}")
    return first, second


def _complaint(verdict: control.Unfulfilled) -> str:
    """What was expected and found, then the nearest calls and what each missed."""
    lines = [verdict["message"]]
    for call in verdict["nearest"]:
        lines.append(f"  #{call['id']} {call['summary']}")
        for miss in call["missed"]:
            found = "nothing" if miss["found"] is None else miss["found"]
            lines.append(f"      {miss['condition']}: expected {miss['expected']}, found {found}")
    return "\n".join(lines)
