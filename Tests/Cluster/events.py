"""What happens to the replicas, one event per phase, and what must hold in it."""

import asyncio
import subprocess
import time

from course import Course, require, wait_for
from phases import Phase
from sandboxes import PROMISE
from suspension import suspend_one

SOCKETS = 24
GOING_AWAY = 1001


# MARK: The events

async def warm_up(course: Course, phase: Phase) -> str:
    """Every sandbox gets a clock, a token and a mark; the replicas say who they are."""
    await check_names(course)
    await check_refusals(course)
    await course.crowd.warm_up(phase)
    course.sockets = await course.crowd.open_some(SOCKETS)
    # What was changed until now is on disk before anything happens.
    await asyncio.sleep(PROMISE + course.grace)
    shares = {name: len(course.owned(name)) for name in sorted(course.cluster.members)}
    require(all(shares.values()), f"the proxy gives some replica nothing: {shares}")
    return f"shares {shares}, {course.sockets} sockets"


async def steady_load(course: Course, phase: Phase) -> None:
    async with course.crowd.playing(phase):
        await course.load()


async def kill_one(course: Course, phase: Phase) -> str:
    victim = course.cluster.replicas["a"]
    async with course.crowd.playing(phase):
        await course.load()
        await course.crowd.hurry()
        affected = phase.strike("kill", "a", course.sandboxes)
        victim.kill()
        course.crowd.doubt(affected)
        course.cluster.members = course.cluster.members - {"a"}
        await victim.end()
        await wait_for(lambda: not any(box.in_doubt for box in course.sandboxes), 60, phase)
        await course.load()
    taken = await course.total("understudy_state_taken_over_total")
    require(taken >= len(affected), f"{len(affected)} sandboxes were of the killed replica, and {taken:.0f} were taken over")
    return f"{taken:.0f} taken over"


async def start_it_again(course: Course, phase: Phase) -> str:
    """Sandboxes move back; that may take time, and nothing else."""
    async with course.crowd.playing(phase):
        await course.cluster.restart("a")
        await course.load()
    return f"{await course.total('understudy_state_handed_over_total'):.0f} handed over"


async def stop_one(course: Course, phase: Phase) -> str:
    """Softly: it drains, hands over, and ends with 0."""
    await course.read_journals(phase)
    async with course.crowd.playing(phase):
        await course.load()
        await course.crowd.hurry()
        remark = await stop(course, phase, "b")
        await course.load()
    return remark


async def start_that_one_too(course: Course, phase: Phase) -> None:
    async with course.crowd.playing(phase):
        await course.cluster.restart("b")
        await course.load()


async def add_one(course: Course, phase: Phase) -> str:
    """A fourth replica gets its share of the sandboxes."""
    before = await course.total("understudy_state_handed_over_total")
    async with course.crowd.playing(phase):
        await course.cluster.replicas["d"].start()
        await course.cluster.balancer.say("enable server replicas/d")
        course.cluster.members = course.cluster.members | {"d"}
        await course.cluster.balancer.await_up(course.cluster.members)
        await course.load()
    # Each is asked for once, so that it is where it belongs now.
    await course.crowd.locate(phase)
    moved = len(course.owned("d"))
    handed = await course.total("understudy_state_handed_over_total") - before
    # Those that were deleted just before are nobody's, and are not handed over.
    require(moved > 0 and handed >= 0.8 * moved, f"{moved} sandboxes are at d, and {handed:.0f} were handed over")
    return f"{moved} moved to d"


async def roll_all(course: Course, phase: Phase) -> str:
    """Each is stopped softly and started again, one by one."""
    times = []
    for name in sorted(course.cluster.members):
        begin = time.monotonic()
        async with course.crowd.playing(phase):
            await stop(course, phase, name)
            await course.cluster.restart(name)
        times.append(time.monotonic() - begin)
        await course.crowd.locate(phase)
    return f"{', '.join(f'{seconds:.1f}' for seconds in times)} s each"


# MARK: Parts of them

async def check_names(course: Course) -> None:
    for replica in course.cluster.live():
        for path, members in [
            ("health/live", {"status": "ok"}),
            ("health/ready", {"ready": True, "replica": replica.name, "reason": None}),
            ("health", {"replica": replica.name}),
            ("sandboxes", {"replica": replica.name}),
        ]:
            answer = await replica.ask("GET", f"/_understudy/{path}")
            seen = {name: answer.json().get(name) for name in members}
            require(answer.status == 200 and seen == members, f"{replica.name}: {path} answers {answer.status} {seen}, "
                    f"not {members}")
            name = answer.fields.get("x-understudy-replica")
            require(name == replica.name, f"{replica.name}: {path} has X-Understudy-Replica {name}")
        require(await course.metric(replica.name, f'understudy_replica_info{{replica="{replica.name}"}}') == 1,
                f"{replica.name} does not say its name in the metrics")


async def check_refusals(course: Course) -> None:
    """A second process of a name, and one that wants the folder alone."""
    for more in (["--replica", "a"], []):
        command = [course.cluster.replicas["a"].binary, "serve", "--port", "0", "--state", course.cluster.folder, *more]
        ended = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=30)
        require(ended.returncode == 2, f"serve --state … {' '.join(more)} beside replicas ended with {ended.returncode}: "
                f"{ended.stderr[:300]}")


async def stop(course: Course, phase: Phase, name: str) -> str:
    """Ends a replica softly under load; what must hold while it drains and after."""
    replica = course.cluster.replicas[name]
    affected = phase.strike("stop", name, course.sandboxes)
    sockets = affected & set(course.crowd.open_sockets)
    known, begin = len(course.crowd.closings), time.monotonic()
    replica.terminate()
    course.cluster.members = course.cluster.members - {name}
    await check_draining(replica, begin)
    code = await replica.end()
    seconds = time.monotonic() - begin
    require(code == 0, f"{name} ended with {code} after SIGTERM")
    await asyncio.sleep(0.2)
    closings = {closing.sandbox: closing.code for closing in course.crowd.closings[known:]}
    codes = {sandbox: closings.get(sandbox, "still open") for sandbox in sorted(sockets)}
    wrong = {sandbox: code for sandbox, code in codes.items() if code != GOING_AWAY}
    require(not wrong, f"{len(wrong)} of {len(sockets)} sockets at {name} were not closed with 1001 when it stopped: {wrong}")
    return f"{name} ended {seconds:.1f} s after SIGTERM, {len(affected)} sandboxes and {len(sockets)} sockets were there"


async def check_draining(replica, begin: float) -> None:
    """Ready refuses soon after the signal, live does not."""
    while (ready := await replica.ask("GET", "/_understudy/health/ready")).status != 503:
        require(time.monotonic() < begin + 0.5, f"{replica.name} is ready 0.5 s after SIGTERM: {ready.content!r}")
        await asyncio.sleep(0.02)
    members = ready.json()
    require(members["ready"] is False and members["replica"] == replica.name and members["reason"],
            f"{replica.name} refuses with {members}")
    live = await replica.ask("GET", "/_understudy/health/live")
    require(live.status == 200, f"{replica.name} is not alive while it drains: {live.status} {live.content!r}")


ALL = [warm_up, steady_load, kill_one, start_it_again, stop_one, start_that_one_too, add_one, roll_all, suspend_one]
