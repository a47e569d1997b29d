"""Replicas of the built program over one folder, and Debian's HAProxy in front of them."""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from caller import Answer, Unanswered, ask_once
from phases import Wrong
from program import running

PROXY = """
global
    maxconn 4096
    stats socket {folder}/control mode 600 level admin
defaults
    mode http
    option http-keep-alive
    # A replica that refuses a connection has done nothing: the next one on the ring is asked at once.
    retries 3
    option redispatch 1
    timeout connect 1s
    timeout client 60s
    timeout server 20s
    timeout tunnel 1h
    timeout check 400ms
frontend front
    bind 127.0.0.1:{port}
    # In the order of the paths: a sandbox of the control API's list, a prefix, a header, a host's first label.
    http-request set-var(txn.sandbox) str(default)
    http-request set-var(txn.sandbox) req.hdr(host),field(1,:),regsub(\\.localhost$,) if {{ req.hdr(host) -m reg -i ^[a-z0-9-]+\\.localhost(:|$) }}
    http-request set-var(txn.sandbox) req.hdr(x-understudy-sandbox) if {{ req.hdr(x-understudy-sandbox) -m found }}
    http-request set-var(txn.sandbox) path,field(2,/),regsub(^~,) if {{ path -m beg /~ }}
    http-request set-var(txn.sandbox) path,field(4,/) if {{ path -m beg /_understudy/sandboxes/ }}
    default_backend replicas
backend replicas
    balance hash var(txn.sandbox)
    hash-type consistent sdbm avalanche
    option httpchk GET /_understudy/health/ready
    http-check expect status 200
    default-server check inter 250ms fastinter 100ms downinter 250ms fall 2 rise 2
"""


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


# Seconds until a replica has handed everything over; a debug build on a busy machine takes 15 ms for a sandbox.
PATIENCE = 60


class Replica:
    """One replica, which may be started several times; each start is a session with a log of its own."""

    def __init__(self, name: str, port: int, binary: Path, home: Path, options: list[str]):
        self.name, self.port, self.binary, self.home = name, port, binary, home
        self.options = [*options, "--replica", name]
        self.sessions, self.context, self.child = 0, None, None

    def logs(self) -> list[Path]:
        return [self.home / f"{self.name}.{number}.log" for number in range(1, self.sessions + 1)]

    async def start(self) -> None:
        self.sessions += 1
        with open(self.logs()[-1], "w") as log:
            self.context = running(
                self.binary, *self.options, port=self.port, secure=False, log="json", complaints=log,
                patience=PATIENCE)
            _, self.child = await asyncio.to_thread(self.context.__enter__)
        await self.await_readiness()

    async def await_readiness(self) -> None:
        end = time.monotonic() + 15
        while (answer := await self.ask("GET", "/_understudy/health/ready")).status != 200:
            if time.monotonic() > end:
                raise Wrong(f"{self.name} is not ready after 15 s: {answer.status} {answer.content!r}")
            await asyncio.sleep(0.05)

    async def ask(self, method: str, path: str, body=None, timeout: float = 10) -> Answer:
        """A call past the proxy."""
        return await ask_once(self.port, method, path, body, timeout)

    def kill(self) -> None:
        self.child.kill()

    def terminate(self) -> None:
        self.child.send_signal(signal.SIGTERM)

    def freeze(self) -> None:
        self.child.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.child.send_signal(signal.SIGCONT)

    async def end(self) -> int:
        """Waits until the process has ended; its exit code."""
        code = await asyncio.to_thread(self.child.wait, PATIENCE)
        await asyncio.to_thread(self.close)
        return code

    def close(self) -> None:
        """Ends the process, if it runs."""
        if self.context is not None:
            if self.child is not None and self.child.poll() is None:
                self.thaw()
            context, self.context = self.context, None
            context.__exit__(None, None, None)


class Balancer:
    """HAProxy, which hashes the sandbox consistently; a server in `spare` gets nothing until it is enabled."""

    def __init__(self, port: int, folder: Path, replicas: dict[str, Replica], spare: str):
        program = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
        if program is None:
            raise RuntimeError("haproxy is not installed; docker/bootstrap.sh ci installs it")
        self.port, self.control = port, folder / "control"
        servers = [f"    server {name} 127.0.0.1:{replica.port}{' disabled' if name == spare else ''}\n"
                   for name, replica in replicas.items()]
        file = folder / "haproxy.cfg"
        file.write_text(PROXY.format(folder=folder, port=self.port) + "".join(servers))
        self.log = folder / "haproxy.log"
        with open(self.log, "w") as log:
            self.child = subprocess.Popen([program, "-db", "-f", file], cwd=folder, stdout=log, stderr=log)

    async def say(self, command: str) -> str:
        """The answer of the proxy's control socket."""
        reader, writer = await asyncio.open_unix_connection(str(self.control))
        writer.write(command.encode() + b"\n")
        answer = (await asyncio.wait_for(reader.read(), 5)).decode()
        writer.close()
        return answer

    async def up(self) -> set[str]:
        """The replicas that get calls now."""
        head, *rows = (await self.say("show stat")).strip().splitlines()
        names = head.lstrip("# ").split(",")
        rows = [dict(zip(names, row.split(","))) for row in rows]
        return {row["svname"] for row in rows if row["pxname"] == "replicas" and row["status"].startswith("UP")} - {"BACKEND"}

    async def await_up(self, wanted: set[str], seconds: float = 10) -> float:
        """Waits until just these get calls; how many seconds that took."""
        begin, up = time.monotonic(), None
        while time.monotonic() < begin + seconds:
            if self.child.poll() is not None:
                raise RuntimeError(f"haproxy ended:\n{self.log.read_text()}")
            with contextlib.suppress(OSError):
                if (up := await self.up()) == wanted:
                    return time.monotonic() - begin
            await asyncio.sleep(0.05)
        raise Wrong(f"the proxy has {up} in use, not {wanted}, after {seconds} s")

    def close(self) -> None:
        self.child.kill()
        self.child.wait()


class Cluster:
    """Replicas a, b and c and a spare one, d, over one folder."""

    def __init__(self, binary: Path, home: Path, drain: str):
        self.home, self.folder = home, home / "state"
        names = ["a", "b", "c", "d"]
        self.port, *ports = free_ports(1 + len(names))
        peers = ",".join(f"http://127.0.0.1:{port}" for port in ports)
        # Okta's tokens name the server's address, which has to be that of the proxy.
        options = ["--state", str(self.folder), "--public-base", f"http://localhost:{self.port}", "--peers", peers,
                   "--drain", drain]
        self.replicas = {
            name: Replica(name, port, binary, home, options) for name, port in zip(names, ports)}
        self.balancer = None
        # Those that are to get calls.
        self.members = {"a", "b", "c"}

    async def __aenter__(self):
        try:
            # All of them are awaited: what is still starting cannot be ended.
            starts = [self.replicas[name].start() for name in sorted(self.members)]
            for problem in await asyncio.gather(*starts, return_exceptions=True):
                if problem:
                    raise problem
            self.balancer = Balancer(self.port, self.home, self.replicas, "d")
            await self.balancer.await_up(self.members)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_):
        if self.balancer:
            self.balancer.close()
        # Not in an event loop's thread that waits: the contexts wait for their processes.
        endings = [asyncio.to_thread(replica.close) for replica in self.replicas.values()]
        for problem in await asyncio.gather(*endings, return_exceptions=True):
            if problem:
                print(f"while ending: {problem}", flush=True)

    async def restart(self, name: str) -> None:
        await self.replicas[name].start()
        self.members = self.members | {name}
        await self.balancer.await_up(self.members)

    def live(self) -> list[Replica]:
        return [self.replicas[name] for name in sorted(self.members)]

    async def is_silent(self, name: str) -> bool:
        try:
            await self.replicas[name].ask("GET", "/_understudy/health/live", timeout=0.5)
        except Unanswered:
            return True
        return False
