"""The example accounts of Comapi, and its calls as an app makes them."""

import json
from dataclasses import dataclass
from urllib.parse import quote

import jwt
import requests
from socket_client import SocketClient
from world import Sandbox, record_frame

NEW_YEAR = 1_798_761_600
TRIP = "trip-42"
ECHO = {"name": "echo", "payload": {}, "publishedOn": "2027-01-01T00:00:00.000Z"}
UNAUTHORIZED, FORBIDDEN = {"message": "Unauthorized"}, {"message": "Forbidden"}


@dataclass(frozen=True)
class Space:
    """An API space; its values are invented, like everything in the example accounts."""

    id: str
    account: int
    issuer: str
    audience: str
    secret: str
    session_secret: str
    id_claim: str = "sub"

    def sign(self, nonce: str, user: str, *, secret: str | None = None, algorithm: str = "HS256", **claims) -> str:
        """The app's answer to a challenge; a claim that is None is omitted."""
        all_claims = {
            self.id_claim: user, "nonce": nonce, "iss": self.issuer, "aud": self.audience, "iat": NEW_YEAR,
            "exp": NEW_YEAR + 3600, **claims}
        present = {name: value for name, value in all_claims.items() if value is not None}
        return jwt.encode(present, self.secret if secret is None else secret, algorithm=algorithm)


VENDOR_ISSUER, VENDOR_AUDIENCE = "https://api.comapi.com/defaultauth", "https://api.comapi.com"
A = Space(
    "b1f0c3d2-5a47-4c1e-9d88-0e6a7f2b4c15", 4001, VENDOR_ISSUER, VENDOR_AUDIENCE, "understudy-test-shared-secret-A",
    "understudy-test-session-secret-A")
B = Space(
    "2c9e7a64-1d3b-4f80-a6c5-7b0d4e8f9a21", 4001, VENDOR_ISSUER, VENDOR_AUDIENCE, "5e8f02c17ab94d365e8f02c17ab94d36",
    "understudy-test-session-secret-B")
C = Space(
    "77d05e19-8b2a-4c63-b1f4-3a9c0d6e5f08", 4002, "https://issuer.example/app", "orders-app",
    "understudy-test-shared-secret-C", "understudy-test-session-secret-C", "uid")


def in_path(text: str) -> str:
    return quote(text, safe="")


class App:
    """A user's app on a device."""

    def __init__(self, sandbox: Sandbox, user: str, space: Space = A):
        self.sandbox, self.user, self.space = sandbox, user, space
        self.token: str | None = None
        self.session: dict = {}

    def call(self, method: str, path: str, body: object = None, *, token: str | None = None, **options):
        """A call in the space, with the session's token if there is one."""
        headers = options.pop("headers", {})
        if token := token or self.token:
            headers = {"Authorization": f"Bearer {token}", **headers}
        return requests.request(
            method, f"{self.sandbox.url}/apispaces/{in_path(self.space.id)}{path}", json=body, headers=headers, timeout=30,
            **options)

    def expect(self, status: int, method: str, path: str, body: object = None, **options):
        """The answer to a call, which must have this status."""
        answer = self.call(method, path, body, **options)
        assert answer.status_code == status, f"{answer.status_code} {answer.text} {self.sandbox.last_entry()['reason']}"
        return answer.json() if answer.content and "json" in answer.headers["Content-Type"] else answer

    def refuse(self, status: int, body: dict, failure: str, method: str, path: str, content: object = None, **options):
        """A refusal: status and body in the answer, the reason only in the journal; browsers can read all answers."""
        answer = self.call(method, path, content, **options)
        assert (answer.status_code, answer.json()) == (status, body)
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert self.sandbox.last_entry()["failure"] == failure
        return answer

    def challenge(self) -> dict:
        return self.expect(200, "GET", "/sessions/start")

    def answer(self, challenge: dict, token: str, **members):
        return self.call(
            "POST", "/sessions",
            {"authenticationId": challenge["authenticationId"], "authenticationToken": token, **members})

    def start(self, **members):
        """Starts a session by answering a challenge."""
        self.token = None
        challenge = self.challenge()
        answer = self.answer(challenge, self.space.sign(challenge["nonce"], self.user), **members)
        assert answer.status_code == 200, f"{answer.text} {self.sandbox.last_entry()['reason']}"
        self.token, self.session = answer.json()["token"], answer.json()["session"]
        return self

    def post(self, text: str, conversation: str = TRIP, **members) -> dict:
        """Sends a message; returns its id and number."""
        part = {"name": "body", "type": "text/plain", "data": text, "size": len(text.encode())}
        path = f"/conversations/{in_path(conversation)}/messages"
        return self.expect(200, "POST", path, {"metadata": {"k": "v"}, "parts": [part], **members})

    def mark(self, status: str, *messages: str, conversation: str = TRIP) -> None:
        path = f"/conversations/{in_path(conversation)}/messages/statusupdates"
        body = [{"messageIds": list(messages), "status": status, "timestamp": "2027-01-01T00:00:09.000Z"}]
        assert self.expect(200, "POST", path, body).text == "OK"

    def socket_address(self, query: str = "") -> str:
        return f"{self.sandbox.url}/apispaces/{in_path(self.space.id)}/socket{query}".replace("http", "ws", 1)

    def listen(self, by_query: bool = True) -> "Ear":
        if by_query:
            return Ear(self.socket_address(f"?token={self.token}"))
        return Ear(self.socket_address(), additional_headers={"Authorization": f"Bearer {self.token}"})


class Ear(SocketClient):
    """An app's socket, after the greeting."""

    def __init__(self, url: str, **options):
        super().__init__(url, **options)
        self.greeting = self.hear()

    def hear(self) -> dict:
        frame = json.loads(self.receive())
        record_frame("comapi", "server", frame)
        return frame

    def hear_all(self) -> list[dict]:
        """All frames received so far; frames leave in order, so the echo comes after them."""
        self.send(json.dumps(ECHO))
        record_frame("comapi", "client", ECHO)
        frames = []
        while (frame := self.hear()) != ECHO:
            frames.append(frame)
        return frames

    def names(self) -> list[str]:
        return [frame["name"] for frame in self.hear_all()]
