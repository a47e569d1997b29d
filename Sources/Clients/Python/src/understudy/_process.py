"""A server as a child of this process."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Dict, Optional, Sequence, Union

from .errors import StartFailed

# Ours, not options of the server, which complains of variables that it does not know.
OWN_VARIABLES = ("UNDERSTUDY_BINARY", "UNDERSTUDY_URL")


def program(binary: Union[str, "os.PathLike[str]", None]) -> str:
    """The program to start: the one given, that of $UNDERSTUDY_BINARY, or `understudy` in PATH."""
    chosen = os.fspath(binary) if binary is not None else os.environ.get("UNDERSTUDY_BINARY") or "understudy"
    found = shutil.which(chosen)
    if found is None:
        raise StartFailed(
            f"there is no program {chosen}; build it with `swift build` and name .build/debug/understudy in"
            " UNDERSTUDY_BINARY, or attach to a running server by UNDERSTUDY_URL")
    # Windows aside, a relative path would be looked up from the server's folder.
    return os.path.abspath(found)


class ServerProcess:
    """Starts the program at free ports, and ends it."""

    def __init__(
        self, binary: Union[str, "os.PathLike[str]", None], options: Sequence[str],
        environment: Optional[Dict[str, str]], timeout: float,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="understudy-")
        self._log = Path(self._folder.name) / "log"
        port_file = Path(self._folder.name) / "ports"
        command = [
            program(binary), "serve", "--host", "127.0.0.1", "--port", "0", "--log", "off", *options,
            "--port-file", str(port_file)]
        inherited = {name: value for name, value in os.environ.items() if name not in OWN_VARIABLES}
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**inherited, **(environment or {})})
        # Tests that are interrupted must leave no server behind.
        atexit.register(self.stop)
        try:
            self.ports = self._await_ports(port_file, time.monotonic() + timeout)
        except BaseException:
            self.stop()
            raise

    @property
    def output(self) -> str:
        """What the server has printed."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def _await_ports(self, port_file: Path, last: float) -> Dict[str, int]:
        while not port_file.exists():
            code = self._process.poll()
            if code is not None:
                raise StartFailed(f"understudy ended with code {code}:\n{self.output}")
            if time.monotonic() > last:
                raise StartFailed(f"understudy did not start in time:\n{self.output}")
            time.sleep(0.01)
        return {name: int(port) for name, port in map(str.split, port_file.read_text().splitlines())}

    def stop(self, patience: float = 15) -> Optional[int]:
        """Ends it as a supervisor would, and returns its exit code."""
        atexit.unregister(self.stop)
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(patience)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._folder.cleanup()
        return self._process.returncode
