"""A replica that stands still for three seconds and then goes on, as a paused machine does."""

import asyncio
import random
import time

from caller import Connection
from course import Course, require
from folder import files_of
from phases import Phase
from sandboxes import PROMISE, Sandbox

STANDSTILL = 3.0  # seconds; a lease lasts one
MOST_BOXES = 40
AT_ONCE = 4


async def suspend_one(course: Course, phase: Phase) -> str:
    """Others take its sandboxes over, and it notices that before it answers."""
    name = "c"
    owned = course.owned(name)
    boxes = [box for box in owned if not box.is_deleted_at_times][:MOST_BOXES]
    async with course.crowd.playing(phase, without=frozenset(box.name for box in owned)):
        await asyncio.sleep(PROMISE + course.grace)
        before = {box.name: max(files_of(course.cluster.folder, box.name).items()) for box in boxes}
        phase.strike("suspend", name, course.sandboxes)
        remark = await stand_still(course, phase, boxes, name)
        await asyncio.sleep(PROMISE + course.grace)
        await course.cluster.balancer.await_up(course.cluster.members)
    check_files(course, boxes, before)
    lapses = await course.metric(name, "understudy_lease_lapses_total")
    require(lapses >= 1, f"{name} stood still for {STANDSTILL} s, and counts {lapses:.0f} lapses of its lease")
    return remark


async def stand_still(course: Course, phase: Phase, boxes: list[Sandbox], name: str) -> str:
    """Suspends the replica while its sandboxes are changed elsewhere, and asks it the moment it goes on."""
    replica, others, begin = course.cluster.replicas[name], course.cluster.members - {name}, time.monotonic()
    replica.freeze()
    try:
        noticed = await course.cluster.balancer.await_up(others, STANDSTILL)
        times = await change_elsewhere(course, phase, boxes, name, begin)
        # These calls wait for it: it finds them before it can have noticed that it stood still.
        answers = [asyncio.create_task(ask_directly(course, box, replica.port)) for box in boxes]
        await asyncio.sleep(max(0.2, begin + STANDSTILL - time.monotonic()))
    finally:
        replica.thaw()
    refused, taken_back = (sum(counts) for counts in zip(*await asyncio.gather(*answers)))
    return (f"the proxy noticed after {noticed:.2f} s; {len(times)} sandboxes answered elsewhere {min(times):.2f} to "
            f"{max(times):.2f} s after the standstill began; asked directly afterwards, it refused {refused} calls and took "
            f"{taken_back} sandboxes back")


async def change_elsewhere(
    course: Course, phase: Phase, boxes: list[Sandbox], suspended: str, begin: float,
) -> list[float]:
    """Changes each through the proxy; when each had an answer."""
    times, dice = [], random.Random(len(boxes))

    async def change(some: list[Sandbox]) -> None:
        caller = Connection(course.cluster.balancer.port)
        for box in some:
            await box.change(caller, phase, ("mark", next(course.crowd.numbers)), dice)
            times.append(time.monotonic() - begin)
            await box.ask(caller, phase, "GET", box.control("clock"))
            require(box.owner != suspended, f"{box.name} is answered by {suspended}, which stands still")
            require(time.monotonic() < begin + 2 * STANDSTILL, f"{len(times)} of {len(boxes)} sandboxes answered elsewhere "
                    f"within {2 * STANDSTILL} s")
        caller.close()
    await asyncio.gather(*(change(boxes[first::AT_ONCE]) for first in range(AT_ONCE)))
    return times


async def ask_directly(course: Course, box: Sandbox, port: int) -> tuple[int, int]:
    """Changes and reads one at the replica that was suspended: it refuses, or has what was changed meanwhile.

    How many calls it refused, and how many changes it made.
    """
    caller, refused, taken_back = Connection(port), 0, 0
    changed = await caller.ask("PUT", box.control("clock"), {"now": (value := box.tick()), "freeze": True})
    if changed.is_unavailable():
        refused += 1
    else:
        require(changed.status == 200, f"{box.name}: a change was answered {changed.status} {changed.content[:200]!r}")
        box.history.note(("clock", value))
        box.history.note_answer()
        taken_back += 1
    read = await caller.ask("GET", box.control(f"state/{box.vendor.name}"))
    caller.close()
    if read.is_unavailable():
        return refused + 1, taken_back
    missing = [mark for mark in marks_of(box) if f"mark-{mark}-".encode() not in read.content]
    require(read.status == 200 and not missing, f"{box.name}: after its standstill the replica answers {read.status} from a "
            f"state without {missing}: {read.content[:300]!r}")
    return refused, taken_back


def marks_of(box: Sandbox) -> list[int]:
    """Those of the last changes."""
    return [mark for kind, mark in box.history.changes if kind == "mark"]


def check_files(course: Course, boxes: list[Sandbox], before: dict[str, tuple[int, bytes]]) -> None:
    """The files of later owners are there, and nothing was written under a number of before."""
    for box in boxes:
        fence, content = before[box.name]
        now = files_of(course.cluster.folder, box.name)
        require(max(now, default=0) > fence, f"{box.name} was {fence} before the standstill; now there are {sorted(now)}")
        require(now.get(fence, content) == content, f"{box.name}.{fence}.json was written after its owner had stood still")
        missing = [mark for mark in marks_of(box) if f"mark-{mark}-".encode() not in now[max(now)]]
        require(not missing, f"{box.name}.{max(now)}.json lacks the marks {missing}")
