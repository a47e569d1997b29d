"""A server as a child process, and system information about it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")


class Child:
    """A program that writes its ports into a file once it accepts connections."""

    def __init__(self, command: list, folder: Path, port_file: Path, environment: dict | None = None):
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command, cwd=folder, stdout=log, stderr=log, env={**os.environ, **(environment or {})})
        end = time.monotonic() + 15
        while not port_file.exists():
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                raise RuntimeError(f"{command[0]} did not start:\n{self.log.read_text()}")
            time.sleep(0.01)
        self.ports = {scheme: int(port) for scheme, port, *_ in map(str.split, port_file.read_text().splitlines())}

    def stop(self) -> int:
        self.process.terminate()
        try:
            return self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    @property
    def thread_count(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    @property
    def resident_megabytes(self) -> float:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
