"""Sandboxes whose Bloomreach customers are counted up, so that a reader of one sees which changes it holds."""

import http.client
import json
import time
from dataclasses import dataclass

from history import History

PROJECT = "demo-project-1"
COUNTERS = 4
BATCH = 50  # commands, the vendor's documented maximum


@dataclass
class Answer:
    status: int
    fields: dict[str, str]
    content: bytes

    def json(self):
        return json.loads(self.content) if self.content else None


class Caller:
    """One connection, reopened after a loss; asks once."""

    def __init__(self, port: int, timeout: float = 30):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)

    def ask(self, method: str, path: str, body=None, **fields) -> Answer:
        """The answer; an `OSError` or an `HTTPException` where none came."""
        content = None if body is None else json.dumps(body).encode()
        try:
            self.connection.request(method, path, content, {"Authorization": "Token pubkey-demo-1", **fields})
            answer = self.connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        except (OSError, http.client.HTTPException):
            self.connection.close()
            raise

    def json(self, method: str, path: str, body=None):
        answer = self.ask(method, path, body)
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path} was answered with {answer.status}: {answer.content[:300]!r}")
        return answer.json()


def after(state: tuple, change: int | None) -> tuple:
    """What the counters say after a change: a number goes to one of them, and nothing removes the sandbox."""
    if change is None:
        return (0,) * COUNTERS
    return tuple(change if index == change % COUNTERS else value for index, value in enumerate(state))


class Sandbox:
    """One sandbox, all that was changed in it, and when each change was answered."""

    def __init__(self, name: str, customers: int = COUNTERS):
        self.name, self.customers, self.number = name, customers, 0
        self.history = History((0,) * COUNTERS, after)

    def path(self, rest: str) -> str:
        return f"/~{self.name}{rest}"

    def customer(self, index: int) -> str:
        return f"customer-{index:06}@example.test"

    def counter(self, index: int) -> str:
        """The counters are far apart."""
        return self.customer(index * self.customers // COUNTERS)

    def update(self, customer: str, number: int) -> dict:
        return {"customer_ids": {"registered": customer}, "properties": {"count": number}}

    def fill(self, caller: Caller) -> None:
        commands = [{"name": "customers", "data": self.update(self.customer(index), 0)} for index in range(self.customers)]
        for first in range(0, len(commands), BATCH):
            caller.json("POST", self.path(f"/track/v2/projects/{PROJECT}/batch"), {"commands": commands[first:first + BATCH]})

    def next(self) -> tuple[str, str, dict]:
        """Notes the next change; the call that makes it, which may be repeated."""
        self.number += 1
        self.history.note(self.number)
        return ("POST", self.path(f"/track/v2/projects/{PROJECT}/customers"),
                self.update(self.counter(self.number % COUNTERS), self.number))

    def remove(self, caller: Caller) -> None:
        self.history.note(None)
        answer = caller.ask("DELETE", f"/_understudy/sandboxes/{self.name}")
        if answer.status not in (204, 404):
            raise RuntimeError(f"deleting {self.name} was answered with {answer.status}")
        self.history.note_answer()

    def question(self, index: int) -> tuple[str, str, dict]:
        return ("POST", self.path(f"/data/v2/projects/{PROJECT}/customers/attributes"), {
            "customer_ids": {"registered": self.counter(index)},
            "attributes": [{"type": "property", "property": "count"}]})

    def seen(self, ask) -> tuple:
        """What the counters say; `ask` asks one of the questions, and returns the answer."""
        results = [(ask(*self.question(index)).json().get("results") or [{}])[0] for index in range(COUNTERS)]
        return tuple(result.get("value") or 0 for result in results)

    def lost(self, seen: tuple, moment: float) -> float:
        """How many seconds before that moment the first change was answered that is lost; 0 if none is.

        The sandbox has to be as it was after one of its changes: with all before it, and none after it. Only one that was on
        its way at that moment may have arrived behind the loss of others.
        """
        history = self.history
        count = history.newest(seen)
        if count is None and len(history.answered) < len(history.changes):
            states = history.states()
            count = next((count for count in range(len(states) - 1, -1, -1)
                          if history.after(states[count], history.changes[-1]) == seen), None)
        if count is None:
            raise RuntimeError(f"{self.name} is no state that it ever had: {seen}\nbefore: {self.history.base}, changes: "
                               f"{self.history.changes}")
        lost = self.history.lost(count, moment)
        self.history.begin_anew(seen)
        return lost


def wait_for(what: str, condition, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"{what} did not happen within {seconds} s")
        time.sleep(0.02)
