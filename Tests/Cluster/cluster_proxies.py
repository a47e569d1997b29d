"""The proxies of docker/cluster with their own configurations; only addresses, and nginx's folder, are other ones."""

import contextlib
import os
import random
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = ROOT / "docker/cluster"
PATH = f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin"
NAMES = "abc"


def reserved_port() -> int:
    """A free port below those that the system gives to whoever asks for one, so that it is still free soon after."""
    while True:
        port = random.randrange(20_000, 32_768)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def program(name: str) -> str | None:
    """Where a proxy is; Envoy lies beside this Python."""
    if name == "envoy":
        beside = Path(sys.executable).with_name("envoy")
        return str(beside) if beside.exists() else None
    return shutil.which(name, path=PATH)


def replaced(text: str, old: str, new: str) -> str:
    if old not in text:
        raise SystemExit(f"FAILED: the configuration should have “{old}”")
    return text.replace(old, new)


class Proxy:
    """One of `haproxy`, `nginx` and `envoy` in front of three replicas on these ports of this machine."""

    def __init__(self, name: str, folder: Path, replicas: list[int]):
        self.name, self.folder, self.port = name, folder, reserved_port()
        self.environment = {"PATH": PATH}
        source = CLUSTER / {"haproxy": "haproxy.cfg", "nginx": "nginx.conf", "envoy": "envoy.yaml"}[name]
        text = source.read_text()
        if name == "haproxy":
            self.environment["LISTEN"] = f"127.0.0.1:{self.port}"
            for letter, port in zip(NAMES, replicas):
                self.environment[f"REPLICA_{letter.upper()}"] = f"127.0.0.1:{port}"
        elif name == "nginx":
            for letter, port in zip(NAMES, replicas):
                text = replaced(text, f"server understudy-{letter}:8080", f"server 127.0.0.1:{port}")
            text = replaced(text, "listen 8080;", f"listen 127.0.0.1:{self.port};")
            text = replaced(text, " /tmp/", f" {folder}/")
        else:
            for letter, port in zip(NAMES, replicas):
                text = replaced(
                    text, f"address: understudy-{letter}, port_value: 8080", f"address: 127.0.0.1, port_value: {port}")
            # It hashes names, and here all replicas have the same one.
            text = replaced(text, "use_hostname_for_hashing: true", "use_hostname_for_hashing: false")
            text = replaced(text, "address: 0.0.0.0, port_value: 8080", f"address: 127.0.0.1, port_value: {self.port}")
        # HAProxy's is the file itself, unchanged.
        self.file = folder / source.name
        self.file.write_text(text)

    def command(self, is_check: bool) -> list:
        """Starts the proxy, or has it check its configuration."""
        path = program(self.name)
        if self.name == "haproxy":
            return [path, "-c" if is_check else "-db", "-f", self.file]
        if self.name == "nginx":
            # Its workers would not reach a folder of root's.
            user = " user root;" if os.geteuid() == 0 else ""
            return [path, "-p", self.folder, "-c", self.file, "-g", f"daemon off;{user}", *(["-t"] if is_check else [])]
        options = ["--mode", "validate"] if is_check else ["--concurrency", "1"]
        return [path, "-c", self.file, "--log-level", "warning", "--disable-hot-restart", *options]

    def check(self) -> tuple[bool, str]:
        """The proxy's own judgement of its configuration."""
        made = subprocess.run(self.command(is_check=True), cwd=self.folder, env=self.environment, capture_output=True, text=True)
        return made.returncode == 0, made.stdout + made.stderr

    def __enter__(self) -> "Proxy":
        self.log = self.folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                self.command(is_check=False), cwd=self.folder, env=self.environment, stdout=log, stderr=log)
        end = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    self.process.kill()
                    raise SystemExit(f"FAILED: {self.name} did not start:\n{self.log.read_text()}") from None
                time.sleep(0.02)

    def __exit__(self, *_) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
