"""What happens in one phase: how much was asked, how slowly it was answered, and which failures it allows."""

import asyncio
import time


class Wrong(Exception):
    """Something that must not be, with its values."""


class Phase:
    """The numbers of one phase.

    `manner` is what happens in it to the replicas in `victims`: "kill", "stop", or nothing. Sandboxes of other replicas
    must not notice.
    """

    def __init__(self, name: str, grace: float = 0.0, promise: float = 0.0, recovery: float = 0.0):
        self.name, self.begin = name, time.monotonic()
        self.oldest_loss_allowed, self.recovery_allowed = promise + grace, recovery
        self.manner, self.victims, self.affected = None, set(), set()
        self.killed = 0.0
        self.calls = self.changes = self.unavailable = self.cut = self.checked = 0
        self.slowest = self.oldest_loss = self.slowest_recovery = self.last_recovery = 0.0
        self.losses = self.recovered = 0
        self.problems: list[str] = []

    def strike(self, manner: str, victim: str, sandboxes) -> set[str]:
        """From now on the sandboxes of that replica may notice what happens to it; returns their names."""
        self.manner, self.victims, self.killed = manner, {victim}, time.monotonic()
        self.affected = {sandbox.name for sandbox in sandboxes if sandbox.owner == victim}
        return self.affected

    def concerns(self, sandbox) -> bool:
        return sandbox.name in self.affected

    def is_cut_off(self, sandbox) -> bool:
        """Whether a call to it may fail just now, since its owner was killed."""
        return self.manner == "kill" and self.concerns(sandbox) and sandbox.in_doubt is not None

    # MARK: What clients note

    def note(self, seconds: float) -> None:
        self.calls += 1
        self.slowest = max(self.slowest, seconds)

    def problem(self, text: str) -> None:
        self.problems.append(text)

    def note_silence(self, sandbox, error: Exception) -> None:
        if self.is_cut_off(sandbox):
            self.cut += 1
        else:
            self.problem(f"{sandbox.name} (last at {sandbox.owner}): {error}")

    async def note_unavailable(self, sandbox, answer, attempt: int, call: str) -> None:
        """Waits as the answer says before the call may be repeated."""
        self.unavailable += 1
        pause = answer.fields.get("retry-after", "")
        if not pause.isdigit():
            self.problem(f"{sandbox.name}: 503 has Retry-After {pause!r}, not a number of seconds: {answer.content!r}")
        if not self.concerns(sandbox):
            self.problem(f"{sandbox.name} (last at {sandbox.owner}): {call} was answered 503, though nothing happened to "
                         f"its replica: {answer.content!r}")
        elif attempt == 2:
            self.problem(f"{sandbox.name} (last at {sandbox.owner}): {call} was answered 503 when it was repeated, too")
        await asyncio.sleep(min(int(pause) if pause.isdigit() else 1, 2))

    def note_loss(self, sandbox, age: float, changes: list, is_killed: bool) -> None:
        self.losses += len(changes)
        self.oldest_loss = max(self.oldest_loss, age)
        if not is_killed:
            self.problem(f"{sandbox.name} (now at {sandbox.owner}) lost {changes}, though its replica was not killed")
        elif age > self.oldest_loss_allowed:
            self.problem(f"{sandbox.name} lost {changes}, the first of them answered {age:.2f} s before the kill; "
                         f"{self.oldest_loss_allowed:.1f} s are allowed")

    def note_recovery(self, sandbox, begin: float, end: float) -> None:
        self.recovered += 1
        outage = end - max(begin, self.killed)
        self.slowest_recovery = max(self.slowest_recovery, outage)
        self.last_recovery = max(self.last_recovery, end - self.killed)
        if outage > self.recovery_allowed:
            self.problem(f"{sandbox.name} answered again after {outage:.2f} s; {self.recovery_allowed} s are allowed")

    # MARK: The line

    def line(self, sandboxes: int) -> str:
        parts = [f"{time.monotonic() - self.begin:.1f} s", f"{sandboxes} sandboxes", f"{self.calls} calls",
                 f"{self.changes} changes", f"slowest answer {self.slowest * 1000:.0f} ms", f"{self.unavailable} 503s"]
        if self.recovered:
            parts.append(f"{self.recovered} sandboxes answered again after at most {self.slowest_recovery:.2f} s, the last "
                         f"one {self.last_recovery:.2f} s after the kill; {self.cut} calls cut, {self.losses} changes "
                         f"lost, the oldest answered {self.oldest_loss:.2f} s before")
        return f"{self.name}: " + ", ".join(parts)
