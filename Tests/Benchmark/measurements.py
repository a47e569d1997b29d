"""The measurements, each with its budget."""

import base64
import contextlib
import json
import os
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from customers import Caller, Sandbox
from listeners import Crowd, allow_files
from load import CLOSING, Calls, drive
from postgres import Postgres
from servers import Certificate, Nginx, Process, Understudy, first_answer, free_port

REGISTER = "/api/v1/authentication/register"
# The same length as Understudy's answer.
HEALTH_CONTENT = (
    '{"status":"ok","version":"0.2.0","vendors":[{"id":"rezolve","title":"Rezolve","routes":30,"failures":33}],'
    '"fixtures":"0123456789abcdef","reload":{"watching":false,"count":0,"at":null,"problem":null}}'
)
ME = "/ims/v1/me"
ME_CONTENT = (
    '{"id":"usr-1","enterprise_id":"EMP-0001","email":"ada@example.test","first_name":"Ada","last_name":"L","phone":"",'
    '"locale":"en","state":"active","activated_at":1800000000}'
)
REGISTER_CONTENT = '{"entity_id":"01234567-89ab-cdef-0123-456789abcdef","partner_id":"317"}'


@dataclass
class Scale:
    """Durations and sizes."""

    rounds: int = 5
    seconds: int = 5
    tokens: int = 20_000
    sandboxes: int = 10_000
    requests: int = 1_000_000
    starts: int = 40
    sockets: int = 1_000
    messages: int = 50

    @classmethod
    def quick(cls):
        return cls(rounds=3, seconds=1, tokens=2_000, sandboxes=1_000, requests=50_000, starts=10, messages=10)


@dataclass
class Result:
    what: str
    budget: str
    value: float
    unit: str = ""
    detail: str = ""


def mint(server: Understudy, kind: str, orders: list[dict]) -> list[str]:
    """Mints tokens that outlive the run."""
    def token(order: dict) -> str:
        content = json.dumps({**order, "expires_in": 86_400})
        return json.loads(server.call("POST", f"/_understudy/tokens/{kind}", content))["token"]

    return [token(order) for order in orders]


def registrations(server: Understudy, count: int, sandboxes: int = 0) -> Calls:
    """Registrations with that many different HS512 tokens."""
    orders = [{"partner_entity_id": f"bench-{index}"} for index in range(count)]
    return Calls(
        "POST", REGISTER, mint(server, "rezolve/registration", orders),
        {"content-type": "application/json", "x-rezolve-partner-apikey": "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6"},
        '{"email":"user@example.test"}', sandboxes)


def reads(server: Understudy, count: int) -> Calls:
    """Reads with that many different RS256 tokens, from an issuer whose keys are fetched once and cached."""
    orders = [
        {"issuer": "rotating", "sub": "EMP-0001", "claims": {"jti": f"bench-{index}"}} for index in range(count)]
    return Calls("GET", ME, mint(server, "ims/user", orders))


def alternate(scale: Scale, first: tuple[Process, str, object], second: tuple[Process, str, object]) -> tuple:
    """Alternates A and B, after one warm-up round each.

    Returns the median ratio of neighboring rounds, since other load on the machine hardly changes between neighbors;
    then the medians of both, and the number of refusals.
    """
    rounds: tuple[list, list] = ([], [])
    for index in range(scale.rounds + 1):
        for (server, path, calls), found in zip((first, second), rounds):
            result = drive(server.url(path), 1 if index == 0 else scale.seconds, calls)
            if index > 0:
                found.append(result)
    refused = sum(result.refused for found in rounds for result in found)
    ratio = median(a.per_second / b.per_second for a, b in zip(*rounds))
    return (ratio, *(median(result.per_second for result in found) for found in rounds), refused)


def beside_nginx(
    binary: Path, scale: Scale, what: str, budget: str, content: str, path: str,
    calls: Callable[[Understudy], Calls] | None = None, secure: bool = False,
) -> list[Result]:
    with Certificate() as certificate, Understudy(binary, certificate if secure else None) as understudy, \
            Nginx(content, certificate if secure else None) as nginx:
        load = calls(understudy) if calls else None
        ratio, ours, theirs, refused = alternate(scale, (understudy, path, load), (nginx, path, load))
        detail = f"{ours:,.0f} of {theirs:,.0f} requests/s" + (f", {refused} REFUSED" if refused else "")
        return [Result(what, budget, ratio, detail=detail)]


def health(binary: Path, scale: Scale) -> list[Result]:
    return beside_nginx(
        binary, scale, "health, of nginx", "≥ 0.9", HEALTH_CONTENT, Understudy.HEALTH)


def reused(binary: Path, scale: Scale) -> list[Result]:
    return beside_nginx(
        binary, scale, "register, one token reused, of nginx", "≥ 0.5", REGISTER_CONTENT, REGISTER,
        lambda server: registrations(server, 1))


def different(binary: Path, scale: Scale) -> list[Result]:
    return beside_nginx(
        binary, scale, f"register, {scale.tokens:,} tokens in turn, of nginx", "≥ 0.6", REGISTER_CONTENT, REGISTER,
        lambda server: registrations(server, scale.tokens))


def rs256(binary: Path, scale: Scale) -> list[Result]:
    return beside_nginx(
        binary, scale, "RS256 with a cached key, one token reused, of nginx", "≥ 0.35", ME_CONTENT, ME,
        lambda server: reads(server, 1))


def rs256_different(binary: Path, scale: Scale) -> list[Result]:
    return beside_nginx(
        binary, scale, f"RS256 with a cached key, {scale.tokens:,} tokens in turn, of nginx", "≥ 0.35", ME_CONTENT, ME,
        lambda server: reads(server, scale.tokens))


USERINFO = "/oauth2/default/v1/userinfo"
USERINFO_CONTENT = (
    '{"sub":"00uunderstudyada0001","name":"Ada L","given_name":"Ada","family_name":"L",'
    '"preferred_username":"ada@example.test","zoneinfo":"Europe/Prague","locale":"en-US","updated_at":1798761600}'
)


def userinfo(server: Understudy, count: int) -> Calls:
    """Reads with that many different access tokens of the emulated issuer."""
    orders = [{"claims": {"scp": ["openid", "profile"], "jti": f"AT.bench-{index}"}} for index in range(count)]
    return Calls("GET", USERINFO, mint(server, "okta/access", orders))


def okta(binary: Path, scale: Scale) -> list[Result]:
    return beside_nginx(
        binary, scale, "userinfo of the issuer, one token reused, of nginx", "≥ 0.3", USERINFO_CONTENT, USERINFO,
        lambda server: userinfo(server, 1))


def okta_different(binary: Path, scale: Scale) -> list[Result]:
    return beside_nginx(
        binary, scale, f"userinfo of the issuer, {scale.tokens:,} tokens in turn, of nginx", "≥ 0.3",
        USERINFO_CONTENT, USERINFO, lambda server: userinfo(server, scale.tokens))


def signatures_per_second() -> float:
    """What the machine's OpenSSL signs with RSA keys of 2048 bits, on both cores."""
    answer = subprocess.run(
        ["openssl", "speed", "-multi", "2", "-seconds", "2", "rsa2048"], check=True, capture_output=True, text=True)
    line = next(line for line in answer.stdout.splitlines() if line.startswith("rsa 2048 bits"))
    return float(line.split()[5])


def issuing(binary: Path, scale: Scale) -> list[Result]:
    client = base64.b64encode(b"0oaunderstudysvc0001:svc-secret-not-real-0123456789abcdef").decode()
    calls = Calls(
        "POST", "/oauth2/default/v1/token", [],
        {"authorization": f"Basic {client}", "content-type": "application/x-www-form-urlencoded"},
        "grant_type=client_credentials&scope=trips.read")
    ratios, rates, refused = [], [], 0
    with Understudy(binary) as server:
        for index in range(scale.rounds + 1):
            result = drive(server.url(calls.target), 1 if index == 0 else scale.seconds, calls)
            refused += result.refused
            if index > 0:
                rates.append(result.per_second)
                ratios.append(result.per_second / signatures_per_second())
    detail = f"{median(rates):,.0f} tokens/s" + (f", {refused} REFUSED" if refused else "")
    return [Result("RS256 tokens issued, of what OpenSSL signs", "–", median(ratios), detail=detail)]


# A rule that counts every call of the route, but whose condition never holds.
SCENARIO = """scenario: bench
about: Watches the calls that are measured.
vendor: rezolve
states:
  watching:
    - on: register
      when: { header: { x-bench: { present: true } }, claims: { partner_entity_id: { like: "bench-*" } } }
      fail: service-unavailable
"""


def scenario(binary: Path, scale: Scale) -> list[Result]:
    with tempfile.TemporaryDirectory(prefix="understudy-fixtures-") as folder:
        scenarios = Path(folder) / "rezolve" / "scenarios"
        scenarios.mkdir(parents=True)
        (scenarios / "bench.yaml").write_text(SCENARIO)
        with Understudy(binary) as plain, \
                Understudy(binary, options=("--fixtures", folder, "--scenario", "bench")) as watched:
            load = registrations(plain, 1)
            ratio, ours, theirs, refused = alternate(
                scale, (watched, REGISTER, load), (plain, REGISTER, load))
            detail = f"{ours:,.0f} of {theirs:,.0f} requests/s" + (f", {refused} REFUSED" if refused else "")
            return [Result("register, one token, with a scenario on, of without", "–", ratio, detail=detail)]


def health_secure(binary: Path, scale: Scale) -> list[Result]:
    return beside_nginx(
        binary, scale, "health over TLS, of nginx over TLS", "≥ 0.9", HEALTH_CONTENT, Understudy.HEALTH,
        secure=True)


def reused_secure(binary: Path, scale: Scale) -> list[Result]:
    return beside_nginx(
        binary, scale, "register over TLS, one token reused, of nginx over TLS", "≥ 0.5", REGISTER_CONTENT, REGISTER,
        lambda server: registrations(server, 1), secure=True)


def handshakes(binary: Path, scale: Scale) -> list[Result]:
    """New TLS 1.3 connections with one request each; both servers use the same P-256 certificate."""
    with Certificate() as certificate, Understudy(binary, certificate) as understudy, \
            Nginx(HEALTH_CONTENT, certificate) as nginx:
        ratio, ours, theirs, refused = alternate(
            scale, (understudy, Understudy.HEALTH, CLOSING), (nginx, "/", CLOSING))
        detail = f"{ours:,.0f} of {theirs:,.0f} connections/s" + (f", {refused} REFUSED" if refused else "")
        return [Result("TLS connections of one request, of nginx", "–", ratio, detail=detail)]


def start(binary: Path, scale: Scale) -> list[Result]:
    """From the spawn to the first 200 with warm caches, and the cost of spawning alone."""
    null = os.open(os.devnull, os.O_WRONLY)
    quiet = [(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)]

    def spawn(command: list[str]) -> int:
        return os.posix_spawnp(command[0], command, os.environ, file_actions=quiet)

    def one_start() -> tuple[float, float]:
        """Wall-clock milliseconds until the first answer, and processor milliseconds of the whole process."""
        port = free_port()
        begin = time.perf_counter()
        child = spawn(Understudy.command(binary, port))
        try:
            first_answer(port, Understudy.HEALTH)
            elapsed = time.perf_counter() - begin
        finally:
            os.kill(child, 15)
            usage = os.wait4(child, 0)[2]
        return 1000 * elapsed, 1000 * (usage.ru_utime + usage.ru_stime)

    def one_spawn() -> float:
        begin = time.perf_counter()
        os.waitpid(spawn(["true"]), 0)
        return time.perf_counter() - begin

    one_start()
    starts, processor = zip(*sorted(one_start() for _ in range(scale.starts)))
    spawning = 1000 * median(one_spawn() for _ in range(scale.starts))
    os.close(null)
    detail = (
        f"median of {scale.starts}, {starts[0]:.1f} to {starts[-1]:.1f}; processor time {median(processor):.1f};"
        f" /usr/bin/true takes {spawning:.1f}")
    return [Result("start to first answer", "≤ 15 ms", median(starts), "ms", detail)]


def memory(binary: Path, scale: Scale) -> list[Result]:
    """Resident memory before and after many verified registrations with one token, which fill the journal."""
    with Understudy(binary) as server:
        time.sleep(0.5)
        idle = server.resident_kilobytes()
        load = registrations(server, 1)
        done = refused = 0
        while done < scale.requests:
            result = drive(server.url(REGISTER), scale.seconds, load)
            if result.requests == 0:
                raise RuntimeError("a round without a single answer")
            done, refused = done + result.requests, refused + result.refused
        after = server.resident_kilobytes()
        server.call("DELETE", "/_understudy/journal")
        cleared = server.resident_kilobytes()
    detail = f"{done:,} registrations, one token, {refused} refused; {after / 1000:.1f} MB, journal cleared {cleared / 1000:.1f} MB"
    return [
        Result("resident memory, idle", "≤ 20 MB", idle / 1000, "MB"),
        Result(f"growth after {scale.requests:,} requests", "≤ 10 MB", (after - idle) / 1000, "MB", detail),
    ]


def sandboxes(binary: Path, scale: Scale) -> list[Result]:
    """Many sandboxes against one, with the same binary, script, number of texts and token."""
    with Understudy(binary) as many, Understudy(binary) as one:
        before = many.resident_kilobytes()
        for index in range(scale.sandboxes):
            many.call("GET", f"/~s{index}/_understudy/clock")
        unused = many.resident_kilobytes()
        load = replace(registrations(many, 1, scale.sandboxes), texts=scale.sandboxes)
        ratio, ours, theirs, refused = alternate(
            scale, (many, REGISTER, load), (one, REGISTER, replace(load, sandboxes=1)))
        used = many.resident_kilobytes()
    detail = f"{ours:,.0f} of {theirs:,.0f} requests/s" + (f", {refused} REFUSED" if refused else "")
    return [
        Result(f"{scale.sandboxes:,} sandboxes, of one sandbox", "≥ 0.9", ratio, detail=detail),
        Result("memory of an unused sandbox", "≤ 20 kB", (unused - before) / scale.sandboxes, "kB"),
        Result("memory of a used sandbox", "–", (used - before) / scale.sandboxes, "kB",
               f"{used / 1000:.0f} MB in all after the rounds above"),
    ]


def kept(binary: Path, scale: Scale) -> list[Result]:
    """A server that keeps its sandboxes in an SQLite file beside one that does not."""
    with tempfile.TemporaryDirectory(prefix="understudy-state-") as folder:
        return beside_plain(binary, scale, "SQLite", f"{folder}/understudy.db")


def shared(binary: Path, scale: Scale) -> list[Result]:
    """The same for one that could share them with others."""
    with Postgres() as postgres:
        return beside_plain(binary, scale, "PostgreSQL", postgres.url())


def beside_plain(binary: Path, scale: Scale, name: str, state: str) -> list[Result]:
    results = []
    with Understudy(binary, options=("--state", state)) as keeping, Understudy(binary) as plain:
        # Where a claim is a transaction, a thousand of them are no matter of one round.
        begin = time.perf_counter()
        for index in range(1_000):
            keeping.call("GET", f"/~s{index}/_understudy/clock")
        results.append(Result(f"the first call of a sandbox, with {name}", "–", time.perf_counter() - begin, "ms",
                              "one after the other"))
        loads = [
            ("register, one token", "≥ 0.97", REGISTER, lambda: registrations(plain, 1)),
            ("register, every token in turn", "–", REGISTER, lambda: registrations(plain, scale.tokens)),
            ("register in 1,000 sandboxes", "≥ 0.95", REGISTER,
             lambda: replace(registrations(plain, 1, 1_000), texts=1_000)),
            ("RS256 with a cached key, one token", "–", ME, lambda: reads(plain, 1)),
        ]
        for what, budget, path, load in loads:
            calls = load()
            ratio, ours, theirs, refused = alternate(scale, (keeping, path, calls), (plain, path, calls))
            detail = f"{ours:,.0f} of {theirs:,.0f} requests/s" + (f", {refused} REFUSED" if refused else "")
            results.append(Result(f"{what}, with {name}, of without", budget, ratio, detail=detail))
    return results


CUSTOMERS = 20_000


def written(binary: Path, scale: Scale) -> list[Result]:
    """What a change of one record costs the disk, where there are many; and a start, where many sandboxes are stored."""
    with tempfile.TemporaryDirectory(prefix="understudy-state-") as folder:
        state = Path(folder) / "understudy.db"
        with Understudy(binary, options=("--state", str(state))) as server:
            caller, large = Caller(server.port), Sandbox("large", CUSTOMERS)
            large.fill(caller)
            change, counter = large.next(), Path(f"/proc/{server.child.pid}/io")

            def bytes_written() -> int:
                return int(counter.read_text().split("write_bytes: ")[1].split()[0])

            sizes = []
            for _ in range(10):
                time.sleep(0.6)
                before = bytes_written()
                caller.json(*change)
                time.sleep(0.6)
                sizes.append(bytes_written() - before)
                change = large.next()
        starts = [start_with(binary, state, scale)]
        with contextlib.closing(sqlite3.connect(state)) as database:
            database.execute("DELETE FROM records WHERE key NOT IN (SELECT key FROM records LIMIT 40)")
            for table in ("sandboxes", "records"):
                columns = [column[1] for column in database.execute(f"PRAGMA table_info({table})")][1:]
                database.execute(
                    f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
                    f"INSERT INTO {table} SELECT 'stored-' || i, {', '.join(columns)} FROM {table}, n")
            database.commit()
        starts.append(start_with(binary, state, scale))
    return [
        Result(f"written for a change in a sandbox of {CUSTOMERS:,} records", "≤ 16 kB", median(sizes) / 1024, "kB",
               f"{min(sizes) / 1024:.0f} to {max(sizes) / 1024:.0f}"),
        Result("a start with 20,000 stored sandboxes, beyond one with one", "≤ 2 ms", starts[1] - starts[0], "ms",
               f"{starts[0]:.1f} and {starts[1]:.1f} ms"),
    ]


def start_with(binary: Path, state: Path, scale: Scale) -> float:
    """The median of milliseconds to the first answer."""
    times = []
    for _ in range(scale.starts):
        begin = time.perf_counter()
        with Understudy(binary, options=("--state", str(state))):
            times.append(1000 * (time.perf_counter() - begin))
    return median(times)


SPACE = "/apispaces/b1f0c3d2-5a47-4c1e-9d88-0e6a7f2b4c15"


def sockets(binary: Path, scale: Scale) -> list[Result]:
    """One message to a conversation whose participants all listen; a single Python thread reads."""
    allow_files(2 * scale.sockets + 200)
    with Understudy(binary) as server:
        idle = server.resident_kilobytes()
        users = [f"user-{index}" for index in range(scale.sockets)]
        tokens = mint(server, "comapi/session", [{"profile": user} for user in users])

        def post(path: str, content: object) -> None:
            server.call("POST", SPACE + path, json.dumps(content), {"authorization": f"Bearer {tokens[0]}"})

        post("/conversations", {"id": "crowd", "participants": [{"id": user} for user in users]})
        before = server.resident_kilobytes()
        with Crowd(server.port, [f"{SPACE}/socket?token={token}" for token in tokens]) as crowd:
            crowd.hear(b'"socket.info"')
            opened = server.resident_kilobytes()
            firsts, answers, lasts = [], [], []
            for index in range(scale.messages):
                begin = time.perf_counter()
                post("/conversations/crowd/messages", {"parts": [{"type": "text/plain", "data": f"number {index}."}]})
                answers.append(1000 * (time.perf_counter() - begin))
                first, last = crowd.hear(f"number {index}.".encode())
                firsts.append(1000 * (first - begin))
                lasts.append(1000 * (last - begin))
            after = server.resident_kilobytes()
    detail = (
        f"median of {scale.messages} messages, {min(lasts):.1f} to {max(lasts):.1f}; answered after"
        f" {median(answers):.1f}, first frame read after {median(firsts):.1f}")
    return [
        Result(f"a message to {scale.sockets:,} sockets, until the last", "–", median(lasts), "ms", detail),
        Result("memory of an open socket", "–", (opened - before) / scale.sockets, "kB",
               f"{idle / 1000:.1f} MB idle, {before / 1000:.1f} with {scale.sockets:,} users, {opened / 1000:.1f} with"
               f" their sockets, {after / 1000:.1f} after {scale.messages} messages"),
    ]


ALL = {
    "health": health, "reused": reused, "different": different, "rs256": rs256,
    "rs256-different": rs256_different, "okta": okta, "okta-different": okta_different, "issuing": issuing,
    "scenario": scenario, "health-tls": health_secure,
    "reused-tls": reused_secure, "handshakes": handshakes, "start": start, "memory": memory, "sandboxes": sandboxes,
    "kept": kept, "shared": shared, "written": written, "sockets": sockets,
}
