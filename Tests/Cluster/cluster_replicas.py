"""The real program as three replicas, started as the page Replicas.md says, behind each of the proxies."""

import contextlib
import http.client
import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

from cluster_proxies import PATH, ROOT, Proxy, reserved_port
from cluster_routes import call, require

PAGE = ROOT / "Sources/Understudy/Understudy.docc/Replicas.md"
MARK = "<!-- tested: Tests/Cluster/cluster_replicas.py -->"
SANDBOXES = [f"shop-{number}" for number in range(60)]


def has_replicas(binary: Path) -> bool:
    if not binary.exists():
        return False
    return "--replica" in subprocess.run([binary, "serve", "--help"], capture_output=True, text=True).stdout


def block() -> str:
    """The page's block: its replicas listen on 8081 to 8083, and HAProxy on 8080."""
    return re.search(re.escape(MARK) + r"\n```sh\n(.*?)```", PAGE.read_text(), re.S)[1]


class Cluster:
    """What the page's block starts, with other ports and in another home."""

    def __init__(self, binary: Path, folder: Path):
        self.folder, self.state = folder, folder / "understudy"
        self.port, *self.replicas = [reserved_port() for _ in range(4)]
        # Started after what the block starts.
        self.later: list[subprocess.Popen] = []
        (folder / "bin").mkdir()
        (folder / "bin/understudy").symlink_to(binary)
        text = block()
        # A port a replica, where the page can count.
        require("--port 808$n" in text, "the page's block should start replicas on 808$n")
        text = text.replace("--port 808$n", "--port $(sed -n ${n}p $HOME/ports) --log off")
        (folder / "ports").write_text("".join(f"{port}\n" for port in self.replicas))
        for number, port in enumerate([self.port, *self.replicas]):
            text = text.replace(f"808{number}", str(port))
        (folder / "block").write_text(text)

    def __enter__(self) -> "Cluster":
        self.log = self.folder / "log"
        self.environment = {"PATH": f"{self.folder / 'bin'}:{PATH}", "HOME": str(self.folder)}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                ["bash", "-eu", self.folder / "block"], cwd=ROOT, env=self.environment, stdout=log, stderr=log,
                start_new_session=True)
        for port in self.replicas:
            self.await_ready(port)
        # The proxy counts them as ready by now.
        self.await_that(lambda: {self.owner(self.port, name) for name in SANDBOXES} == {"r1", "r2", "r3"})
        return self

    def __exit__(self, *_) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        for process in [self.process, *self.later]:
            process.kill()
            process.wait()

    def await_that(self, holds, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while True:
            with contextlib.suppress(AssertionError, OSError, http.client.HTTPException):
                if holds():
                    return
            require(time.monotonic() < end, f"not within {seconds} s:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.05)

    def await_ready(self, port: int) -> None:
        self.await_that(lambda: call(port, "/_understudy/health/ready").status == 200)

    def process_id(self, name: str) -> int:
        return int((self.state / f"replicas/{name}.lock").read_text())

    def start_again(self, name: str) -> None:
        number = int(name[1:]) - 1
        peers = ",".join(f"http://127.0.0.1:{port}" for port in self.replicas)
        with self.log.open("a") as log:
            self.later.append(subprocess.Popen(
                [self.folder / "bin/understudy", "serve", "--replica", name, "--port", str(self.replicas[number]),
                 "--state", self.state, "--peers", peers, "--log", "off"],
                cwd=ROOT, env=self.environment, stdout=log, stderr=log))
        self.await_ready(self.replicas[number])

    @staticmethod
    def owner(port: int, name: str, **how) -> str:
        answer = call(port, **({"target": f"/~{name}/_understudy/clock"} | how))
        require(answer.status < 400, f"{name} {how} was answered with {answer.status}: {answer.body[:300]}")
        return answer.fields["x-understudy-replica"]


class Users:
    """Calls that go on meanwhile: each reads a clock and compares it."""

    def __init__(self, cluster: Cluster):
        self.cluster, self.problems, self.count, self.over = cluster, [], 0, threading.Event()
        self.longest = 0.0
        self.threads = [threading.Thread(target=self.use, args=(start,)) for start in range(2)]

    def use(self, start: int) -> None:
        connection = None
        while not self.over.is_set():
            for number in range(start, len(SANDBOXES), 2):
                name = SANDBOXES[number]
                connection = connection or http.client.HTTPConnection("127.0.0.1", self.cluster.port, timeout=20)
                begin = time.monotonic()
                try:
                    answer = call(self.cluster.port, f"/~{name}/_understudy/clock", connection=connection)
                    if answer.status != 200 or round(answer.json["unix"]) != moment(number):
                        self.problems.append(f"{name}: {answer.status} {answer.body[:200]}")
                except (OSError, http.client.HTTPException) as problem:
                    self.problems.append(f"{name}: {problem!r}")
                    connection = None
                self.longest = max(self.longest, time.monotonic() - begin)
                self.count += 1

    def __enter__(self) -> "Users":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.over.set()
        for thread in self.threads:
            thread.join()


def moment(number: int) -> int:
    return 1_900_000_000 + number


def is_running(process: int) -> bool:
    # An ended child of the page's shell stays a zombie until that has waited for it.
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def run(binary: Path, proxies: list[str], folder: Path) -> list[str]:
    with Cluster(binary, folder) as cluster:
        return [
            *(f"{name}: {naming(cluster, name)}" for name in proxies), f"lists: {lists(cluster)}", f"stop: {stop(cluster)}",
            f"kill: {kill(cluster)}"]


def naming(cluster: Cluster, proxy: str) -> str:
    folder = cluster.folder / proxy
    folder.mkdir()
    with contextlib.ExitStack() as stack:
        # The page's block has started HAProxy.
        port = cluster.port if proxy == "haproxy" else stack.enter_context(Proxy(proxy, folder, cluster.replicas)).port
        owners = set()
        cluster.await_that(lambda: len({cluster.owner(port, name) for name in SANDBOXES}) == 3)
        for name in SANDBOXES[:20]:
            found = [cluster.owner(port, name, **how) for how in (
                {}, {"target": f"/_understudy/sandboxes/{name}", "method": "PUT", "body": b'{"ttl": null}'},
                {"target": "/_understudy/clock", "fields": {"X-Understudy-Sandbox": name}},
                {"target": "/_understudy/clock", "host": f"{name}.localhost"})]
            require(len(set(found)) == 1, f"{name} was found at {found}")
            owners |= set(found)
        require(owners == {"r1", "r2", "r3"}, f"all sandboxes are at {owners}")
    return "every form of naming a sandbox reaches the same of three replicas"


def lists(cluster: Cluster) -> str:
    answer = call(cluster.port, "/_understudy/sandboxes?replicas=all").json
    names = {each["name"]: each["replica"] for each in answer["sandboxes"]}
    require(set(SANDBOXES) <= set(names), "the list of all replicas lacks sandboxes")
    require({each["name"] for each in answer["replicas"]} == {"r1", "r2", "r3"}, f"it names {answer['replicas']}")
    return "the list of all replicas has every sandbox"


def set_clocks(cluster: Cluster) -> None:
    for number, name in enumerate(SANDBOXES):
        answer = call(cluster.port, f"/~{name}/_understudy/clock", "PUT", body=b'{"now": %d, "freeze": true}' % moment(number))
        require(answer.status == 200, f"the clock of {name} cannot be set: {answer.status} {answer.body[:300]}")


def stop(cluster: Cluster) -> str:
    set_clocks(cluster)
    process = cluster.process_id("r1")
    with Users(cluster) as users:
        begin = time.monotonic()
        os.kill(process, signal.SIGTERM)
        cluster.await_that(lambda: not is_running(process), 30)
        took = time.monotonic() - begin
        cluster.start_again("r1")
        cluster.await_that(lambda: any(cluster.owner(cluster.port, name) == "r1" for name in SANDBOXES))
        time.sleep(0.5)
    require(not users.problems, f"while r1 was replaced {len(users.problems)} calls failed: {users.problems[:3]}")
    return (
        f"a replica ends {took:.1f} s after SIGTERM and comes back; of {users.count} calls meanwhile none failed, and the "
        f"longest took {users.longest:.2f} s")


def kill(cluster: Cluster) -> str:
    set_clocks(cluster)
    # A change is on disk a second after it was answered.
    time.sleep(2)
    process = cluster.process_id("r2")
    with Users(cluster) as users:
        time.sleep(0.2)
        os.kill(process, signal.SIGKILL)
        time.sleep(2)
    # One call of each user may have been on its way.
    require(len(users.problems) <= 2, f"when r2 was killed {len(users.problems)} calls failed: {users.problems[:3]}")
    require({cluster.owner(cluster.port, name) for name in SANDBOXES} == {"r1", "r3"}, "sandboxes are at a killed replica")
    return (
        f"a replica is killed; of {users.count} calls {len(users.problems)} failed, at most one on its way for each client, "
        f"and the longest took {users.longest:.2f} s; nothing is lost")
