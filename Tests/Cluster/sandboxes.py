"""One sandbox of the cluster as its client knows it: what was changed, what must be there, and who answered last."""

import random
import time
from dataclasses import dataclass

from caller import Answer, Connection, Unanswered
from history import History
from phases import Phase, Wrong
from vendors import EXTRAS, MARK, VENDORS, socket_path

# The sandboxes' clocks stand in 2030, and move a second with each change of them: tokens minted at the start stay valid,
# Comapi's for an hour.
BEGIN = 1_900_000_000
LIFETIME = 9_000_000
# How long a change may take to the disk.
PROMISE = 1.0
# How long a sandbox may be without an answer after its replica was killed, and how often that is tried.
RECOVERY, PATIENCE = 2.0, 10.0


@dataclass(frozen=True)
class State:
    clock: int | None = None
    extra: str | None = None
    marks: frozenset = frozenset()


def after(state: State, change: tuple) -> State:
    kind, value = change
    match kind:
        case "clock": return State(value, state.extra, state.marks)
        case "extra": return State(state.clock, value, state.marks)
        case "mark": return State(state.clock, state.extra, state.marks | {value})
        case _: return State()


class Sandbox:
    """- Invariant: one task at a time makes calls."""

    def __init__(self, number: int):
        self.name, self.vendor = f"box-{number}", VENDORS[number % len(VENDORS)]
        kinds = [kind for kind in EXTRAS if kind != "scenario" or self.vendor.name != "okta"]
        self.extra = EXTRAS[kinds[number // len(VENDORS) % len(kinds)]]
        # Numbers of a journal begin anew when a sandbox is deleted, and sessions of Comapi end with it.
        self.is_deleted_at_times = number % 10 == 9 and self.vendor.name != "comapi"
        self.history = History(State(), after)
        self.token: str | None = None
        self.ticks = 0
        # The replica that answered the last control call.
        self.owner: str | None = None
        # When its owner was killed, until it has answered again and was compared.
        self.in_doubt: float | None = None
        # Whether it has yet to answer again.
        self.is_silent = False
        # The change that was on its way when the owner was killed.
        self.flying: tuple | None = None

    def control(self, call: str) -> str:
        return f"/~{self.name}/_understudy/{call}"

    def socket_path(self) -> str:
        return socket_path(self.name, self.token)

    # MARK: Calls

    async def ask(self, caller: Connection, phase: Phase, method: str, path: str, body=None, fields=None) -> Answer:
        """A call by the proxy that must succeed; repeated once when a replica asks for that.

        - Raises: `Unanswered`, where the phase allows it; `Wrong`.
        """
        for attempt in (1, 2):
            begin = time.monotonic()
            try:
                answer = await caller.ask(method, path, body, fields)
            except Unanswered as error:
                phase.note_silence(self, error)
                raise
            phase.note(time.monotonic() - begin)
            self.owner = answer.fields.get("x-understudy-replica", self.owner)
            if not answer.is_unavailable():
                break
            await phase.note_unavailable(self, answer, attempt, f"{method} {path}")
        if not 200 <= answer.status < 300:
            if phase.is_cut_off(self):
                raise Unanswered(f"{method} {path} was answered {answer.status}")
            raise Wrong(f"{self.name} (last at {self.owner}): {method} {path} was answered {answer.status}: "
                        f"{answer.content[:300]!r}")
        return answer

    def select(self, path: str, fields: dict, dice: random.Random) -> tuple[str, dict]:
        """Path and fields that name the sandbox in one of the three ways."""
        match dice.randrange(4):
            case 0: return path, {**fields, "X-Understudy-Sandbox": self.name}
            case 1: return path, {**fields, "Host": f"{self.name}.localhost"}
            case _: return f"/~{self.name}{path}", fields

    async def read(self, caller: Connection, phase: Phase, dice: random.Random) -> None:
        method, path, body, fields = self.vendor.read(self.token)
        path, fields = self.select(path, fields, dice)
        await self.ask(caller, phase, method, path, body, fields)

    # MARK: Changes

    async def prepare(self, caller: Connection, phase: Phase, number: int) -> None:
        """Sets the clock, mints the token for all later calls, and does what the vendor's marks need."""
        await self.change(caller, phase, ("clock", self.tick()), random.Random(number))
        minted = await self.ask(caller, phase, "POST", self.control(f"tokens/{self.vendor.name}/{self.vendor.token}"), {
            "expires_in": LIFETIME})
        token = minted.json()["token"]
        for call in self.vendor.begin:
            method, path, body, fields = call(token)
            await self.ask(caller, phase, method, f"/~{self.name}{path}", body, fields)
        self.token = token

    def tick(self) -> int:
        self.ticks += 1
        return BEGIN + self.ticks

    async def turn(self, caller: Connection, phase: Phase, number: int, dice: random.Random) -> None:
        """Reads or changes something."""
        if self.token is None:
            await self.prepare(caller, phase, number)
        kinds = {"read": 10, "mark": 6, "clock": 2, "extra": 2, "delete": 1 if self.is_deleted_at_times else 0}
        match dice.choices([*kinds], [*kinds.values()])[0]:
            case "read": await self.read(caller, phase, dice)
            case "mark": await self.change(caller, phase, ("mark", number), dice)
            case "clock": await self.change(caller, phase, ("clock", self.tick()), dice)
            case "extra": await self.change(caller, phase, ("extra", self.extra.value(number)), dice)
            case "delete": await self.change(caller, phase, ("delete", None), dice)

    async def change(self, caller: Connection, phase: Phase, change: tuple, dice: random.Random) -> None:
        if self.in_doubt is not None:
            await self.recover(caller, phase)
        self.history.note(change)
        kind, value = change
        match kind:
            case "clock": call = "PUT", "/_understudy/clock", {"now": value, "freeze": True}, {}
            case "extra": call = "PUT", self.extra.path, self.extra.put(value), {}
            case "mark": call = dice.choice(self.vendor.marks)(self.token, f"mark-{value}-")
            case _: call = "DELETE", f"/_understudy/sandboxes/{self.name}", None, {}
        method, path, body, fields = call
        if kind == "delete":
            self.token = None
        else:
            path, fields = self.select(path, fields, dice)
        await self.ask(caller, phase, method, path, body, fields)
        self.history.note_answer()
        phase.changes += 1

    # MARK: Comparing

    async def seen(self, caller: Connection, phase: Phase) -> State:
        """How it stands now."""
        clock = (await self.ask(caller, phase, "GET", self.control("clock"))).json()
        state = (await self.ask(caller, phase, "GET", self.control(f"state/{self.vendor.name}"))).content
        extra = (await self.ask(caller, phase, "GET", f"/~{self.name}{self.extra.path}")).json()
        return State(round(clock["unix"]) if clock["frozen"] else None, self.extra.read(extra),
                     frozenset(int(number) for number in MARK.findall(state)))

    async def check(self, caller: Connection, phase: Phase) -> None:
        """Compares how it stands with what was changed: nothing may be lost but by a kill, and only what was young."""
        killed, flying, history = self.in_doubt, self.flying, self.history
        seen = await self.seen(caller, phase)
        count = history.newest(seen)
        if count is None and killed is not None and flying is not None:
            # The proxy gave the change that was on its way to the next owner, which had not what was lost before it.
            states = [after(state, flying) for state in history.states()]
            count = next((count for count in range(len(states) - 1, -1, -1) if states[count] == seen), None)
        if count is None:
            raise Wrong(f"{self.name} (now at {self.owner}) is no state that it ever had: {seen}\n"
                        f"    before: {history.base}\n    changes since: {history.changes}")
        lost = history.lost(count, killed if killed is not None else time.monotonic())
        if count < len(history.answered):
            phase.note_loss(self, lost, history.changes[count:], killed is not None)
        history.begin_anew(seen)
        self.in_doubt = self.flying = None

    async def recover(self, caller: Connection, phase: Phase, since: float | None = None) -> None:
        """After a kill: asks until there is an answer, and compares. Whoever was cut off has waited `since` then."""
        if self.is_silent:
            await self.await_answer(caller, phase, since or time.monotonic())
        if self.is_deleted_at_times:
            # What was lost may be that it was deleted, or made anew.
            self.token = None
        await self.check(caller, phase)

    async def await_answer(self, caller: Connection, phase: Phase, begin: float) -> None:
        """Asks until there is an answer."""
        while True:
            try:
                answer = await caller.ask("GET", self.control("clock"), timeout=RECOVERY)
                if answer.status == 200:
                    break
                problem = f"answered {answer.status}: {answer.content[:200]!r}"
            except Unanswered as error:
                problem = str(error)
            if time.monotonic() > begin + PATIENCE:
                raise Wrong(f"{self.name} did not answer within {PATIENCE} s after its replica was killed: {problem}")
        phase.note_recovery(self, begin, time.monotonic())
        self.owner, self.is_silent = answer.fields.get("x-understudy-replica", self.owner), False
