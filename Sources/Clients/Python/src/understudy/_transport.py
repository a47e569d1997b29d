"""Control calls over HTTP, with nothing but the standard library."""

from __future__ import annotations

import http.client
import ipaddress
import json
import ssl
import urllib.error
import urllib.request
from email.message import Message
from typing import Any, Collection, Mapping, NoReturn, Optional, Protocol, Tuple
from urllib.parse import quote, urlencode, urlsplit

from .errors import REFUSALS, Refusal, Unreachable

# The server itself waits for 60 s at most.
PATIENCE = 75.0


class Sender(Protocol):
    """Makes a control call; returns its content, or raises a `Refusal` when the status is none of the expected."""

    def __call__(
        self, method: str, path: str, *, query: Optional[Mapping[str, object]] = None, body: object = None,
        expected: Collection[int],
    ) -> Any: ...


def part(value: object) -> str:
    """A part of a path."""
    return quote(str(value), safe="")


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Leaves a redirect as the answer: its target would get the token."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Transport:
    """The way to one server."""

    def __init__(self, url: str, token: Optional[str], context: Optional[ssl.SSLContext], timeout: float) -> None:
        self.url = url
        self._token = token
        self._timeout = timeout
        # A proxy that the environment names does not lead back to this machine.
        proxies = urllib.request.ProxyHandler({} if is_local(url) else None)
        self._opener = urllib.request.build_opener(proxies, NoRedirects, urllib.request.HTTPSHandler(context=context))

    def for_sandbox(self, sandbox: Optional[str]) -> Sender:
        """The way to one sandbox; without a name, to the one that requests without a name share."""

        def send(
            method: str, path: str, *, query: Optional[Mapping[str, object]] = None, body: object = None,
            expected: Collection[int],
        ) -> Any:
            target = path + written(query or {})
            status, fields, content = self._ask(method, target, sandbox, body)
            if status not in expected:
                self._refuse(f"{method} {target}", status, fields, content)
            if not content:
                return None
            return json.loads(content) if fields.get_content_type() == "application/json" else content.decode()

        return send

    def _ask(self, method: str, target: str, sandbox: Optional[str], body: object) -> Tuple[int, Message, bytes]:
        request = urllib.request.Request(f"{self.url}/_understudy/{target}", method=method)
        if sandbox is not None:
            request.add_header("X-Understudy-Sandbox", sandbox)
        if self._token is not None:
            request.add_header("Authorization", f"Bearer {self._token}")
        if body is not None:
            request.data = json.dumps(body, allow_nan=False).encode()
            request.add_header("Content-Type", "application/json")
        try:
            try:
                answer = self._opener.open(request, timeout=self._timeout)
            except urllib.error.HTTPError as error:
                answer = error  # which is an answer, too
            with answer:
                return answer.status, answer.headers, answer.read()
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            # What lies below is the library's, and says no more.
            raise Unreachable(f"no answer from Understudy at {self.url}: {reason}") from None

    def _refuse(self, call: str, status: int, fields: Message, content: bytes) -> NoReturn:
        strange = f"{call} at {self.url} answered {status}, and not as Understudy does"
        if 300 <= status < 400 and "Location" in fields:
            raise Unreachable(f"{strange}: a redirect to {fields['Location']}, which is not followed")
        try:
            problem = json.loads(content)["error"]
            code, message = str(problem["code"]), str(problem["message"])
        except (ValueError, LookupError, TypeError):
            raise Unreachable(f"{strange}: {content[:200].decode(errors='replace')}") from None
        raise REFUSALS.get(status, Refusal)(call, status, code, message)


def written(query: Mapping[str, object]) -> str:
    """The query with its question mark; what is `None` is left out."""
    given = {name: str(value).lower() if isinstance(value, bool) else value for name, value in query.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


def is_local(url: str) -> bool:
    """Whether the host is this machine by its very name."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
