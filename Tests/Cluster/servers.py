"""Servers of the built program over one PostgreSQL, HAProxy as docker/cluster configures it, and a wire that can be cut."""

import contextlib
import os
import select
import shutil
import signal
import socket
import subprocess
import threading
from pathlib import Path

from customers import Caller, wait_for
from postgres import Postgres, free_port
from program import running

CONFIGURATION = Path(__file__).resolve().parents[2] / "docker/cluster/haproxy.cfg"
NAMES = ["a", "b", "c"]
READY = "/_understudy/health/ready"


class Relay:
    """Passes connections on to a port, until it drops what they carry or refuses them."""

    def __init__(self, target: int):
        self.target, self.mode, self.pairs = target, "pass", {}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.work, daemon=True).start()

    def cut(self, mode: str) -> None:
        """`drop`: nothing arrives, and nobody is notified; `refuse`: connections are closed, and so are new ones."""
        self.mode = mode

    def mend(self) -> None:
        self.mode = "pass"

    def work(self) -> None:
        while True:
            if self.mode == "refuse":
                self.close(*self.pairs)
            readable = [] if self.mode == "drop" else [self.listener, *self.pairs]
            ready, _, _ = select.select(readable, [], [], 0.02)
            for each in ready:
                if self.mode != "drop":
                    self.accept() if each is self.listener else self.carry(each)

    def accept(self) -> None:
        client, _ = self.listener.accept()
        try:
            if self.mode == "refuse":
                raise OSError
            server = socket.create_connection(("127.0.0.1", self.target), 5)
        except OSError:
            return client.close()
        self.pairs |= {client: server, server: client}

    def carry(self, one: socket.socket) -> None:
        if one not in self.pairs:
            return
        try:
            content = one.recv(1 << 16)
            if content:
                return self.pairs[one].sendall(content)
        except OSError:
            pass
        self.close(one)

    def close(self, *some: socket.socket) -> None:
        for one in some:
            if other := self.pairs.pop(one, None):
                self.pairs.pop(other, None)
                one.close()
                other.close()


class Server:
    """One server, which may be started several times; each start has a name and a log of its own."""

    def __init__(self, name: str, binary: Path, home: Path, postgres: Postgres, options: list[str]):
        self.name, self.binary, self.home, self.options = name, binary, home, options
        self.port, self.relay, self.logs = free_port(), Relay(postgres.port), []
        self.url = postgres.url(port=self.relay.port)
        self.context, self.child, self.replica = None, None, ""

    def start(self) -> None:
        self.logs.append(self.home / f"{self.name}.{len(self.logs)}.log")
        with open(self.logs[-1], "w") as log:
            context = running(
                self.binary, "--state", self.url, *self.options, port=self.port, secure=False, log="json", complaints=log,
                patience=60)
            _, self.child = context.__enter__()
        self.context = context
        wait_for(f"{self.name}'s readiness", lambda: self.ask("GET", READY).status == 200)
        self.replica = self.ask("GET", READY).json()["replica"]

    def ask(self, method: str, path: str, body=None, timeout: float = 10):
        """A call past the proxy."""
        return Caller(self.port, timeout).ask(method, path, body)

    def signal(self, number: int) -> None:
        self.child.send_signal(number)

    def end(self) -> int:
        """Waits until the process has ended; its exit code."""
        code = self.child.wait(60)
        self.close()
        return code

    def close(self) -> None:
        if self.context is not None:
            if self.child.poll() is None:
                self.signal(signal.SIGCONT)
            context, self.context = self.context, None
            context.__exit__(None, None, None)


class Cluster:
    """PostgreSQL, three servers, and the proxy before them."""

    def __init__(self, binary: Path, home: Path):
        self.binary, self.home, self.postgres, self.port = binary, home, Postgres(), free_port()
        self.servers, self.proxy = {}, None

    def __enter__(self):
        try:
            self.postgres.__enter__()
            # Tokens name the server's address, which has to be that of the proxy.
            options = ["--public-base", f"http://localhost:{self.port}"]
            for name in NAMES:
                self.servers[name] = Server(name, self.binary, self.home, self.postgres, options)
                self.servers[name].start()
            self.start_proxy()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start_proxy(self) -> None:
        program = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
        if program is None:
            raise RuntimeError("haproxy is not installed; docker/bootstrap.sh ci installs it")
        places = {f"REPLICA_{name.upper()}": f"127.0.0.1:{server.port}" for name, server in self.servers.items()}
        with open(self.home / "haproxy.log", "w") as log:
            self.proxy = subprocess.Popen(
                [program, "-db", "-f", CONFIGURATION], stdout=log, stderr=log,
                env={**os.environ, **places, "LISTEN": f"127.0.0.1:{self.port}"})

        def answers() -> bool:
            if self.proxy.poll() is not None:
                raise RuntimeError(f"haproxy ended:\n{(self.home / 'haproxy.log').read_text()}")
            with contextlib.suppress(OSError):
                return Caller(self.port).ask("GET", READY).status == 200
            return False
        wait_for("the proxy's first answer", answers)

    def __exit__(self, *_):
        if self.proxy:
            self.proxy.kill()
            self.proxy.wait()
        for server in self.servers.values():
            server.close()
        self.postgres.__exit__()
