"""A running server."""

from __future__ import annotations

import os
import re
import ssl
import uuid
from types import TracebackType
from typing import Any, Dict, List, Mapping, Optional, Type, Union
from urllib.parse import urlsplit

from ._process import ServerProcess
from ._transport import PATIENCE, Transport
from .clock import Duration, duration
from .sandbox import Sandbox

Path = Union[str, "os.PathLike[str]"]


class Understudy:
    """A server that this process started, or one that it is attached to."""

    def __init__(
        self, url: str, control_url: str, token: Optional[str], context: Optional[ssl.SSLContext], timeout: float,
        process: Optional[ServerProcess],
    ) -> None:
        self.url = url
        """Where the vendors are."""
        self._process = process
        self._calls = Transport(control_url, token, context, timeout)

    @classmethod
    def start(
        cls, *options: str, binary: Optional[Path] = None, environment: Optional[Mapping[str, str]] = None,
        timeout: float = 30,
    ) -> Understudy:
        """Starts a server for this process at a free loopback port.

        Options are those of `understudy serve`, such as `"--fixtures", "Fixtures"`. The program is `binary`, else what
        UNDERSTUDY_BINARY names, else that of the package understudy-server in this environment, else `understudy` in PATH.
        A `StartFailed` says what the program complained of.
        """
        process = ServerProcess(binary, options, dict(environment or {}), timeout)
        inherited = {**os.environ, **(environment or {})}
        ports = process.ports
        url = f"http://127.0.0.1:{ports['http']}"
        token = _read(_token(options) or inherited.get("UNDERSTUDY_CONTROL_TOKEN"))
        control_url = f"http://127.0.0.1:{ports['control']}" if "control" in ports else url
        return cls(url, control_url, token, None, PATIENCE, process)

    @classmethod
    def attach(
        cls, url: str, *, control_url: Optional[str] = None, token: Optional[str] = None, ca_file: Optional[Path] = None,
        timeout: float = PATIENCE,
    ) -> Understudy:
        """Attaches to a running server, and checks its health.

        `control_url` is for servers with a `--control-port`; the token is that of `--control-token`, else the
        environment's UNDERSTUDY_CONTROL_TOKEN, `@FILE` being the one in a file; `ca_file` is the certificate that `understudy ca` names.
        """
        context = ssl.create_default_context(cafile=os.fspath(ca_file)) if ca_file is not None else None
        url = _base(url)
        token = _read(token or os.environ.get("UNDERSTUDY_CONTROL_TOKEN"))
        server = cls(url, _base(control_url) if control_url else url, token, context, timeout, None)
        server.health()
        return server

    def sandbox(self, name: Optional[str] = None, *, ttl: Optional[Duration] = None) -> Sandbox:
        """The sandbox of that name, or a new one; it is created on first use.

        With a `ttl` it goes once it has lain unused for that long, whoever forgets to delete it.
        """
        if name is None:
            name = f"test-{uuid.uuid4().hex[:12]}"
        if not re.fullmatch(r"[a-z0-9-]{1,63}", name):
            raise ValueError(f"{name!r} is not a sandbox name; it has 1 to 63 of a-z, 0-9 and -")
        if ttl is not None:
            self._calls.send("PUT", f"sandboxes/{name}", {"ttl": duration(ttl)})
        return Sandbox(name, f"{self.url}/~{name}", self._calls.selecting(name), self._calls)

    def sandbox_for(self, words: str, *, ttl: Optional[Duration] = None) -> Sandbox:
        """A new sandbox whose name begins with these words, such as a test's name."""
        start = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:54].strip("-") or "test"
        # Two tests may differ in punctuation only, and may run side by side.
        return self.sandbox(f"{start}-{uuid.uuid4().hex[:8]}", ttl=ttl)

    def control(self, method: str, path: str, content: object = None) -> Any:
        """Makes a call of the control API to the sandbox that requests without a name share, as `Sandbox.control` does."""
        return self._calls.send(method, path, content)

    def sandboxes(self) -> List[Dict[str, Any]]:
        return list(self._calls.send("GET", "sandboxes")["sandboxes"])

    def health(self) -> Dict[str, Any]:
        return dict(self._calls.send("GET", "health"))

    @property
    def version(self) -> str:
        return str(self.health()["version"])

    @property
    def page_url(self) -> str:
        """A page for people: the journal as it grows, sandboxes, clocks, tokens and everything else."""
        return f"{self._calls.url}/_understudy/"

    @property
    def ports(self) -> Dict[str, int]:
        """The ports of a server that was started here, by `http`, `https` and `control`."""
        return dict(self._process.ports) if self._process else {}

    @property
    def is_own(self) -> bool:
        """Whether this process started it."""
        return self._process is not None

    def stop(self) -> Optional[int]:
        """Ends a server that was started here, and returns its exit code; one that was attached to runs on."""
        return self._process.stop() if self._process else None

    def __enter__(self) -> Understudy:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType],
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Understudy at {self.url}>"


def _base(url: str) -> str:
    """The URL without a final slash."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/") or parts.query:
        raise ValueError(
            f"{url!r} is not a base URL of a server, such as http://127.0.0.1:8080; sandboxes are named later")
    return url.rstrip("/")


def _token(options: "tuple[str, ...]") -> Optional[str]:
    """The control token among the options of the server."""
    for place, option in enumerate(options):
        if option == "--control-token" and place + 1 < len(options):
            return options[place + 1]
        if option.startswith("--control-token="):
            return option.partition("=")[2]
    return None


def _read(token: Optional[str]) -> Optional[str]:
    """The token, from its file if it is `@FILE`."""
    if not token or not token.startswith("@"):
        return token or None
    with open(token[1:], encoding="utf-8") as file:
        return file.read().strip()
