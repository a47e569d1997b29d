"""Starts the built program on free ports and stops it as a supervisor would."""

import contextlib
import os
import resource
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from observer import Server

BINARY = Path(os.environ.get("UNDERSTUDY_BINARY") or Path(__file__).resolve().parents[2] / ".build/debug/understudy")


@contextlib.contextmanager
def running(
    binary: Path, *options: str, port: int = 0, secure: bool = True, descriptors: int | None = None, log: str = "off",
    complaints=None, patience: float = 20, variables: dict | None = None,
):
    """The program with these options and at most that many descriptors; on free ports unless `port` names one.

    `complaints` is the `stderr` argument of `subprocess`; `patience` is how many seconds it may take to end; `variables`
    are more of its environment.
    """
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

    with tempfile.TemporaryDirectory(prefix="understudy-pressure-") as folder:
        port_file = Path(folder) / "ports"
        command = [
            binary, "serve", "--port", str(port), *(["--https-port", "0"] if secure else []), "--port-file", port_file,
            "--log", log, *options]
        environment = {"PATH": "/usr/bin:/bin", "UNDERSTUDY_CA_DIRECTORY": f"{folder}/ca", **(variables or {})}
        child = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=complaints,
            preexec_fn=limit if descriptors else None)
        try:
            end = time.monotonic() + 30
            while not port_file.exists():
                if child.poll() is not None or time.monotonic() > end:
                    raise RuntimeError("understudy did not start")
                time.sleep(0.01)
            ports = dict(line.split() for line in port_file.read_text().splitlines())
            yield Server(child.pid, int(ports["http"]), int(ports["https"]) if "https" in ports else None), child
        finally:
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(patience)
            except subprocess.TimeoutExpired:
                child.kill()
                raise RuntimeError(f"understudy did not end within {patience} s of SIGTERM") from None
