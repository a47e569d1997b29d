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
        with ThreadPoolExecutor(len(calls)) as pool:
            return [work.result() for work in [pool.submit(call) for call in calls]]

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
        "renews-before-write": ["write-expires"],
    }
    own = {
        "token-to-other-vendor": "It sends the token of one vendor to another.",
        "trusts-own-clock": "It renews the token before each call that comes after exp by the phone's own clock.",
        "sends-no-token": "It does not look whether a renewal brought a token, and sends the text None as one.",
        "keeps-token-after-sign-out": "It makes a call with the token after the user signed out.",
        "repeats-sign-in": "It repeats a sign-in that was refused, with the same password.",
        "renews-before-write": "It loses a change that the user made while the token expired.",
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
        if self.has("renews-before-write"):
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
        "repeats-never": ["read-reset", "read-truncated", "keys-down-once", "refresh-answer-lost"],
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
