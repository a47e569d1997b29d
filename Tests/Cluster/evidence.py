"""What the replicas themselves wrote down, in logs and journals: that no sandbox had two owners, and no number two
meanings.
"""

import json
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from caller import Connection
from phases import Phase, Wrong
from replicas import Cluster, Replica
from sandboxes import Sandbox


@dataclass(frozen=True)
class Line:
    """An exchange in a replica's log."""

    begin: float
    end: float
    replica: str
    session: str
    number: int
    call: str


@dataclass
class Span:
    """Numbers in a row that one session of a replica gave."""

    session: str
    first: Line
    last: Line
    end: float


def read_logs(cluster: Cluster, names: set[str]) -> dict[str, list[Line]]:
    """The exchanges of those sandboxes, by the sandbox's name."""
    lines = defaultdict(list)
    for replica in cluster.replicas.values():
        for path in replica.logs():
            for text in path.read_text(errors="replace").splitlines():
                try:
                    members = json.loads(text)
                except ValueError:
                    continue  # the last line of a killed replica, or one for people
                if members.get("message") == "exchange" and members["sandbox"] in names:
                    end = datetime.fromisoformat(members["time"]).timestamp()
                    lines[members["sandbox"]].append(Line(
                        end - float(members["duration_ms"]) / 1000, end, replica.name, path.stem, int(members["entry"]),
                        f"{members['method']} {members['path']}"))
    return lines


def spans(lines: list[Line]) -> list[Span]:
    """In the order of the numbers, which is the order in which owners gave them."""
    found: list[Span] = []
    for line in sorted(lines, key=lambda line: (line.number, line.begin)):
        if found and found[-1].session == line.session:
            found[-1].last, found[-1].end = line, max(found[-1].end, line.end)
        else:
            found.append(Span(line.session, line, line, line.end))
    return found


NEWEST = 30  # entries that are read of a journal
# The log's times are whole milliseconds, and each is of one clock.
ROUNDING = 0.002


def check_logs(lines: dict[str, list[Line]]) -> tuple[list[str], int, int]:
    """Problems, how many exchanges there are, and how many changes of owner."""
    problems, moves = [], 0
    for name, exchanges in lines.items():
        by_number = {}
        for line in exchanges:
            if other := by_number.setdefault(line.number, line):
                if other is not line:
                    problems.append(f"{name}: number {line.number} means {other.call} at {other.session} and {line.call} "
                                    f"at {line.session}")
        found = spans(exchanges)
        moves += len(found) - 1
        for before, later in zip(found, found[1:]):
            if later.first.begin < before.end - ROUNDING:
                problems.append(
                    f"{name}: {before.session} answered numbers {before.first.number} to {before.last.number} until "
                    f"{before.end:.3f}, and {later.session} number {later.first.number} already at "
                    f"{later.first.begin:.3f}")
    return problems, sum(len(exchanges) for exchanges in lines.values()), moves


class Journals:
    """The entries of the journals that were read, by sandbox and number."""

    def __init__(self):
        self.entries: dict[tuple[str, int], tuple] = {}

    async def read(self, sandbox: Sandbox, caller: Connection, phase: Phase) -> None:
        answer = (await sandbox.ask(caller, phase, "GET", sandbox.control(f"journal?last={NEWEST}"))).json()
        numbers = [entry["id"] for entry in answer["entries"]]
        if numbers != sorted(set(numbers)):
            raise Wrong(f"{sandbox.name}: the journal at {sandbox.owner} has the numbers {numbers}")
        for entry in answer["entries"]:
            self.note(sandbox, entry)

    def note(self, sandbox: Sandbox, entry: dict) -> None:
        meaning = (entry.get("replica"), *(entry[member] for member in ("vendor", "route", "status", "at")))
        if meaning[0] is None:
            raise Wrong(f"{sandbox.name}: entry {entry['id']} at {sandbox.owner} names no replica: {meaning}")
        known = self.entries.setdefault((sandbox.name, entry["id"]), meaning)
        if known != meaning:
            raise Wrong(f"{sandbox.name}: number {entry['id']} means {known} and {meaning}")

    def compare(self, lines: dict[str, list[Line]]) -> list[str]:
        """That a journal's entries were answered by the replica that they name."""
        replicas = {(name, line.number): line.replica for name, exchanges in lines.items() for line in exchanges}
        # An entry has no line where its replica was killed before the line was written.
        return [f"{name}: entry {number} names {meaning[0]}, and the log of {replicas[name, number]} has it"
                for (name, number), meaning in self.entries.items()
                if replicas.get((name, number), meaning[0]) != meaning[0]]


async def list_all(replica: Replica) -> tuple[dict, dict]:
    """The list of all sandboxes, and what problem each replica had; once more where one did not answer in time."""
    for attempt in range(3):
        answer = (await replica.ask("GET", "/_understudy/sandboxes?replicas=all", timeout=30)).json()
        # A debug build on a busy machine may take longer than a replica waits.
        if not any("in time" in (each["problem"] or "") for each in answer["replicas"]):
            break
    return answer, {each["name"]: each["problem"] for each in answer["replicas"]}


async def check_listing(cluster: Cluster, sandboxes: list[Sandbox]) -> list[str]:
    """`?replicas=all` at each replica: every sandbox once, at the one that answered last."""
    problems = []
    for replica in cluster.live():
        answer, named = await list_all(replica)
        if missing := cluster.members - set(named):
            problems.append(f"{replica.name} lists no replica {missing}: {answer['replicas']}")
        if silent := {name: problem for name, problem in named.items() if name in cluster.members and problem}:
            problems.append(f"{replica.name} has problems with living replicas: {silent}")
        owners = defaultdict(list)
        for entry in answer["sandboxes"]:
            owners[entry["name"]].append(entry["replica"])
        wrong = {sandbox.name: owners[sandbox.name] for sandbox in sandboxes if owners[sandbox.name] != [sandbox.owner]}
        if wrong:
            name = next(iter(wrong))
            expected = next(sandbox.owner for sandbox in sandboxes if sandbox.name == name)
            problems.append(f"{replica.name} lists {len(wrong)} of {len(sandboxes)} sandboxes at others than who answered "
                            f"last, such as {name} at {wrong[name]} instead of {expected}")
    return problems
