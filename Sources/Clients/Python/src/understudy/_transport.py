"""Control calls over HTTP, with nothing but the standard library."""

from __future__ import annotations

import copy
import http.client
import ipaddress
import json
import ssl
import urllib.error
import urllib.request
from email.message import Message
from typing import Any, NoReturn, Optional, Tuple
from urllib.parse import quote, urlencode, urlsplit

from .errors import REFUSALS, Refusal, Unreachable

# The server itself waits for 60 s at most.
PATIENCE = 75.0


# These calls report a negative result with a status of their own.
VERDICTS = {"journal/verify": 409, "health/ready": 503}


def part(value: str) -> str:
    """A part of a path."""
    return quote(value, safe="")


def query(**members: object) -> str:
    """A query with its question mark; what is `None` is left out."""
    given = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in members.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Leaves a redirect as the answer: its target would get the token."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Transport:
    """Access to the control API of one server, and to one of its sandboxes."""

    def __init__(self, url: str, token: Optional[str], context: Optional[ssl.SSLContext], timeout: float) -> None:
        self.url = url
        # None for the one that requests without a name share.
        self._sandbox: Optional[str] = None
        self._token = token
        self._timeout = timeout
        # A proxy that the environment names does not lead back to this machine.
        proxies = urllib.request.ProxyHandler({} if is_local(url) else None)
        self._opener = urllib.request.build_opener(proxies, NoRedirects, urllib.request.HTTPSHandler(context=context))

    def selecting(self, sandbox: str) -> Transport:
        made = copy.copy(self)
        made._sandbox = sandbox
        return made

    def send(self, method: str, path: str, content: object = None) -> Any:
        """Makes a call and returns what its answer says: JSON, a text, or `None` when it has no content."""
        status, fields, said = self._ask(method, path, content)
        if not 200 <= status < 300 and VERDICTS.get(path.partition("?")[0]) != status:
            self._refuse(f"{method} {path}", status, fields, said)
        if not said:
            return None
        return json.loads(said) if fields.get_content_type() == "application/json" else said.decode()

    def _ask(self, method: str, path: str, content: object) -> Tuple[int, Message, bytes]:
        request = urllib.request.Request(f"{self.url}/_understudy/{path}", method=method)
        if self._sandbox is not None:
            request.add_header("X-Understudy-Sandbox", self._sandbox)
        if self._token is not None:
            request.add_header("Authorization", f"Bearer {self._token}")
        if content is not None:
            request.data = json.dumps(content, allow_nan=False).encode()
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


def is_local(url: str) -> bool:
    """Whether the host is this machine by its very name."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
