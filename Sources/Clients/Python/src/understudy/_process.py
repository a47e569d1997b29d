"""A server as a child of this process."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import Dict, Optional, Sequence, Union

from .errors import StartFailed

# The client's own, not options of the server, which warns about variables that it does not know.
OWN_VARIABLES = ("UNDERSTUDY_BINARY", "UNDERSTUDY_URL")


def program(binary: Union[str, "os.PathLike[str]", None]) -> str:
    """The program to start: the one given, that of $UNDERSTUDY_BINARY, the one installed beside this package, or that in PATH."""
    named = os.fspath(binary) if binary is not None else os.environ.get("UNDERSTUDY_BINARY")
    chosen = named or _installed() or "understudy"
    found = shutil.which(chosen)
    if found is None:
        raise StartFailed(
            f"there is no program {chosen}; install the package understudy-server, name a program in UNDERSTUDY_BINARY,"
            " or attach to a running server by UNDERSTUDY_URL")
    # Windows aside, a relative path would be looked up from the server's folder.
    return os.path.abspath(found)


def _installed() -> Optional[str]:
    """The program of the package understudy-server, which need not be in PATH: an environment may not be activated."""
    try:
        files = metadata.files("understudy-server") or []
    except metadata.PackageNotFoundError:
        return None
    # Where scripts go depends on the kind of installation, and the package's own record says it.
    places = (str(file.locate()) for file in files if file.parts[-2:] == ("bin", "understudy"))
    return next(filter(shutil.which, places), None)


class ServerProcess:
    """Starts the program at free ports, and ends it."""

    def __init__(
        self, binary: Union[str, "os.PathLike[str]", None], options: Sequence[str],
        environment: Optional[Dict[str, str]], timeout: float,
    ) -> None:
        inherited = {name: value for name, value in os.environ.items() if name not in OWN_VARIABLES}
        with tempfile.TemporaryDirectory(prefix="understudy-") as folder:
            output, port_file = Path(folder, "log"), Path(folder, "ports")
            command = [
                program(binary), "serve", "--host", "127.0.0.1", "--port", "0", "--log", "off", *options,
                "--port-file", str(port_file), "--until-stdin-closes"]
            with output.open("wb") as log:
                self._process = subprocess.Popen(
                    command, bufsize=0, stdin=subprocess.PIPE, stdout=log, stderr=log,
                    env={**inherited, **(environment or {})})
            # The server ends with the last process that holds this pipe; a fork must not be one of them.
            assert self._process.stdin is not None
            os.register_at_fork(after_in_child=self._process.stdin.close)
            # Unless forced, the end waits for the server's.
            atexit.register(self.stop)
            try:
                self.ports = self._await_ports(port_file, output, time.monotonic() + timeout)
            except BaseException:
                self.stop()
                raise

    def _await_ports(self, port_file: Path, output: Path, last: float) -> Dict[str, int]:
        while not port_file.exists():
            code = self._process.poll()
            if code is not None:
                raise StartFailed(f"understudy ended with code {code}:\n{output.read_text(errors='replace')}")
            if time.monotonic() > last:
                raise StartFailed(f"understudy did not start in time:\n{output.read_text(errors='replace')}")
            time.sleep(0.01)
        return {name: int(port) for name, port, *_ in map(str.split, port_file.read_text().splitlines())}

    def stop(self, patience: float = 15) -> Optional[int]:
        """Ends it as a supervisor would, and returns its exit code."""
        atexit.unregister(self.stop)
        with self._process:  # which closes the pipe
            if self._process.poll() is None:
                self._process.terminate()
                try:
                    self._process.wait(patience)
                except subprocess.TimeoutExpired:
                    self._process.kill()
        return self._process.returncode
