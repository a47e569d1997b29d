"""What each proxy of docker/cluster does with requests, in front of three replicas that say what reached them."""

import base64
import concurrent.futures
import contextlib
import hashlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from cluster_proxies import NAMES, Proxy, reserved_port

ECHO = Path(__file__).with_name("cluster_echo.py")
SANDBOXES = [f"shop-{number}" for number in range(1000)]
# The longest wait of the control API, and a second.
LONG = 61


def require(condition: object, message: str) -> None:
    if not condition:
        raise AssertionError(message)


class Replica:
    """A process of cluster_echo.py."""

    def __init__(self, name: str):
        self.name, self.port = name, reserved_port()
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen([sys.executable, ECHO, self.name, str(self.port)])
        end = time.monotonic() + 10
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                return socket.create_connection(("127.0.0.1", self.port), 1).close()
            time.sleep(0.02)
        raise AssertionError(f"replica {self.name} did not start")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


class Answer:
    def __init__(self, status: int, fields: dict[str, str], body: bytes):
        self.status, self.fields, self.body = status, fields, body

    @property
    def json(self) -> dict:
        return json.loads(self.body)


def call(
    port: int, target: str, method: str = "GET", host: str = "127.0.0.1:8080", fields: dict | None = None, body=None,
    timeout: float = 10, connection: http.client.HTTPConnection | None = None
) -> Answer:
    """One request, with no other fields than these; on a connection of its own unless one is given."""
    used = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        used.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        used.putheader("Host", host)
        for name, value in (fields or {}).items():
            used.putheader(name, value)
        is_chunked = body is not None and not isinstance(body, bytes)
        if is_chunked:
            used.putheader("Transfer-Encoding", "chunked")
        elif body is not None:
            used.putheader("Content-Length", str(len(body)))
        used.endheaders(body, encode_chunked=is_chunked)
        answer = used.getresponse()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    finally:
        if connection is None:
            used.close()


class Trial:
    """One proxy, its three replicas, and what is asserted of them."""

    def __init__(self, name: str, folder: Path, has_active_checks: bool):
        self.name, self.folder, self.has_active_checks = name, folder, has_active_checks
        # Maglev, Envoy's way, promises few and not none.
        self.tolerated = 20 if name == "envoy" else 0
        self.lines: list[str] = []
        # Nothing is left but to wait, or it has failed.
        self.is_idle = threading.Event()

    def run(self, is_quick: bool) -> list[str]:
        self.replicas = {name: Replica(name) for name in NAMES}
        try:
            with Proxy(self.name, self.folder, [replica.port for replica in self.replicas.values()]) as self.proxy:
                self.await_readiness()
                self.map = self.placed()
                with concurrent.futures.ThreadPoolExecutor(1) as waiting:
                    long = None if is_quick else waiting.submit(self.wait_long)
                    for trial in (
                            self.naming, self.spread, self.unchanged, self.statuses, self.cuts, self.sockets, self.drain,
                            self.kill, self.return_of_all):
                        self.say(f"{trial.__name__}: {trial()}")
                    self.is_idle.set()
                    if long:
                        self.say(f"long poll: {long.result()}")
        except Exception as problem:
            log = self.proxy.log.read_text()[-2000:] if hasattr(self, "proxy") else ""
            raise SystemExit(f"FAILED: {self.name}: {problem!r}\n{log}") from problem
        finally:
            self.is_idle.set()
            for replica in self.replicas.values():
                replica.kill()
        return self.lines

    def say(self, line: str) -> None:
        self.lines.append(f"{self.name:8} {line}")

    def call(self, target: str, **options) -> Answer:
        return call(self.proxy.port, target, **options)

    def owner(self, target: str, **options) -> str:
        answer = self.call(target, **options)
        require(answer.status == 200, f"{target} {options} was answered with {answer.status}")
        return answer.json["replica"]

    def placed(self) -> dict[str, str]:
        """The replica of each sandbox; a call that fails ends the trial."""
        connection = http.client.HTTPConnection("127.0.0.1", self.proxy.port, timeout=10)
        found = {}
        for name in SANDBOXES:
            answer = self.call(f"/~{name}/here", method="POST", body=b"x", connection=connection)
            require(answer.status == 200, f"{name} was answered with {answer.status}: {answer.body[:200]}")
            found[name] = answer.json["replica"]
        connection.close()
        return found

    def await_readiness(self) -> None:
        self.await_that(lambda: {self.owner(f"/~{name}/") for name in SANDBOXES[:50]} == set(NAMES), "is not ready")

    def await_that(self, holds, message: str, seconds: float = 10) -> float:
        begin = time.monotonic()
        while True:
            with contextlib.suppress(AssertionError, OSError, http.client.HTTPException):
                if holds():
                    return time.monotonic() - begin
            require(time.monotonic() < begin + seconds, f"after {seconds} s it {message}")
            time.sleep(0.05)

    # --- What is asserted ---------------------------------------------------------------------------------------------

    def naming(self) -> str:
        forms = [
            lambda name: {"target": f"/~{name}/v2/customers?x=/~other/"},
            lambda name: {"target": f"/~{name}"},
            lambda name: {"target": f"/~{name}?last=1"},
            lambda name: {"target": f"/~{name}/_understudy/journal?last=1"},
            lambda name: {"target": f"http://127.0.0.1:8080/~{name}/absolute"},
            lambda name: {"target": f"/_understudy/sandboxes/{name}", "method": "PUT", "body": b"{}"},
            lambda name: {"target": f"/_understudy/sandboxes/{name}?x=1", "method": "DELETE"},
            lambda name: {"target": "/v2/customers", "fields": {"X-Understudy-Sandbox": name}},
            lambda name: {"target": "/_understudy/clock", "fields": {"x-understudy-sandbox": name}},
            lambda name: {"target": "/_understudy/sandboxes", "fields": {"x-understudy-sandbox": name}},
            lambda name: {"target": "/v2/customers", "host": f"{name}.localhost"},
            lambda name: {"target": "/v2/customers", "host": f"{name}.localhost:8080"},
        ]
        for name in SANDBOXES[:30]:
            found = [self.owner(**form(name)) for form in forms]
            require(set(found) == {self.map[name]}, f"{name} is at {self.map[name]}, and its forms reach {found}")
        unnamed = [{"target": "/"}, {"target": "/v2/~x/"}, {"target": "/_understudy/sandboxes?replicas=all"}]
        unnamed += [{"target": "/v2", "host": host} for host in ("understudy.example.test", "localhost:8080", "[::1]:8080")]
        found = [self.owner(**form) for form in [*unnamed, {"target": "/~default/"}]]
        require(len(set(found)) == 1, f"requests that name no sandbox, and `default`, reach {found}")
        return f"{len(forms)} forms of 30 names reach the same replica, and what names none is `default`"

    def spread(self) -> str:
        counts = [list(self.map.values()).count(name) for name in NAMES]
        require(min(counts) >= 200, f"of 1,000 sandboxes the replicas have {counts}")
        return f"of 1,000 sandboxes the replicas have {counts}"

    def unchanged(self) -> str:
        target = "/~shop-1//a/./b/../c%2Fd/%7e%41;p=1/%C3%9C?q=a%20b&&empty=&t=1+2"
        body = os.urandom(300_000)
        sent = {
            "Authorization": "Bearer x.y.z", "x_under_score": "1", "X-Long": "l" * 30_000, "Accept": "a/b", "Cookie": "a=1; b=2",
            "X-Understudy-Sandbox": "shop-1", "Content-Type": "application/json", "User-Agent": "an app"}
        additions = set()
        for content in (body, iter([body[:10], body[10:200_000], body[200_000:]])):
            answer = self.call(target, method="PATCH", host="Shop.Example.test:99", fields=sent, body=content)
            require(answer.status == 200, f"{answer.status}: {answer.body[:300]}")
            seen = answer.json
            require(seen["target"] == target, f"{target} became {seen['target']}")
            require(seen["method"] == "PATCH" and seen["digest"] == hashlib.sha256(body).hexdigest(), "another body")
            found = {name.lower(): value for name, value in seen["fields"]}
            require(found.pop("host").lower() == "shop.example.test:99", "another Host")
            changed = {name: found.get(name.lower()) for name in sent if found.pop(name.lower(), None) != sent[name]}
            require(not changed, f"changed fields: {changed}")
            additions |= set(found) - {"content-length", "transfer-encoding", "connection"}
        require(answer.fields.get("server") == "echo", f"the answer's Server is {answer.fields.get('server')}")
        require(additions <= ({"x-forwarded-proto"} if self.name == "envoy" else set()), f"fields were added: {additions}")
        return f"target, Host, fields and 300 kB arrive as they were sent{', with ' + ', '.join(additions) if additions else ''}"

    def counted(self, mark: str) -> int:
        return sum(call(replica.port, f"/seen/{mark}").json["count"] for replica in self.replicas.values())

    def statuses(self) -> str:
        for method in ("GET", "POST"):
            mark = f"status-{method}"
            answer = self.call("/~shop-2/", method=method, fields={"X-Answer": "503", "X-Mark": mark})
            require((answer.status, answer.fields.get("retry-after")) == (503, "1"), f"a 503 came as {answer.status}")
            require(answer.json["replica"] == self.map["shop-2"], "the 503 is not the replica's")
            require(self.counted(mark) == 1, f"a call that was answered with 503 was sent {self.counted(mark)} times")
        return "a 503 of the server reaches the client, and is not repeated"

    def cuts(self) -> str:
        outcome = ""
        for method in ("GET", "POST"):
            # The first request of a connection, and the second one: HAProxy treats them differently.
            for is_first in (True, False):
                mark = f"cut-{method}-{is_first}"
                connection = http.client.HTTPConnection("127.0.0.1", self.proxy.port, timeout=10)
                if not is_first:
                    self.call("/~shop-3/", connection=connection)
                try:
                    answer = self.call(
                        "/~shop-3/", method=method, fields={"X-Answer": "cut", "X-Mark": mark}, connection=connection)
                    outcome = f"as {answer.status}"
                    require(self.name == "envoy" and answer.status == 503, f"a cut connection came as {answer.status}")
                except (http.client.HTTPException, ConnectionError):
                    outcome = "as a cut connection"
                connection.close()
                require(self.counted(mark) == 1, f"a call whose connection was cut was sent {self.counted(mark)} times")
        require(self.placed() == self.map, "sandboxes have moved since")
        return f"a connection that the server cuts reaches the client {outcome}, and the call is not repeated"

    def sockets(self) -> str:
        key = base64.b64encode(b"sixteen bytes!!!").decode()
        for target, host in (("/~shop-4/socket", "x"), ("/socket", "shop-4.localhost")):
            with socket.create_connection(("127.0.0.1", self.proxy.port), 10) as peer:
                peer.sendall((
                    f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n").encode())
                stream = peer.makefile("rb")
                head = b"".join(iter(stream.readline, b"\r\n")).decode().lower()
                require(head.startswith("http/1.1 101"), f"the upgrade was answered with {head[:40]!r}")
                require(f"x-replica: {self.map['shop-4']}\r\n" in head, "the socket is at another replica")
                frame = bytes([0x82, 0x85]) + b"mask" + os.urandom(5)
                for _ in range(3):
                    peer.sendall(frame)
                    require(stream.read(len(frame)) == frame, "a frame came back as another one")
        return "an upgrade passes, and frames in both directions"

    def drain(self) -> str:
        """Replicas that say that they are not ready, and answer nevertheless."""
        theirs = next(name for name, owner in self.map.items() if owner == "c")
        self.toggle("c")
        if not self.has_active_checks:
            time.sleep(1)
            require(self.placed() == self.map, "sandboxes moved")
            self.toggle("c")
            return "it does not see that a replica is not ready"
        took = self.await_that(lambda: self.owner(f"/~{theirs}/") != "c", "asks a replica that is not ready", 2)
        said = self.check_moved({"c"})
        self.toggle("b")
        self.await_that(lambda: set(self.placed().values()) == {"a"}, "asks replicas that are not ready")
        self.toggle("b", "c")
        back = self.await_that(lambda: self.placed() == self.map, "has not all sandboxes where they were")
        return f"a replica that is not ready gets nothing after {took:.2f} s; {said}; they are back {back:.2f} s after it is"

    def toggle(self, *names: str) -> None:
        for name in names:
            self.replicas[name].process.send_signal(signal.SIGUSR1)

    def check_moved(self, gone: set[str]) -> str:
        now = self.placed()
        require(not gone & set(now.values()), f"sandboxes are still at {gone}")
        moved = [name for name, owner in now.items() if owner != self.map[name]]
        others = [name for name in moved if self.map[name] not in gone]
        require(len(others) <= self.tolerated, f"{len(others)} sandboxes of others moved, too")
        return f"{len(moved)} of 1,000 sandboxes moved, {len(others)} of them from others"

    def kill(self) -> str:
        """Calls go on while replicas are killed; none fails, since none is on its way then."""
        self.replicas["c"].kill()
        # The connections that the proxy had kept open are closed by then.
        time.sleep(0.05)
        said = self.check_moved({"c"})
        self.replicas["b"].kill()
        time.sleep(0.05)
        require(set(self.placed().values()) == {"a"}, "one replica of three does not get everything")
        return f"one is killed, and {said}; a second one too, and the last one has all; no call failed"

    def return_of_all(self) -> str:
        for name in "bc":
            self.replicas[name].start()
        took = self.await_that(lambda: self.placed() == self.map, "has not all sandboxes where they were", 20)
        return f"all sandboxes are where they were {took:.1f} s after both are back"

    def wait_long(self) -> str:
        name = next(each for each, owner in self.map.items() if owner == "a")
        begin = time.monotonic()
        answer = self.call(
            f"/~{name}/_understudy/journal?wait=60s", fields={"X-Answer": f"wait {LONG}"}, timeout=LONG + 20)
        require(answer.status == 200 and answer.json["replica"] == "a", f"a long poll was answered with {answer.status}")
        return f"a call that is answered after {time.monotonic() - begin:.0f} s is answered"


def run(trials: list[Trial], is_quick: bool, then: Callable[[], None]) -> None:
    """All proxies at once, and something else while they only wait."""
    lock = threading.Lock()

    def run_one(trial: Trial) -> None:
        lines = trial.run(is_quick)
        with lock:
            print("\n".join(lines), flush=True)

    with concurrent.futures.ThreadPoolExecutor(len(trials)) as threads:
        runs = [threads.submit(run_one, trial) for trial in trials]
        for trial in trials:
            trial.is_idle.wait()
        if not any(each.done() and each.exception() for each in runs):
            then()
        for each in runs:
            each.result()
