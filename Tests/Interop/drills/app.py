"""A small, correct mobile client of each vendor, and the mistakes that can be planted in it.

    app.py VENDOR [--fault NAME]

It reads UNDERSTUDY_URL, signs in with an example account, makes a handful of calls, and ends: with 0 when all went
well, with 1 and a line when the user would have to sign in again or a call failed for good. It does what the RFCs and
the vendors' pages ask of a client; each mistake is one that apps make.
"""

import argparse
import base64
import contextlib
import email.utils
import hashlib
import hmac
import http.client
import json
import os
import secrets
import select
import socket
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

TIMEOUT = 5  # seconds without a byte
ATTEMPTS = 3  # at a call that may be repeated
PAUSE = 0.05  # seconds before the first repetition; the next ones wait twice as long
PATIENCE = 3  # seconds that the user waits when a server asks to come back later
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
    """What the apps have in common: calls, repeated only where that does no harm, and a token that is renewed."""

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
        # Where calls made together meet once they are refused, so that one mistake is made however busy the machine.
        self.refused: threading.Barrier | None = None

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
        is_own_host: bool = True,
        hops: int = 3,
    ) -> Answer:
        """Makes a call, and repeats it when it failed, a bounded number of times and only where that does no harm."""
        fields = {"accept": "application/json", **(self.own_headers() if is_own_host else {}), **(headers or {})}
        if token is None and method == "GET" and self.has("token-everywhere"):
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
            if answer.status == 429 and self.has("reads-only-error"):
                return answer
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
        stays = origin(target) == origin(url)
        return self.call(
            "GET",
            target,
            headers=headers if stays else None,
            token=token if stays else None,
            is_own_host=stays,
            hops=hops - 1,
        )

    # Calls with a token.

    def authorized(self, method: str, url: str, **request) -> Answer:
        """Makes a call with the token; when it has expired, renews it once and repeats the call once."""
        used = self.token(url)
        answer = self.call(method, url, token=used, **request)
        renewals = 0
        while self.is_expired(answer):
            if self.has("no-renewal") or (renewals > 0 and not self.has("endless-renewal")) or renewals > 8:
                self.end_session()
                return answer
            renewals += 1
            try:
                self.renew_unless_done(url, used)
            except SignedOut:
                if not self.has("endless-renewal"):
                    self.end_session()
                    return answer
            if not self.has("repeats-with-old-token"):
                used = self.token(url)
            answer = self.call(method, url, token=used, **request)
        return answer

    def token(self, url: str) -> str:
        """The token for a call to that host; SignedOut without one."""
        token = self.store.get(url)
        if token is None:
            raise SignedOut("there is no token")
        return token

    def renew_unless_done(self, url: str, used: str | None) -> None:
        """Renews the token, once for all calls that were refused with the same one."""
        if self.has("renews-in-parallel"):
            if refused := self.refused:
                with contextlib.suppress(threading.BrokenBarrierError):
                    refused.wait(TIMEOUT)
            return self.renew()
        with self.renewal:
            if self.token(url) == used:
                self.renew()

    def end_session(self) -> None:
        """Forgets everything; the user has to sign in again."""
        if self.has("continues-signed-out"):
            return
        self.store.clear()
        raise SignedOut("the session has ended")

    def together(self, *calls: Callable[[], object]) -> list:
        """Makes calls at the same time, as the parts of a screen do; raises what the first that failed raised."""
        self.refused = threading.Barrier(len(calls))
        try:
            with ThreadPoolExecutor(len(calls)) as pool:
                return [work.result() for work in [pool.submit(call) for call in calls]]
        finally:
            self.refused = None

    def expect(self, answer: Answer, *statuses: int) -> Answer:
        """The answer, if its status is one of these, or any success."""
        if answer.status in statuses or (not statuses and answer.ok):
            return answer
        if answer.status == 401 and self.has("continues-signed-out"):
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
    """An issuer's public keys: fetched on first use, and once more when those at hand do not verify a token."""

    def __init__(self, app: App, fetch: Callable[[], list[dict]]):
        self.app = app
        self.fetch = fetch
        self.keys: list[dict] | None = None

    def check(self, kid: str | None, signed: bytes, signature: bytes) -> None:
        """Untrusted unless the key of that kid made the signature."""
        if self.keys is None:
            self.keys, fetches = self.fetch(), 0
        else:
            fetches = 0 if self.app.has("keeps-keys") else 1
        if self.app.has("fetches-keys-forever"):
            fetches = 8
        while not self.has_made(kid, signed, signature):
            if fetches == 0:
                raise Untrusted(f"no published key {kid} made the signature")
            fetches -= 1
            self.keys = self.fetch()

    def has_made(self, kid: str | None, signed: bytes, signature: bytes) -> bool:
        candidates = [key for key in self.keys or [] if key.get("kty") == "RSA"]
        chosen = candidates[:1] if self.app.has("ignores-kid") else [key for key in candidates if key.get("kid") == kid]
        for key in chosen:
            n, e = (int.from_bytes(decoded(key[name]), "big") for name in ("n", "e"))
            with contextlib.suppress(InvalidSignature):
                rsa.RSAPublicNumbers(e, n).public_key().verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())
                return True
        return False


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
        keys.check(header.get("kid"), signed, signature)
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


class Rezolve(App):
    """Signs in at RUA, whose token opens the core; RUA's ping renews it."""

    vendor = "rezolve"
    found_by = {
        "no-renewal": ["expires-between-calls", "expires-before-first-call"],
        "endless-renewal": ["refused-for-ever", "renewal-repeats-token"],
        "renews-on-403": ["access-denied", "customer-removed"],
        "repeats-with-old-token": ["expires-between-calls"],
        "renews-in-parallel": ["renewal-slow"],
        "repeats-post": ["write-lost", "write-unavailable"],
        "repeats-forever": ["reads-reset-for-ever", "renewal-down", "change-reset"],
        "repeats-never": ["read-reset", "read-truncated"],
        "ignores-retry-after": ["busy-asks-to-wait"],
        "continues-signed-out": ["renewal-refused"],
        "token-to-other-vendor": ["token-elsewhere"],
        "trusts-own-clock": ["clock-behind"],
        "sends-no-token": ["renewal-empty"],
        "keeps-token-after-sign-out": ["signed-out", "sign-out-lost"],
        "repeats-sign-in": ["sign-in-refused"],
        "loses-write": ["write-expires"],
    }
    own = {
        "token-to-other-vendor": "It sends the token of one vendor to another.",
        "trusts-own-clock": "It renews the token before each call that comes after exp by the phone's own clock.",
        "sends-no-token": "It does not look whether a renewal brought a token, and sends the text None as one.",
        "keeps-token-after-sign-out": "It makes a call with the token after the user signed out.",
        "repeats-sign-in": "It repeats a sign-in that was refused, with the same password.",
        "loses-write": "It loses a change that the user made while the token expired.",
    }

    API_KEY = "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6"
    USER, PASSWORD = "ada@example.test", "not-a-secret-1"
    PHONE = {"name": "Mobile", "phone": "+15550177"}

    entity = ""

    def own_headers(self) -> dict[str, str]:
        return {"x-rezolve-partner-apikey": self.API_KEY, "x-rezolve-device-id": "phone-of-ada"}

    def credentials(self, token: str) -> dict[str, str]:
        # RUA's value goes back as it came, with its scheme.
        return {"authorization": token}

    def run(self) -> None:
        self.sign_in()
        self.read("profile")
        self.together(lambda: self.read("addressbook"), lambda: self.read("wallet"))
        self.add_phone()
        self.change("PUT", "profile", {"name": "Ada L"}, 200)
        self.read("profile")
        if self.has("token-to-other-vendor"):
            event = {"customer_ids": {"registered": self.entity}, "event_type": "app_opened", "properties": {}}
            url = f"{self.base}/track/v2/projects/demo-project-1/customers/events"
            self.call("POST", url, body=event, token=self.token(self.base))
        self.sign_out()

    def sign_in(self) -> None:
        account = {"username": self.USER, "password": self.PASSWORD, "deviceId": "phone-of-ada"}
        for _ in range(5 if self.has("repeats-sign-in") else 1):
            # Signing in twice does no harm, so it is repeated when an answer is lost.
            answer = self.call("POST", f"{self.base}/v2/credentials/login", body=account, repeatable=True)
            if answer.ok:
                break
        if answer.status == 401:
            raise SignedOut("wrong name or password")
        user = self.expect(answer).json()
        token = answer.headers.get("authorization")
        if not token:
            raise Failed("a sign-in without a token")
        self.entity = user["sdkEntity"]
        self.store.put(self.base, token)

    def renew(self) -> None:
        answer = self.call("GET", f"{self.base}/v2/credentials/ping", token=self.token(self.base))
        if answer.status in (401, 403):
            raise SignedOut("RUA does not renew the token")
        token = self.expect(answer).json().get("accessToken")
        if not token and not self.has("sends-no-token"):
            raise Failed("a renewal without a token")
        self.store.put(self.base, str(token))

    def authorized(self, method: str, url: str, **request) -> Answer:
        if self.has("trusts-own-clock"):
            _, claims, _, _ = parts_of(self.token(url).removeprefix("Bearer "))
            if claims["exp"] <= time.time():
                self.renew()
        return super().authorized(method, url, **request)

    def customer(self, path: str) -> str:
        return f"{self.base}/api/v1/partner/317/customer/{self.entity}/{path}"

    def read(self, path: str):
        answer = self.expect(self.authorized("GET", self.customer(path)))
        return answer.json() if answer.ok else None

    def change(self, method: str, path: str, body: dict, status: int) -> None:
        url = self.customer(path)
        if self.has("loses-write"):
            # Without the repetition, what the user entered is gone.
            if self.call(method, url, body=body, token=self.token(url)).status == 401:
                self.renew()
            return
        self.expect(self.authorized(method, url, body=body), status)

    def add_phone(self) -> None:
        """Adds a phone to the book; when the answer is lost, it looks whether the phone is there."""
        try:
            self.change("POST", "phonebook", self.PHONE, 201)
        except Lost:
            phones = self.read("phonebook")["phones"]
            if not any(phone["phone"] == self.PHONE["phone"] for phone in phones):
                raise

    def sign_out(self) -> None:
        token = self.token(self.base)
        self.store.clear()
        with contextlib.suppress(Lost):
            self.call("POST", f"{self.base}/v1/user/logout", token=token, repeatable=True)
        if self.has("keeps-token-after-sign-out"):
            self.call("GET", self.customer("profile"), token=token)


class Okta(App):
    """Signs in by code with PKCE, verifies ID tokens, renews by refresh token, and lets a television sign in."""

    vendor = "okta"
    found_by = {
        "no-renewal": ["expires-between-calls"],
        "endless-renewal": ["refused-for-ever", "session-ended-elsewhere"],
        "renews-on-403": ["scope-insufficient"],
        "repeats-with-old-token": ["expires-between-calls"],
        "renews-in-parallel": ["renewal-slow"],
        "repeats-post": ["code-answer-lost"],
        "repeats-forever": ["keys-down", "renewal-down", "reads-reset-for-ever"],
        "repeats-never": ["read-reset", "read-truncated", "keys-down-once"],
        "ignores-retry-after": ["busy-asks-to-wait"],
        "token-everywhere": ["token-elsewhere"],
        "continues-signed-out": ["renewal-refused"],
        "trusts-any-key": ["id-token-forged", "id-token-tampered", "renewal-forged"],
        "keeps-keys": ["keys-replaced", "keys-same-kid"],
        "fetches-keys-forever": ["id-token-unknown-kid"],
        "ignores-issuer": ["id-token-wrong-issuer"],
        "ignores-audience": ["id-token-wrong-audience"],
        "ignores-nonce": ["id-token-wrong-nonce", "id-token-no-nonce"],
        "ignores-expiry": ["id-token-expired"],
        "accepts-alg-none": ["id-token-unsigned"],
        "ignores-state": ["state-replayed"],
        "ignores-other-user": ["renewal-other-user"],
        "keeps-old-refresh-token": ["refresh-token-rotated"],
        "no-tolerance": ["clock-ahead"],
        "polls-after-refusal": ["device-denied", "device-code-expired"],
        "polls-too-fast": ["device-pending"],
        "keeps-token-after-sign-out": ["signed-out", "sign-out-lost"],
        "repeats-code": ["code-rejected"],
        "reads-only-error": ["renewal-rate-limited"],
        "ignores-kid": ["id-token-unknown-kid"],
    }
    own = {
        "accepts-alg-none": "It lets a token say itself that it is not signed.",
        "ignores-state": "It does not check that an answer belongs to its own authorization request.",
        "ignores-other-user": "It takes a renewed ID token of another user.",
        "keeps-old-refresh-token": "It keeps the first refresh token, although each renewal brings another.",
        "no-tolerance": "It refuses tokens of an issuer whose clock is a little ahead.",
        "polls-after-refusal": "It goes on asking for a token after the user refused, or after the code expired.",
        "polls-too-fast": "It asks for a token more often than the interval allows.",
        "keeps-token-after-sign-out": "It makes a call with the token after the user signed out.",
        "repeats-code": "It redeems a refused code once more.",
        "reads-only-error": "It takes 429 with invalid_grant for the end of its refresh token.",
    }

    CLIENT, REDIRECT = "0oaunderstudynative1", "com.example.app:/callback"
    TELEVISION = "0oaunderstudytv00001"
    SCOPE = "openid profile email offline_access"

    def run(self) -> None:
        self.user = None
        self.discover()
        self.sign_in()
        self.read_user()
        self.together(self.read_user, self.read_user)
        self.resume()
        self.read_user()
        self.sign_in_television()
        self.sign_out()

    def resume(self) -> None:
        """Comes back from the background, where a token may have expired."""
        try:
            self.renew_unless_done(self.userinfo, self.token(self.userinfo))
        except SignedOut:
            self.end_session()

    # Before the sign-in

    def discover(self) -> None:
        issuer = f"{self.base}/oauth2/default"
        document = self.expect(self.call("GET", f"{issuer}/.well-known/openid-configuration")).json()
        if document["issuer"] != issuer:
            raise Untrusted(f"a document of {document['issuer']}; expected {issuer}")
        self.issuer, self.document, self.userinfo = issuer, document, document["userinfo_endpoint"]
        self.keys = KeySet(self, lambda: self.expect(self.call("GET", document["jwks_uri"])).json()["keys"])

    # Tokens

    def sign_in(self) -> None:
        verifier, state, nonce = (secrets.token_urlsafe(32) for _ in range(3))
        query = {
            "client_id": self.CLIENT,
            "redirect_uri": self.REDIRECT,
            "response_type": "code",
            "scope": self.SCOPE,
            "state": state,
            "nonce": nonce,
            "code_challenge": encoded(hashlib.sha256(verifier.encode()).digest()),
            "code_challenge_method": "S256",
        }
        url = f"{self.document['authorization_endpoint']}?{urllib.parse.urlencode(query)}"
        # What a browser would open, and the redirect that would open the app again.
        redirect = self.expect(self.call("GET", url, hops=0), 302).headers["location"]
        if not redirect.startswith(self.REDIRECT):
            raise Failed(f"a redirect to {redirect}")
        found = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(redirect).query))
        if found.get("state") != state and not self.has("ignores-state"):
            raise Untrusted("an answer to another authorization request")
        if "code" not in found:
            raise Failed(f"the sign-in ended with {found.get('error')}")
        form = {
            "grant_type": "authorization_code",
            "client_id": self.CLIENT,
            "redirect_uri": self.REDIRECT,
            "code": found["code"],
            "code_verifier": verifier,
        }
        # A code works once, so this is not repeated: RFC 6749, section 4.1.2.
        answer = self.call("POST", self.document["token_endpoint"], form=form)
        if not answer.ok and self.has("repeats-code"):
            answer = self.call("POST", self.document["token_endpoint"], form=form)
        self.accept(self.expect(answer).json(), nonce)

    def renew(self) -> None:
        form = {"grant_type": "refresh_token", "client_id": self.CLIENT, "refresh_token": self.refresh_token}
        # Okta keeps a replaced refresh token alive for some seconds, so that a lost answer can be asked for again.
        answer = self.call("POST", self.document["token_endpoint"], form=form, repeatable=True)
        if answer.status in (400, 401) or (answer.status == 429 and self.has("reads-only-error")):
            raise SignedOut(f"no renewal: {answer.body[:200]!r}")
        self.accept(self.expect(answer).json(), None)

    def accept(self, tokens: dict, nonce: str | None) -> None:
        """Keeps the tokens of an answer if its ID token is in order."""
        if not tokens.get("access_token") or not tokens.get("id_token"):
            raise Failed("an answer without tokens")
        claims = self.verified(tokens["id_token"], self.CLIENT, nonce)
        if self.user not in (None, claims["sub"]) and not self.has("ignores-other-user"):
            raise Untrusted(f"sub {claims['sub']}; expected {self.user}")
        self.user, self.id_token = claims["sub"], tokens["id_token"]
        self.store.put(self.userinfo, tokens["access_token"])
        if nonce is not None or not self.has("keeps-old-refresh-token"):
            self.refresh_token = tokens.get("refresh_token") or self.refresh_token

    def verified(self, token: str, audience: str, nonce: str | None) -> dict:
        if self.has("accepts-alg-none"):
            header, claims, _, _ = parts_of(token)
            if header.get("alg") == "none":
                return claims
        tolerance = 0 if self.has("no-tolerance") else 300
        return verify(
            self, token, self.keys, issuer=self.issuer, audience=audience, nonce=nonce, tolerance=tolerance
        )

    # Calls

    def read_user(self) -> None:
        answer = self.expect(self.authorized("GET", self.userinfo))
        # OpenID Connect Core, section 5.3.2: what belongs to another user is not used.
        if answer.ok and answer.json().get("sub") != self.user:
            raise Untrusted("the details of another user")

    def sign_out(self) -> None:
        token, self.user = self.token(self.userinfo), None
        self.store.clear()
        form = {"client_id": self.CLIENT, "token": self.refresh_token, "token_type_hint": "refresh_token"}
        with contextlib.suppress(Lost):
            self.call("POST", self.document["revocation_endpoint"], form=form, repeatable=True)
        query = urllib.parse.urlencode({"id_token_hint": self.id_token})
        url = f"{self.document['end_session_endpoint']}?{query}"
        with contextlib.suppress(Lost):
            self.call("GET", url, token=token if self.has("token-everywhere") else None, hops=0)
        if self.has("keeps-token-after-sign-out"):
            self.call("GET", self.userinfo, token=token)

    # A television: RFC 8628

    def sign_in_television(self) -> None:
        form = {"client_id": self.TELEVISION, "scope": "openid"}
        grant = self.expect(self.call("POST", self.document["device_authorization_endpoint"], form=form)).json()
        self.allow(grant["verification_uri_complete"])
        interval, polls = grant.get("interval", 5), 0
        form = {
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
            "client_id": self.TELEVISION,
            "device_code": grant["device_code"],
        }
        while polls < 6:
            polls += 1
            answer = self.call("POST", self.document["token_endpoint"], form=form, repeatable=True)
            if answer.ok:
                self.verified(answer.json()["id_token"], self.TELEVISION, None)
                return
            error = answer.json().get("error")
            if error == "slow_down":
                interval += 5
            elif error != "authorization_pending" and not self.has("polls-after-refusal"):
                raise Failed(f"the television is not signed in: {error}")
            time.sleep(PAUSE if self.has("polls-too-fast") or self.has("polls-after-refusal") else interval)
            if polls == 2:
                self.allow(grant["verification_uri_complete"])
        raise Failed("nobody let the television sign in")

    def allow(self, address: str) -> None:
        """What the user does in a browser, on the page whose address the television shows."""
        page = exchange("GET", address, {"accept": "application/json"}, None)
        if not page.ok:
            return
        form = {name: value for name, value in page.json().items() if name in ("tx", "csrf", "user_code")}
        cookie = (page.headers.get("set-cookie") or "").partition(";")[0]
        headers = {
            "accept": "application/json",
            "content-type": "application/x-www-form-urlencoded",
            "cookie": cookie,
        }
        exchange("POST", address.partition("?")[0], headers, urllib.parse.urlencode(form).encode())


# Bloomreach, Comapi, IMS


class Punctual:
    """Knows the server's time from the Date of its answers: RFC 9110, section 6.6.1. A phone's clock may be wrong."""

    offset = 0.0

    def call(self, *arguments, **request) -> Answer:
        answer = super().call(*arguments, **request)
        date = answer.headers.get("date")
        if date is not None and not self.has("ignores-server-time"):
            self.offset = email.utils.parsedate_to_datetime(date).timestamp() - time.time()
        return answer

    def now(self) -> float:
        return time.time() + self.offset


@dataclass
class Tracked:
    """Something tracked that the backend does not have yet."""

    path: str
    body: dict
    failures: int = 0


class Bloomreach(Punctual, App):
    """Tracks with the project's key, and reads the app inbox with a token for the customer who is signed in."""

    vendor = "bloomreach"
    project, key, signing_key = "demo-project-1", "pubkey-demo-1", "privkey-demo-1"
    own = {
        "ignores-subject": "It does not check for which customer a token was issued.",
        "keeps-token-of-former-customer": "It fetches for a customer with the token of the one before.",
        "renews-what-says-expired": "It renews its token only when the answer says token_expired.",
        "keeps-expired-token": "It keeps the expired token while no new one can be had.",
        "token-to-other-vendor": "It sends the token of one vendor to another.",
        "swaps-credentials": "It tracks with the customer's token when the project's key was refused.",
        "drops-unsent": "It drops what it could not track when the backend was unavailable.",
        "stamps-no-time": "It tracks without the time, so that late events seem to have happened late.",
        "tracks-forever": "It sends what was rejected again and again.",
        "keeps-sync-token": "It goes on with a sync token that was answered by 410.",
        "resyncs-forever": "It fetches the inbox again and again while it is answered by 410.",
        "stops-with-inbox": "Without an inbox it tracks nothing either.",
        "forgets-read-marks": "It does not mark a message again when the first answer was lost.",
        "ignores-server-time": "It takes the phone's time for the server's.",
    }
    found_by = {
        "no-renewal": ["expires-between-calls", "signing-key-replaced"],
        "endless-renewal": ["refused-for-ever", "tokens-always-forged"],
        "renews-on-403": ["forbidden"],
        "repeats-with-old-token": ["expires-between-calls"],
        "renews-in-parallel": ["renewal-slow"],
        "repeats-never": ["renewal-answer-lost", "consents-unreadable"],
        "ignores-retry-after": ["tracking-rate-limited"],
        "token-to-other-vendor": ["token-elsewhere"],
        "swaps-credentials": ["project-key-refused"],
        "ignores-subject": ["token-of-another-customer"],
        "keeps-token-of-former-customer": ["customer-changes"],
        "renews-what-says-expired": ["signing-key-replaced", "forged-token-handed-out"],
        "keeps-expired-token": ["renewal-fails"],
        "drops-unsent": ["identify-unavailable", "events-unavailable"],
        "stamps-no-time": ["events-unavailable"],
        "tracks-forever": ["tracking-rejected"],
        "keeps-sync-token": ["inbox-out-of-sync"],
        "resyncs-forever": ["inbox-always-out-of-sync"],
        "stops-with-inbox": ["renewal-fails", "tokens-always-forged"],
        "forgets-read-marks": ["read-mark-lost"],
        "ignores-server-time": ["clock-ahead"],
    }

    def run(self) -> None:
        self.queue: list[Tracked] = []
        self.is_closed = False
        self.quiet_until = 0.0
        self.troubles: list[Exception] = []
        self.sign_in("ana@example.test")
        self.attempt(self.show_inbox)
        consents = f"{self.base}/data/v2/projects/{self.project}/consent/categories"
        self.attempt(lambda: self.expect(self.call("GET", consents, headers=self.project_key())))
        for event in ("view_item", "cart_update", "purchase"):
            self.track("customers/events", event_type=event)
            self.flush()
        self.attempt(self.show_inbox)
        self.attempt(lambda: self.together(self.show_inbox, self.show_badge))
        if self.has("token-to-other-vendor"):
            self.call("GET", f"{self.base}/ims/v1/me", token=self.token(self.base))
        self.sign_in("ben@example.test")
        self.attempt(self.show_inbox)
        self.track("customers/events", event_type="session_end")
        for turn in range(30 if self.has("tracks-forever") else 6):
            if not self.flush():
                time.sleep(PAUSE * 2 ** min(turn, 2))
        if self.queue:
            raise Failed(f"{len(self.queue)} things were not tracked")
        if self.troubles:
            raise self.troubles[0]

    def attempt(self, part: Callable[[], object]) -> None:
        """Does one part of the app; the other parts work without it."""
        try:
            part()
        except (Lost, Failed, SignedOut, Untrusted) as trouble:
            if self.has("stops-with-inbox"):
                raise
            self.troubles.append(trouble)

    def sign_in(self, registered: str) -> None:
        """A token is good for one customer only, and so is a sync token."""
        self.customer = {"registered": registered}
        self.ids = {"cookie": secrets.token_hex(16), "registered": registered}
        self.sync_token: str | None = None
        self.is_closed = False
        if not self.has("keeps-token-of-former-customer"):
            self.store.clear()
        self.track("customers", properties={"platform": "iOS"})
        self.flush()

    # Tracking, with the project's key

    def project_key(self) -> dict[str, str]:
        return {"authorization": f"Token {self.key}"}

    def track(self, path: str, **body) -> None:
        body = {"customer_ids": self.ids, "properties": {}, **body}
        if not self.has("stamps-no-time"):
            body["timestamp"] = round(self.now(), 3)
        self.queue.append(Tracked(path, body))

    def flush(self) -> bool:
        """Sends what was tracked, in order; keeps what the backend could not take, and drops what it does not want."""
        while self.queue and time.time() >= self.quiet_until:
            tracked = self.queue[0]
            url = f"{self.base}/track/v2/projects/{self.project}/{tracked.path}"
            try:
                answer = self.call("POST", url, body=tracked.body, headers=self.project_key())
                if answer.status == 401 and self.has("swaps-credentials"):
                    answer = self.call("POST", url, body=tracked.body, token=self.store.get(url))
            except Lost:
                return False
            if answer.status == 429:
                self.quiet_until = time.time() + (answer.retry_after or 1)
            if answer.status == 429 or answer.status >= 500:
                if self.has("drops-unsent"):
                    self.queue.pop(0)
                return False
            if not answer.ok:
                tracked.failures += 1
                if tracked.failures < 3 or self.has("tracks-forever"):
                    return False
                self.troubles.append(Failed(f"{tracked.path}: {answer.status}"))
            self.queue.pop(0)
        return not self.queue

    # The app inbox, with the customer's token

    def is_expired(self, answer: Answer) -> bool:
        if self.has("renews-what-says-expired") and b'"token_expired":true' not in answer.body:
            return False
        return super().is_expired(answer)

    def authorized(self, method: str, url: str, **request) -> Answer:
        if self.is_closed:
            raise SignedOut("no inbox for this customer now")
        with self.renewal:
            if self.store.get(url) is None or self.expires <= self.now():
                self.renew()
        return super().authorized(method, url, **request)

    def renew(self) -> None:
        """Asks the app's own backend for a token; no further call is made with the old one."""
        if not self.has("keeps-expired-token"):
            self.store.clear()
        try:
            for _ in range(2):
                with contextlib.suppress(Untrusted):
                    return self.take_token()
            raise Untrusted("no token for this customer and now")
        except (Lost, Failed, Untrusted):
            self.is_closed = not self.has("keeps-expired-token")
            raise

    def end_session(self) -> None:
        self.is_closed = True
        super().end_session()

    def take_token(self) -> None:
        order = {"project_id": self.project, "kid": self.signing_key, "sub": self.customer}
        if self.has("ignores-server-time"):
            order["exp"] = int(time.time()) + 3600
        url = f"{self.base}/webxp/exampleapp/customertokens"
        token = self.expect(self.call("POST", url, body=order, repeatable=True)).json()["customer_token"]
        claims = parts_of(token)[1]
        if claims.get("sub") != self.customer and not self.has("ignores-subject"):
            raise Untrusted(f"sub {claims.get('sub')}")
        if claims.get("exp", 0) <= self.now():
            raise Untrusted("expired")
        self.expires = claims["exp"]
        self.store.put(self.base, token)

    def fetch(self) -> Answer:
        body = {"customer_ids": self.ids, "application_id": "default-application"}
        if self.sync_token is not None:
            body["sync_token"] = self.sync_token
        url = f"{self.base}/webxp/projects/{self.project}/appinbox/fetch"
        return self.authorized("POST", url, body=body, repeatable=True)  # reading, whatever the method says

    def show_inbox(self) -> None:
        answer = self.fetch()
        for _ in range(20 if self.has("resyncs-forever") else 1):
            if answer.status != 410:
                break
            if not self.has("keeps-sync-token"):
                self.sync_token = None
            answer = self.fetch()
        inbox = self.expect(answer).json()
        self.sync_token = inbox.get("sync_token")
        for message in [message for message in inbox["messages"] if not message["is_read"]][:1]:
            body = {"customer_ids": self.ids, "message_ids": [message["id"]], "sync_token": self.sync_token}
            url = f"{self.base}/webxp/projects/{self.project}/appinbox/markasread"
            # A message that is read stays read, so marking it twice does no harm.
            self.expect(self.authorized("POST", url, body=body, repeatable=not self.has("forgets-read-marks")))

    def show_badge(self) -> None:
        self.expect(self.fetch(), 200, 410)


class Refused(Exception):
    """A socket was not opened; holds the status."""


class Socket:
    """A client's side of RFC 6455, as far as the app needs it: reads texts, answers pings, notices the end."""

    def __init__(self, url: str):
        parts = urllib.parse.urlsplit(url)
        self.connection = socket.create_connection((parts.hostname, parts.port or 80), TIMEOUT)
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        self.connection.sendall(
            f"GET {parts.path}?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: Upgrade\r\n"
            f"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
        )
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.read(1)
        status = int(head.split()[1])
        if status != 101:
            self.connection.close()
            raise Refused(status)

    def read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = self.connection.recv(count - len(data))
            if not part:
                raise Lost("the socket ended")
            data += part
        return data

    def send(self, opcode: int, payload: bytes) -> None:
        mask = secrets.token_bytes(4)
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
        self.connection.sendall(bytes([0x80 | opcode, 0x80 | len(payload)]) + mask + masked)

    def receive(self, seconds: float) -> dict | None:
        """The next event; None when none comes in time, and Lost when the server closes the socket."""
        ready, _, _ = select.select([self.connection], [], [], seconds)
        if not ready:
            return None
        try:
            first, length = self.read(2)
            if length > 125:
                length = int.from_bytes(self.read(2 if length == 126 else 8), "big")
            payload = self.read(length)
        except OSError as error:
            raise Lost("the socket broke") from error
        if first & 0x0F == 8:
            with contextlib.suppress(OSError):
                self.send(8, payload[:2])
            raise Lost(f"the socket was closed with {int.from_bytes(payload[:2], 'big')}")
        if first & 0x0F == 9:
            self.send(10, payload)
        return json.loads(payload) if first & 0x0F == 1 else {}

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.send(8, (1000).to_bytes(2, "big"))
            self.connection.close()


class Comapi(Punctual, App):
    """Begins a session by answering a challenge, talks in a conversation, and hears of it through a socket."""

    vendor = "comapi"
    space = "b1f0c3d2-5a47-4c1e-9d88-0e6a7f2b4c15"
    user, other_user = "mira", "bob"
    issuer, audience = "https://api.comapi.com/defaultauth", "https://api.comapi.com"
    secret = b"understudy-test-shared-secret-A"
    own = {
        "token-to-other-vendor": "It sends the token of one vendor to another.",
        "answers-twice": "It sends the answer to a challenge again when that was lost or refused.",
        "ignores-space": "It does not check for which space a session's token is.",
        "counts-milliseconds": "It signs its answers with times in milliseconds.",
        "answers-live-a-minute": "It signs its answers for a minute by the phone's clock.",
        "overwrites": "It writes without If-Match after a 412.",
        "drops-changes": "It drops a change that was answered by 412.",
        "gives-up-at-409": "It takes its own conversation for somebody else's after a lost answer.",
        "another-id-at-409": "It makes a second conversation when the first one is there already.",
        "drops-refused-messages": "It renews, but drops the message that was refused.",
        "never-reconnects": "It does not connect again when its socket closes.",
        "reconnects-without-pause": "It connects again at once, and without end.",
        "reads-nothing-missed": "It does not read what it missed while its socket was closed.",
        "socket-keeps-token": "It opens its sockets with the token that it had first.",
        "keeps-token-after-sign-out": "It makes a call with the token after the user signed out.",
        "signs-in-to-sign-out": "It begins a session in order to end one whose answer was lost.",
        "forgets-push": "It registers for pushes in its first session only.",
        "ignores-server-time": "It takes the phone's time for the server's.",
    }
    found_by = {
        "no-renewal": ["expires-between-calls", "session-ended-elsewhere", "session-forgotten"],
        "endless-renewal": ["refused-for-ever"],
        "renews-on-403": ["forbidden"],
        "repeats-with-old-token": ["expires-between-calls"],
        "renews-in-parallel": ["renewal-slow"],
        "repeats-post": ["message-answer-lost"],
        "repeats-forever": ["reads-unavailable-for-ever"],
        "repeats-never": ["reads-unavailable"],
        "ignores-retry-after": ["rate-limited", "busy-asks-to-wait"],
        "token-everywhere": ["token-in-content-request"],
        "continues-signed-out": ["renewal-refused"],
        "token-to-other-vendor": ["token-elsewhere"],
        "answers-twice": ["nonce-replayed", "sign-in-answer-lost"],
        "ignores-space": ["session-of-another-space"],
        "counts-milliseconds": ["times-in-milliseconds"],
        "answers-live-a-minute": ["clock-ahead"],
        "overwrites": ["profile-changed-elsewhere"],
        "drops-changes": ["profile-changed-elsewhere"],
        "gives-up-at-409": ["conversation-answer-lost"],
        "another-id-at-409": ["conversation-answer-lost"],
        "drops-refused-messages": ["expires-while-sending"],
        "never-reconnects": ["socket-drops"],
        "reconnects-without-pause": ["socket-refused"],
        "reads-nothing-missed": ["socket-drops"],
        "socket-keeps-token": ["socket-of-expired-session"],
        "keeps-token-after-sign-out": ["signed-out"],
        "signs-in-to-sign-out": ["sign-out-lost"],
        "forgets-push": ["push-lost-with-session"],
        "ignores-server-time": ["clock-behind"],
    }

    def run(self) -> None:
        self.at = f"{self.base}/apispaces/{self.space}"
        self.session: str | None = None
        self.socket: Socket | None = None
        self.socket_token: str | None = None
        self.has_push = False
        self.quiet = False
        self.failed: list[str] = []
        self.latest = 0
        self.conversation = f"trip-{secrets.token_hex(4)}"
        self.renew()
        self.register_push()
        self.connect(tries=3)
        self.change_profile()
        self.together(
            lambda: self.expect(self.authorized("GET", f"{self.at}/conversations")),
            lambda: self.expect(self.authorized("GET", f"{self.at}/profiles/{self.user}")),
        )
        self.begin_conversation()
        for text in ("Hello", "Who brings what?", "I have the tent."):
            self.send(text)
        self.expect(self.authorized("GET", f"{self.talk}/messages?limit=10"))
        self.share_picture()
        if self.has("token-to-other-vendor"):
            self.call("GET", f"{self.base}/ims/v1/me", token=self.token(self.at))
        self.listen(0.1)
        self.sign_off()
        if self.failed:
            raise Failed(f"not sent: {', '.join(self.failed)}")

    @property
    def talk(self) -> str:
        return f"{self.at}/conversations/{self.conversation}"

    # The session

    def answer_to(self, nonce: str) -> str:
        """The app's own token: a backend would sign it, since the secret belongs on no phone."""
        now, life = (time.time(), 60) if self.has("answers-live-a-minute") else (self.now(), 86_400)
        unit = 1000 if self.has("counts-milliseconds") else 1
        claims = {
            "sub": self.user, "iss": self.issuer, "aud": self.audience, "nonce": nonce,
            "iat": int(now * unit), "exp": int((now + life) * unit),
        }
        signed = ".".join(encoded(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
        return f"{signed}.{encoded(hmac.digest(self.secret, signed.encode(), 'sha256'))}"

    def renew(self) -> None:
        """Begins a session. A challenge is answered once; after any trouble the next one is."""
        body = None
        for _ in range(3):
            if body is None or not self.has("answers-twice"):
                challenge = self.expect(self.call("GET", f"{self.at}/sessions/start")).json()
                body = {
                    "authenticationId": challenge["authenticationId"],
                    "authenticationToken": self.answer_to(challenge["nonce"]),
                    "deviceId": "phone-1", "platform": "iOS", "platformVersion": "18.2",
                    "sdkType": "native", "sdkVersion": "2.2.0",
                }
            try:
                answer = self.call("POST", f"{self.at}/sessions", body=body)
                if answer.ok:
                    return self.begin_session(answer.json())
            except (Lost, Untrusted):
                continue
        self.end_session()

    def begin_session(self, begun: dict) -> None:
        token = begun["token"]
        claims = parts_of(token)[1]
        if claims.get("apiSpaceId") != self.space and not self.has("ignores-space"):
            raise Untrusted(f"a session of space {claims.get('apiSpaceId')}")
        if claims.get("exp", 0) <= self.now():
            raise Untrusted("expired")
        self.session, self.expires = begun["session"]["id"], claims["exp"]
        self.store.put(self.at, token)
        if self.has_push and not self.has("forgets-push"):
            self.call("PUT", f"{self.at}/sessions/{self.session}/push", body=PUSH, token=token)

    def authorized(self, method: str, url: str, **request) -> Answer:
        used = self.store.get(url)
        if used is not None and self.expires <= self.now():
            self.renew_unless_done(url, used)
        return super().authorized(method, url, **request)

    def register_push(self) -> None:
        self.has_push = True
        self.expect(self.authorized("PUT", f"{self.at}/sessions/{self.session}/push", body=PUSH))

    def sign_off(self) -> None:
        """Ends the session, which it counts as ended whatever comes back."""
        if self.socket is not None:
            self.socket.close()
        url, token = f"{self.at}/sessions/{self.session}", self.store.get(self.at)
        if self.has("signs-in-to-sign-out"):
            self.authorized("DELETE", url)
        elif token is not None:
            self.store.clear()
            with contextlib.suppress(Lost):
                self.call("DELETE", url, token=token)
        if self.has("keeps-token-after-sign-out"):
            self.call("GET", f"{self.at}/conversations", token=token)

    # Profile and conversation

    def change_profile(self) -> None:
        """Changes only what it has seen: If-Match says so, and 412 that somebody else was quicker."""
        url = f"{self.at}/profiles/{self.user}"
        seen = self.expect(self.authorized("GET", url))
        for _ in range(2):
            condition = {} if self.has("overwrites") else {"if-match": seen.headers["etag"]}
            answer = self.authorized("PATCH", url, body={"firstName": "Mira"}, headers=condition)
            if answer.status != 412 or self.has("drops-changes"):
                break
            if not self.has("overwrites"):
                seen = self.expect(self.authorized("GET", url))
        if not self.has("drops-changes"):
            self.expect(answer)

    def begin_conversation(self) -> None:
        """The app makes the id, so that creating it twice does no harm; 409 says that it is there."""
        body = {"id": self.conversation, "name": "Trip", "participants": [{"id": self.other_user}]}
        answer = self.authorized("POST", f"{self.at}/conversations", body=body, repeatable=True)
        if answer.status == 409 and self.has("another-id-at-409"):
            self.conversation = body["id"] = f"trip-{secrets.token_hex(4)}"
            answer = self.authorized("POST", f"{self.at}/conversations", body=body)
        self.expect(answer, *((201,) if self.has("gives-up-at-409") else (201, 409)))

    def send(self, text: str) -> None:
        """Sends a message; when the answer is lost, it is sent again only if it is not there."""
        if self.quiet:
            self.failed.append(text)
            return
        key = secrets.token_hex(8)
        body = {"metadata": {"key": key}, "parts": [{"name": "body", "type": "text/plain", "data": text}]}
        for _ in range(2):
            try:
                answer = self.post_message(body)
                break
            except Lost:
                if self.is_there(key):
                    return
        else:
            raise Failed(text)
        if answer.status == 429:
            self.quiet = True
        if not answer.ok:
            self.failed.append(text)

    def post_message(self, body: dict) -> Answer:
        url = f"{self.talk}/messages"
        if not self.has("drops-refused-messages"):
            return self.authorized("POST", url, body=body)
        used = self.store.get(url)
        answer = self.call("POST", url, body=body, token=used)
        if answer.status == 401:
            self.renew_unless_done(url, used)
        return answer

    def is_there(self, key: str) -> bool:
        page = self.expect(self.authorized("GET", f"{self.talk}/messages?limit=20")).json()
        return any(message["metadata"].get("key") == key for message in page["messages"])

    def share_picture(self) -> None:
        """Uploads a picture and shows it. Where it lies the answer says; the session's token is not for there."""
        body = {"data": "aGk=", "name": "map.png", "type": "image/png"}
        content = self.expect(self.authorized("POST", f"{self.at}/content", body=body)).json()
        if "url" in content:
            self.expect(self.call("GET", content["url"]))

    # The socket

    def connect(self, tries: int) -> bool:
        """Opens the socket, after pauses that grow; without one the app works on."""
        if self.socket_token is None or not self.has("socket-keeps-token"):
            self.socket_token = self.store.get(self.at)
        attempts = 25 if self.has("reconnects-without-pause") else tries
        for attempt in range(attempts):
            try:
                self.socket = Socket(f"{self.at}/socket?token={self.socket_token}")
                return True
            except (Refused, Lost, OSError) as refusal:
                if refusal.args == (401,) and not self.has("socket-keeps-token"):
                    self.renew_unless_done(self.at, self.socket_token)
                    self.socket_token = self.store.get(self.at)
            if not self.has("reconnects-without-pause"):
                time.sleep(PAUSE * 2**attempt)
        return False

    def listen(self, seconds: float) -> None:
        """Takes what comes through the socket; when it closes, connects again and reads what was missed."""
        for _ in range(3):
            try:
                while self.socket is not None and (event := self.socket.receive(seconds)) is not None:
                    self.latest = max(self.latest, event.get("conversationEventId") or 0)
                return
            except Lost:
                self.socket = None
                if self.has("never-reconnects") or not self.connect(tries=4):
                    return
                if not self.has("reads-nothing-missed"):
                    self.expect(self.authorized("GET", f"{self.talk}/events?from={self.latest + 1}"))


PUSH = {"apns": {"bundleId": "test.app", "environment": "development", "token": "push-token-not-real"}}


class Provider:
    """The app's own sign-in server: it signs tokens for the user with a key that it publishes."""

    issuer = "https://login.example.test"
    keys = {"k2": "k2.pem", "k2b": "k5.pem", "k2c": "k8.pem"}

    def __init__(self, app: "IMS"):
        self.app = app

    def token(self, subject: str) -> str:
        url = f"{self.app.base}/ims/dev-issuers/rotating/jwks.json"
        published = [key["kid"] for key in self.app.expect(self.app.call("GET", url)).json()["keys"]]
        kid = next(kid for kid in published if kid in self.keys)
        now = int(self.app.now())
        life = 86_400 if self.app.has("tokens-of-a-day") else 600
        claims = {
            "iss": self.issuer, "sub": subject, "iat": now, "nbf": now, "exp": now + life, "jti": secrets.token_hex(8),
        }
        header = {"alg": "RS256", "typ": "JWT", "kid": kid}
        signed = ".".join(encoded(json.dumps(part).encode()) for part in (header, claims))
        path = Path(__file__).parents[3] / "Fixtures/ims/keys" / self.keys[kid]
        key = serialization.load_pem_private_key(path.read_bytes(), None)
        return f"{signed}.{encoded(key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


class IMS(Punctual, App):
    """Uploads a driver's trips with tokens from its own provider, and keeps what it could not upload."""

    vendor = "ims"
    subject = "EMP-0001"
    own = {
        "another-id-at-repeat": "It gives a trip a new trip_id each time that it sends it.",
        "drops-unsent-trips": "It drops a trip that could not be uploaded at once.",
        "stuck-at-conflict": "It sends a trip that was answered by 409 again and again, and none after it.",
        "stops-at-conflict": "It uploads nothing more after a trip was answered by 409.",
        "sends-on-when-deactivated": "It keeps sending for a user who was deactivated.",
        "tokens-of-a-day": "It has its tokens signed for a whole day.",
        "ignores-server-time": "It takes the phone's time for the server's.",
    }
    found_by = {
        "no-renewal": ["expires-between-calls", "key-replaced", "token-replayed"],
        "endless-renewal": ["refused-for-ever", "expired-for-ever"],
        "renews-on-403": ["user-deactivated", "user-unknown"],
        "repeats-with-old-token": ["expires-between-calls"],
        "repeats-post": ["invitation-answer-lost"],
        "repeats-never": ["trips-answer-cut-off"],
        "ignores-retry-after": ["trips-rate-limited"],
        "token-everywhere": ["token-in-key-request"],
        "another-id-at-repeat": ["trip-answer-lost"],
        "drops-unsent-trips": ["user-not-active-yet"],
        "stuck-at-conflict": ["trip-always-conflicts"],
        "stops-at-conflict": ["trip-conflict"],
        "sends-on-when-deactivated": ["user-deactivated"],
        "tokens-of-a-day": ["lifetime-limited"],
        "ignores-server-time": ["clock-behind", "clock-ahead"],
    }

    def run(self) -> None:
        self.at = f"{self.base}/ims/v1"
        self.provider = Provider(self)
        self.quiet = False
        self.trips = [self.recorded(number) for number in range(3)]
        self.aside: list[dict] = []
        self.renew()
        self.check(self.authorized("GET", f"{self.at}/me"))
        self.upload()
        self.check(self.authorized("PATCH", f"{self.at}/me", body={"phone": "+420 600 000 000"}))
        self.together(
            lambda: self.check(self.authorized("GET", f"{self.at}/trips")),
            lambda: self.check(self.authorized("GET", f"{self.at}/driving-summary")),
        )
        self.invite("Ben", "ben@example.test")
        for turn in range(4):
            if self.trips and not self.quiet:
                time.sleep(PAUSE * 2**turn)
                self.upload()
        if self.trips or self.aside:
            raise Failed(f"{len(self.trips)} trips are kept, {len(self.aside)} set aside")

    def renew(self) -> None:
        self.store.put(self.at, self.provider.token(self.subject))

    def check(self, answer: Answer) -> Answer:
        """A success; what is wrong with the user no other token mends, so the app stops there."""
        if answer.status == 403 and self.has("sends-on-when-deactivated"):
            return answer
        return self.expect(answer)

    # Trips

    def recorded(self, number: int) -> dict:
        """A trip as the phone recorded it; its id is made once, so that sending it twice stores it once."""
        return {
            "trip_id": secrets.token_hex(8), "started_at": f"2027-01-15T0{number + 1}:00:00Z",
            "ended_at": f"2027-01-15T0{number + 1}:30:00Z", "distance_meters": 21_000 + number,
        }

    def upload(self) -> None:
        """Uploads the trips in order, and keeps those that the backend cannot take yet."""
        for trip in list(self.trips):
            if self.quiet:
                return
            answer = self.upload_one(trip)
            if answer.status == 429 or answer.status >= 500:
                self.quiet = answer.retry_after is not None and answer.retry_after > PATIENCE
            if answer.status == 409:
                for _ in range(20 if self.has("stuck-at-conflict") else 0):
                    answer = self.upload_one(trip)
                if self.has("stuck-at-conflict") or self.has("stops-at-conflict"):
                    raise Failed(f"trip {trip['trip_id']} is in conflict")
                self.aside.append(trip)
            if answer.status == 403 and self.has("sends-on-when-deactivated"):
                for _ in range(10):
                    self.upload_one(trip)
            if answer.ok or answer.status == 409 or self.has("drops-unsent-trips"):
                self.trips.remove(trip)
            elif answer.status == 403:
                return  # the user cannot upload yet, or no longer

    def upload_one(self, trip: dict) -> Answer:
        if not self.has("another-id-at-repeat"):
            return self.authorized("POST", f"{self.at}/trips", body=trip, repeatable=True)
        for _ in range(2):
            trip["trip_id"] = secrets.token_hex(8)
            with contextlib.suppress(Lost):
                return self.authorized("POST", f"{self.at}/trips", body=trip)
        raise Lost("a trip")

    # Invitations

    def invite(self, name: str, address: str) -> None:
        """Invites somebody; when the answer is lost, the list says whether the invitation went out."""
        body = {"kind": "account", "name": name, "email": address, "account_ids": ["acc-1"]}
        for _ in range(2):
            try:
                self.check(self.authorized("POST", f"{self.at}/invitations", body=body))
                return
            except Lost:
                sent = self.check(self.authorized("GET", f"{self.at}/invitations")).json()["invitations"]
                if any(invitation["email"] == address for invitation in sent):
                    return
        raise Failed(f"{name} was not invited")


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
