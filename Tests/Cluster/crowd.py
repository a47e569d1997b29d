"""The clients of the cluster: a few tasks that share the sandboxes among them, and sockets held open."""

import asyncio
import contextlib
import itertools
import random
import time
from dataclasses import dataclass

from caller import Connection, Socket, Unanswered
from phases import Phase, Wrong
from sandboxes import Sandbox

MOST_PROBLEMS = 10


@dataclass
class Closing:
    """How a socket ended; `code` is `None` without a close frame."""

    sandbox: str
    owner: str
    code: int | None
    moment: float


class Crowd:
    def __init__(self, port: int, sandboxes: list[Sandbox], clients: int, pace: float, seed: int):
        self.port, self.sandboxes, self.pace = port, sandboxes, pace
        self.groups = [sandboxes[first::clients] for first in range(clients)]
        self.callers = [Connection(port) for _ in self.groups]
        self.dice = [random.Random(seed + number) for number in range(clients)]
        self.numbers = itertools.count(1)
        self.closings: list[Closing] = []
        self.open_sockets: dict[str, str] = {}
        self.holders: list[asyncio.Task] = []

    # MARK: Turns

    async def each(self, phase: Phase, act) -> None:
        """Lets every client act on each of its sandboxes: `act(sandbox, caller, dice)`."""
        async def all_of(group, caller, dice):
            for sandbox in group:
                if len(phase.problems) >= MOST_PROBLEMS:
                    return
                with self.noting(phase):
                    await act(sandbox, caller, dice)
        await asyncio.gather(*(all_of(*each) for each in zip(self.groups, self.callers, self.dice)))

    @contextlib.contextmanager
    def noting(self, phase: Phase):
        try:
            yield
        except Wrong as wrong:
            phase.problem(str(wrong))
        except Unanswered:
            pass  # noted where it happened

    async def warm_up(self, phase: Phase) -> None:
        await self.each(phase, lambda sandbox, caller, dice: self.begin(sandbox, caller, dice, phase))

    async def begin(self, sandbox: Sandbox, caller: Connection, dice: random.Random, phase: Phase) -> None:
        number = next(self.numbers)
        await sandbox.prepare(caller, phase, number)
        await sandbox.change(caller, phase, ("mark", number), dice)

    async def check(self, phase: Phase) -> None:
        """Compares every sandbox with what was changed in it."""
        async def compare(sandbox, caller, _):
            if sandbox.in_doubt is not None:
                await sandbox.recover(caller, phase)
            else:
                await sandbox.check(caller, phase)
            phase.checked += 1
        await self.each(phase, compare)

    async def locate(self, phase: Phase) -> None:
        """Learns who owns each sandbox, which only control calls tell."""
        await self.each(phase, lambda sandbox, caller, _: sandbox.ask(caller, phase, "GET", sandbox.control("clock")))

    @contextlib.asynccontextmanager
    async def playing(self, phase: Phase, without: frozenset[str] = frozenset()):
        """All clients take turns meanwhile, but not in the sandboxes `without`."""
        over = asyncio.Event()
        players = [asyncio.create_task(self.play(*each, phase, over, without))
                   for each in zip(self.groups, self.callers, self.dice)]
        try:
            yield
        finally:
            over.set()
            await asyncio.gather(*players)

    async def play(self, group, caller, dice, phase: Phase, over: asyncio.Event, without: frozenset[str]) -> None:
        while not over.is_set() and len(phase.problems) < MOST_PROBLEMS:
            begin = time.monotonic()
            # After a kill most turns are for those that have yet to answer again, then every second one for a comparison.
            if silent := [sandbox for sandbox in group if sandbox.is_silent]:
                with self.noting(phase):
                    await dice.choice(silent).await_answer(caller, phase, begin)
                if dice.random() < 0.7:
                    continue
            doubtful = [sandbox for sandbox in group if sandbox.in_doubt is not None and not sandbox.is_silent]
            for candidates in (doubtful, group):
                choice = [sandbox for sandbox in candidates if sandbox.name not in without]
                if choice:
                    with self.noting(phase):
                        await self.take_turn(dice.choice(choice), caller, dice, phase)
            if not silent and not doubtful:
                pause = len(self.groups) / self.pace * dice.uniform(0.5, 1.5) - (time.monotonic() - begin)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(over.wait(), max(0.001, pause))

    async def take_turn(self, sandbox: Sandbox, caller: Connection, dice: random.Random, phase: Phase) -> None:
        if sandbox.in_doubt is not None:
            await sandbox.recover(caller, phase)
            return
        try:
            await sandbox.turn(caller, phase, next(self.numbers), dice)
        except Unanswered:
            if sandbox.in_doubt is None:
                raise
            await sandbox.recover(caller, phase, since=phase.killed)

    def doubt(self, names: set[str]) -> None:
        """Notes that the owner of these sandboxes has just been killed."""
        for sandbox in self.sandboxes:
            if sandbox.name in names:
                sandbox.in_doubt, sandbox.is_silent = time.monotonic(), True
                history = sandbox.history
                sandbox.flying = history.changes[-1] if len(history.changes) > len(history.answered) else None

    async def hurry(self) -> None:
        """Lets the clients ask as fast as they can for a moment, so that calls are on their way when it ends."""
        pace, self.pace = self.pace, 100 * self.pace
        await asyncio.sleep(0.3)
        self.pace = pace

    # MARK: Sockets

    async def open_some(self, count: int) -> int:
        """Opens sockets in that many sandboxes of Comapi and keeps them open until `close`."""
        chosen = [sandbox for sandbox in self.sandboxes if sandbox.vendor.name == "comapi"][:count]
        self.holders = [asyncio.create_task(self.hold(sandbox)) for sandbox in chosen]
        await self.await_sockets(len(chosen))
        return len(chosen)

    async def await_sockets(self, count: int, seconds: float = 10) -> None:
        end = time.monotonic() + seconds
        while len(self.open_sockets) < count:
            if time.monotonic() > end:
                raise Wrong(f"{len(self.open_sockets)} of {count} sockets are open after {seconds} s")
            await asyncio.sleep(0.05)

    async def hold(self, sandbox: Sandbox) -> None:
        for _ in range(1000):
            socket = Socket(self.port, sandbox.socket_path())
            try:
                reader = await socket.open()
                owner = self.open_sockets[sandbox.name] = sandbox.owner
                code = await socket.listen(reader)
                self.closings.append(Closing(sandbox.name, owner, code, time.monotonic()))
            except Unanswered:
                pass  # tried again; whoever needs them open says how long that may take
            finally:
                self.open_sockets.pop(sandbox.name, None)
                socket.close()
            await asyncio.sleep(0.25)

    async def close(self) -> None:
        for holder in self.holders:
            holder.cancel()
        await asyncio.gather(*self.holders, return_exceptions=True)
        for caller in self.callers:
            caller.close()
