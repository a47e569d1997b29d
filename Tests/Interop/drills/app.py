"""A small, correct mobile client of each vendor, and the mistakes that can be planted in it.

    app.py VENDOR [--fault NAME]

It reads UNDERSTUDY_URL, signs in with an example account, makes a handful of calls and ends: with 0 when all went well,
with 1 when the user would have to sign in again or a call failed for good, which it says in a line. It keeps to what the
RFCs and the vendors' pages ask of a client; each planted mistake is one that real apps were seen to make.
"""

import argparse
import base64
import email.utils
import hashlib
import http.client
import json
import os
import secrets
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

TIMEOUT = 5  # seconds without a byte
ATTEMPTS = 3  # at a call that may be repeated
PAUSE = 0.05  # seconds before the first repetition; the next ones wait twice as long
PATIENCE = 2  # seconds that the user waits when a server asks to come back later
REPEATABLE = {"GET", "HEAD", "PUT", "DELETE", "OPTIONS"}  # RFC 9110, section 9.2.2

# The mistakes that any of the apps can make; each app names the behaviours that must find them in its `found_by`.
MISTAKES = {
    "no-renewal": "It does not renew its token when a call is answered by 401.",
    "endless-renewal": "It renews its token again and again while calls are answered by 401.",
    "renews-on-403": "It takes 403 for a sign that its token has expired.",
    "repeats-with-old-token": "After the renewal it repeats the call with the old token.",
    "renews-in-parallel": "Two calls that are refused at the same time start a renewal each.",
    "repeats-post": "It repeats a POST whose answer was lost.",
    "repeats-forever": "It repeats a call that fails as often as it likes.",
    "repeats-never": "It gives up a read at the first broken connection.",
    "ignores-retry-after": "It does not wait as long as Retry-After asks.",
    "token-follows-redirect": "It sends its token on to another host when an answer redirects it there.",
    "token-everywhere": "It sends its token with every call, also where none is asked for.",
    "continues-signed-out": "It goes on making calls with its dead token after the session has ended.",
    "trusts-any-key": "It does not check the signature of a token.",
    "ignores-kid": "It verifies with the first published key, whatever the kid.",
    "keeps-keys": "It never fetches the issuer's keys again, not even for an unknown kid.",
    "fetches-keys-forever": "It fetches the issuer's keys again and again while a kid stays unknown.",
    "ignores-issuer": "It does not check who issued a token.",
    "ignores-audience": "It does not check for whom a token was issued.",
    "ignores-nonce": "It does not check that a token answers its own request.",
    "ignores-expiry": "It takes a token that had expired when it came.",
}


class Lost(Exception):
    """No whole answer came: the connection was refused, reset, or ended early, or what came cannot be read."""


class Failed(Exception):
    """A call failed for good; the app shows an error, and the user stays signed in."""


class SignedOut(Exception):
    """The session has ended; the app deletes its tokens and shows its sign-in page."""


class Untrusted(Exception):
    """A token is not what it must be, and is thrown away."""


# HTTP


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def json(self):
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise Lost("an answer that is not JSON") from error

    @property
    def retry_after(self) -> float | None:
        """How many seconds the server asks to wait: RFC 9110, section 10.2.3."""
        value = self.headers.get("retry-after")
        if value is None:
            return None
        if value.strip().isdigit():
            return float(value)
        moment = email.utils.parsedate_to_datetime(value)
        return max(0.0, moment.timestamp() - time.time())


def exchange(method: str, url: str, headers: dict[str, str], body: bytes | None) -> Answer:
    """Sends a request once and reads the whole answer."""
    parts = urllib.parse.urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=TIMEOUT)
    try:
        connection.request(method, parts.path + (f"?{parts.query}" if parts.query else ""), body, headers)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())
    except (OSError, http.client.HTTPException) as error:
        raise Lost(f"{method} {parts.path}: {error!r}") from error
    finally:
        connection.close()


def origin(url: str) -> tuple[str, str, int | None]:
    parts = urllib.parse.urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port


@dataclass
class TokenStore:
    """The app's tokens. Each is bound to the host that it is for, and goes nowhere else."""

    tokens: dict[tuple, str] = field(default_factory=dict)

    def put(self, url: str, token: str) -> None:
        self.tokens[origin(url)] = token

    def get(self, url: str) -> str | None:
        return self.tokens.get(origin(url))

    def clear(self) -> None:
        self.tokens.clear()


class App:
    """What the apps have in common: calls that are repeated only where that does no harm, and a token that is renewed."""

    vendor = ""
    # The behaviours, without the vendor's name, that must find a mistake of MISTAKES, or of `own`, in this app.
    found_by: dict[str, list[str]] = {}
    # Mistakes that only this app can make.
    own: dict[str, str] = {}

    def __init__(self, base: str, fault: str | None):
        self.base = base
        self.fault = fault
        self.store = TokenStore()
        self.renewal = threading.Lock()
        self.signed_out = False

    def has(self, fault: str) -> bool:
        """Whether this mistake was planted."""
        return self.fault == fault

    # What each app adds.

    def run(self) -> None:
        """Signs in, makes the app's calls, signs out."""
        raise NotImplementedError

    def renew(self) -> None:
        """Gets a new token and stores it; SignedOut when the vendor gives none."""
        raise NotImplementedError

    def own_headers(self) -> dict[str, str]:
        """What the vendor wants with every call, such as an API key."""
        return {}

    def credentials(self, token: str) -> dict[str, str]:
        return {"authorization": f"Bearer {token}"}

    def is_expired(self, answer: Answer) -> bool:
        """Whether an answer says that the token has expired."""
        return answer.status == 401 or (answer.status == 403 and self.has("renews-on-403"))

    # Calls without a token.

    def call(
        self,
        method: str,
        url: str,
        *,
        form: dict | None = None,
        body: object = None,
        headers: dict | None = None,
        token: str | None = None,
        repeatable: bool | None = None,
        hops: int = 3,
    ) -> Answer:
        """Makes a call, and repeats it when it failed, a bounded number of times and only where that does no harm."""
        fields = {"accept": "application/json", **self.own_headers(), **(headers or {})}
        if token is None and self.has("token-everywhere"):
            token = self.store.get(url)
        if token is not None:
            fields |= self.credentials(token)
        content = None
        if form is not None:
            content, fields["content-type"] = urllib.parse.urlencode(form).encode(), "application/x-www-form-urlencoded"
        elif body is not None:
            content, fields["content-type"] = json.dumps(body).encode(), "application/json"

        may_repeat = (method in REPEATABLE) if repeatable is None else repeatable
        may_repeat = (may_repeat or self.has("repeats-post")) and not self.has("repeats-never")
        attempts = 12 if self.has("repeats-forever") else ATTEMPTS
        for attempt in range(1, attempts + 1):
            pause = PAUSE * 2 ** min(attempt - 1, 3)
            try:
                answer = exchange(method, url, fields, content)
            except Lost:
                if not may_repeat or attempt == attempts:
                    raise
                time.sleep(pause)
                continue
            if answer.status in (301, 302, 303, 307, 308) and method == "GET" and hops > 0:
                return self.follow(answer, url, headers, token, hops)
            # 429 says that nothing was done, whatever the method; after any other error that is not certain.
            if not (answer.status == 429 or (answer.status >= 500 and may_repeat)) or attempt == attempts:
                return answer
            wait = pause if answer.retry_after is None or self.has("ignores-retry-after") else answer.retry_after
            if wait > PATIENCE:
                return answer
            time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def follow(self, answer: Answer, url: str, headers: dict | None, token: str | None, hops: int) -> Answer:
        """Goes where an answer redirects to; the token stays behind when that is another host."""
        target = urllib.parse.urljoin(url, answer.headers.get("location", ""))
        if origin(target) != origin(url) and not self.has("token-follows-redirect"):
            token, headers = None, None
        return self.call("GET", target, headers=headers, token=token, hops=hops - 1)

    # Calls with a token.

    def authorized(self, method: str, url: str, **request) -> Answer:
        """Makes a call with the token; when it has expired, renews it once and repeats the call once."""
        if self.signed_out and not self.has("continues-signed-out"):
            raise SignedOut
        used = self.store.get(url)
        answer = self.call(method, url, token=used, **request)
        renewals = 0
        while self.is_expired(answer):
            if self.has("no-renewal") or (renewals > 0 and not self.has("endless-renewal")) or renewals > 8:
                self.end_session()
            renewals += 1
            self.renew_unless_done(url, used)
            if not self.has("repeats-with-old-token"):
                used = self.store.get(url)
            answer = self.call(method, url, token=used, **request)
        return answer

    def renew_unless_done(self, url: str, used: str | None) -> None:
        """Renews the token, once for all calls that were refused with the same one."""
        if self.has("renews-in-parallel"):
            return self.renew()
        with self.renewal:
            if self.signed_out:
                raise SignedOut
            if self.store.get(url) == used:
                self.renew()

    def end_session(self) -> None:
        """Forgets everything; the user has to sign in again."""
        self.signed_out = True
        if self.has("continues-signed-out"):
            return self.carry_on()
        self.store.clear()
        raise SignedOut

    def carry_on(self) -> None:
        """What an app does that does not notice the end of its session; an app with that mistake says which calls."""
        raise SignedOut

    def together(self, *calls: Callable[[], object]) -> list:
        """Makes calls at the same time, as the parts of a screen do; raises what the first that failed raised."""
        with ThreadPoolExecutor(len(calls)) as pool:
            return [work.result() for work in [pool.submit(call) for call in calls]]

    def expect(self, answer: Answer, *statuses: int) -> Answer:
        """The answer, if its status is one of these, or any success."""
        if answer.status in statuses or (not statuses and answer.ok):
            return answer
        raise Failed(f"found status {answer.status}; expected {statuses or 'success'}: {answer.body[:200]!r}")


# Tokens that the app verifies


def decoded(part: str) -> bytes:
    if "=" in part:
        raise Untrusted("padded base64url")
    try:
        return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except ValueError as error:
        raise Untrusted("not base64url") from error


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def parts_of(token: str) -> tuple[dict, dict, bytes, bytes]:
    """Header, claims, what is signed, and the signature of a compact token."""
    parts = token.split(".")
    if len(parts) != 3:
        raise Untrusted("not three parts")
    try:
        header, claims = json.loads(decoded(parts[0])), json.loads(decoded(parts[1]))
    except ValueError as error:
        raise Untrusted("not JSON") from error
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise Untrusted("not objects")
    return header, claims, f"{parts[0]}.{parts[1]}".encode(), decoded(parts[2])


class KeySet:
    """An issuer's public keys, fetched on first use, and once more for a kid that is not among them."""

    def __init__(self, app: App, fetch: Callable[[], list[dict]]):
        self.app = app
        self.fetch = fetch
        self.keys: list[dict] | None = None

    def find(self, kid: str | None) -> rsa.RSAPublicKey:
        rounds = 1 if self.app.has("keeps-keys") else 9 if self.app.has("fetches-keys-forever") else 2
        for attempt in range(rounds):
            if self.keys is None or attempt > 0:
                self.keys = self.fetch()
            for key in self.keys:
                if key.get("kty") == "RSA" and (key.get("kid") == kid or self.app.has("ignores-kid")):
                    n, e = (int.from_bytes(decoded(key[name]), "big") for name in ("n", "e"))
                    return rsa.RSAPublicNumbers(e, n).public_key()
        raise Untrusted(f"no key {kid}")


def verify(
    app: App,
    token: str,
    keys: KeySet,
    *,
    issuer: str | None = None,
    audience: str | None = None,
    nonce: str | None = None,
    tolerance: int = 300,
) -> dict:
    """The claims of a token signed with RS256; Untrusted unless it is whole, and from this issuer for this app and now.

    OpenID Connect Core, section 3.1.3.7. The tolerance is for clocks that differ, in seconds.
    """
    header, claims, signed, signature = parts_of(token)
    if header.get("alg") != "RS256":
        raise Untrusted(f"alg {header.get('alg')}")
    if not app.has("trusts-any-key"):
        key = keys.find(header.get("kid"))
        try:
            key.verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())
        except InvalidSignature as error:
            raise Untrusted("the signature does not match") from error
    if issuer is not None and claims.get("iss") != issuer and not app.has("ignores-issuer"):
        raise Untrusted(f"iss {claims.get('iss')}; expected {issuer}")
    named = claims.get("aud")
    named = named if isinstance(named, list) else [named]
    if audience is not None and audience not in named and not app.has("ignores-audience"):
        raise Untrusted(f"aud {named}; expected {audience}")
    if nonce is not None and claims.get("nonce") != nonce and not app.has("ignores-nonce"):
        raise Untrusted("another nonce")
    now = time.time()
    if not app.has("ignores-expiry"):
        if not isinstance(claims.get("exp"), int | float) or claims["exp"] + tolerance <= now:
            raise Untrusted("expired")
        if claims.get("iat", now) > now + tolerance:
            raise Untrusted("issued in the future")
    return claims


# The apps


def apps() -> dict[str, type[App]]:
    return {kind.vendor: kind for kind in App.__subclasses__()}


@dataclass(frozen=True)
class Fault:
    """A mistake that can be planted: what the app does, and for each vendor the behaviours that must find it."""

    says: str
    drills: dict[str, list[str]]

    @property
    def vendors(self) -> list[str]:
        return list(self.drills)


def all_faults() -> dict[str, Fault]:
    says = dict(MISTAKES)
    for kind in apps().values():
        says |= kind.own
    found = {
        name: {
            vendor: [f"{vendor}-{stem}" for stem in kind.found_by[name]]
            for vendor, kind in apps().items()
            if name in kind.found_by
        }
        for name in says
    }
    return {name: Fault(says[name], drills) for name, drills in found.items() if drills}


FAULTS = all_faults()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vendor", choices=sorted(apps()))
    parser.add_argument("--fault", choices=sorted(FAULTS))
    arguments = parser.parse_args()
    app = apps()[arguments.vendor](os.environ["UNDERSTUDY_URL"].rstrip("/"), arguments.fault)
    try:
        app.run()
    except (Lost, Failed, SignedOut, Untrusted) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
