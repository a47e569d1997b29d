"""What a normal client sees under pressure, and the resources of the server's process."""

import http.client
import os
import threading
import time
from pathlib import Path

HEALTH = "/_understudy/health"


class Server:
    """The server's ports, and what Linux reports about its process."""

    def __init__(self, process: int, port: int, tls_port: int | None = None):
        self.process, self.port, self.tls_port = process, port, tls_port

    def _status(self, name: str) -> int:
        for line in Path(f"/proc/{self.process}/status").read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1])
        raise RuntimeError(f"/proc/{self.process}/status has no {name}")

    def resident_megabytes(self) -> float:
        return self._status("VmRSS") / 1024

    def forget_peak(self) -> None:
        """Resets the peak of resident memory."""
        Path(f"/proc/{self.process}/clear_refs").write_text("5")

    def peak_megabytes(self) -> float:
        return self._status("VmHWM") / 1024

    def threads(self) -> int:
        return self._status("Threads")

    def processor_seconds(self) -> float:
        fields = Path(f"/proc/{self.process}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def descriptors(self) -> int:
        return len(list(Path(f"/proc/{self.process}/fd").iterdir()))


class NormalClient(threading.Thread):
    """Polls health on new and persistent connections; a thread beside the crowd."""

    def __init__(self, server: Server, pause: float = 0.02):
        super().__init__(daemon=True)
        self.server, self.pause = server, pause
        self.answers, self.slowest, self.problems = 0, 0.0, []
        self.most_memory, self.most_threads, self.most_descriptors = 0.0, 0, 0
        self._over = threading.Event()

    def run(self) -> None:
        try:
            self._ask_on()
        except Exception as error:  # a dead thread would look like one without problems
            self.problems.append(f"the normal client ended: {error!r}")

    def _ask_on(self) -> None:
        kept = self._connect()
        while not self._over.is_set():
            self._ask(self._connect(), close=True)
            if not self._ask(kept):
                kept = self._connect()
            self.most_memory = max(self.most_memory, self.server.resident_megabytes())
            self.most_threads = max(self.most_threads, self.server.threads())
            self.most_descriptors = max(self.most_descriptors, self.server.descriptors())
            self._over.wait(self.pause)

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=10)

    def _ask(self, connection: http.client.HTTPConnection, close: bool = False) -> bool:
        begin = time.monotonic()
        try:
            connection.request("GET", HEALTH)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                self.problems.append(f"health answered {answer.status}")
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as error:
            # An idle connection may be closed to make room, and clients retry. A new one may not.
            if close:
                self.problems.append(f"a new connection got {error!r}")
            return False
        except (OSError, http.client.HTTPException) as error:
            self.problems.append(f"no answer: {error!r}")
            return False
        finally:
            self.slowest = max(self.slowest, time.monotonic() - begin)
            if close:
                connection.close()
        self.answers += 1
        return True

    def stop(self) -> None:
        self._over.set()
        self.join(30)
