"""A PostgreSQL from Debian's package, in a folder of its own, with its own port, and everything that makes it durable on."""

import glob
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PASSWORD = "not-a-secret"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Postgres:
    """The server and its database `understudy`, for the length of a `with` block."""

    def __init__(self):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
        if not found:
            raise RuntimeError("PostgreSQL is not installed; docker/bootstrap.sh ci installs it")
        self.programs, self.port, self.child = Path(found[-1]), free_port(), None
        self.folder = Path(tempfile.mkdtemp(prefix="understudy-postgres-"))
        self.log = self.folder / "log"
        # It refuses to run as root.
        self.user = []
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
            self.user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]

    def __enter__(self):
        (self.folder / "password").write_text(PASSWORD)
        (self.folder / "password").chmod(0o644)
        try:
            subprocess.run(
                [*self.user, self.programs / "initdb", "--no-sync", "-U", "understudy", "-E", "UTF8", "--locale=C",
                 "--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={self.folder}/password",
                 "-D", self.folder / "data"], check=True, capture_output=True, cwd="/")
            self.start()
            self.query("CREATE DATABASE understudy", "postgres")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.child is not None and self.child.poll() is None:
            self.end(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str = "understudy", password: str = PASSWORD, port: int | None = None) -> str:
        return f"postgres://understudy:{password}@127.0.0.1:{port or self.port}/{database}"

    def start(self) -> None:
        """Starts it, and waits until it answers; the remains of a killed one may take a moment."""
        end = time.monotonic() + 30
        while True:
            with open(self.log, "a") as log:
                self.child = subprocess.Popen(
                    [*self.user, self.programs / "postgres", "-D", self.folder / "data", "-k", self.folder,
                     "-p", str(self.port), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=on"],
                    stdout=log, stderr=log, cwd="/")
            while self.child.poll() is None:
                if subprocess.run([self.programs / "pg_isready", "-q", "-h", self.folder, "-p", str(self.port)]).returncode == 0:
                    return
                time.sleep(0.02)
            if time.monotonic() > end:
                raise RuntimeError(f"PostgreSQL does not start:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.1)

    def end(self, signal_number: int) -> None:
        """SIGINT ends it in good order, without waiting for its clients; SIGKILL as a crash does."""
        self.child.send_signal(signal_number)
        self.child.wait(30)

    def query(self, sql: str, database: str = "understudy") -> list[list[str]]:
        """The rows that psql prints."""
        done = subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-p", str(self.port),
             "-U", "understudy", "-d", database, "-c", sql], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"psql: {done.stderr}")
        return [line.split("\t") for line in done.stdout.splitlines()]
