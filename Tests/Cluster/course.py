"""The phases of a run: an event under load, and what is compared after it."""

import asyncio
import time

from caller import Unanswered
from crowd import Crowd
from evidence import Journals, check_listing
from phases import Phase, Wrong
from replicas import Cluster
from sandboxes import PROMISE, RECOVERY, Sandbox

MOST_JOURNALS = 50  # read per phase; the logs have all entries


class Course:
    """The phases of a run, with what is checked after each."""

    def __init__(self, cluster: Cluster, crowd: Crowd, sandboxes: list[Sandbox], grace: float, seconds: float):
        self.cluster, self.crowd, self.sandboxes, self.grace, self.seconds = cluster, crowd, sandboxes, grace, seconds
        self.journals, self.sockets = Journals(), 0

    async def run(self, event) -> list[str]:
        """One phase and the comparison at its end; the problems, after its line was printed."""
        phase = Phase(event.__name__.replace("_", " "), self.grace, PROMISE, RECOVERY)
        try:
            remark = await event(self, phase)
            if not phase.problems:
                await self.crowd.check(phase)
            if not phase.problems:
                await self.read_journals(phase)
                phase.problems += await self.check_listing(phase)
                await self.crowd.await_sockets(self.sockets)
        except (Wrong, Unanswered) as wrong:
            phase.problem(str(wrong))
            remark = None
        print(phase.line(len(self.sandboxes)) + (f"; {remark}" if remark else ""), flush=True)
        return [f"{phase.name}: {problem}" for problem in phase.problems]

    async def read_journals(self, phase: Phase) -> None:
        step = max(1, len(self.sandboxes) // MOST_JOURNALS)
        chosen = {box.name for box in self.sandboxes[::step] if not box.is_deleted_at_times}

        async def read(sandbox, caller, _):
            if sandbox.name in chosen:
                await self.journals.read(sandbox, caller, phase)
        await self.crowd.each(phase, read)

    async def check_listing(self, phase: Phase) -> list[str]:
        """The problems of the last of three tries: a sandbox may move meanwhile.

        It does where a busy machine makes the proxy doubt a replica just when a socket is opened anew.
        """
        for attempt in range(3):
            if not (problems := await check_listing(self.cluster, self.sandboxes)):
                break
            await self.crowd.locate(phase)
        return problems

    async def load(self) -> None:
        """Lets the clients play for a while."""
        await asyncio.sleep(self.seconds)

    def owned(self, replica: str) -> list[Sandbox]:
        return [sandbox for sandbox in self.sandboxes if sandbox.owner == replica]

    async def metric(self, replica: str, name: str) -> float:
        text = (await self.cluster.replicas[replica].ask("GET", "/_understudy/metrics")).content.decode()
        values = [float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith((f"{name} ", f"{name}{{"))]
        require(bool(values), f"{replica} has no metric {name}")
        return sum(values)

    async def total(self, name: str) -> float:
        return sum([await self.metric(replica, name) for replica in sorted(self.cluster.members)])


def require(condition: bool, message: str) -> None:
    if not condition:
        raise Wrong(message)


async def wait_for(condition, seconds: float, phase: Phase) -> None:
    """Waits until it holds, at most that long; problems end it too."""
    end = time.monotonic() + seconds
    while not condition() and not phase.problems and time.monotonic() < end:
        await asyncio.sleep(0.05)
