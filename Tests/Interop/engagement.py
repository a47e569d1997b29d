"""The example accounts of Bloomreach, and its calls as made by the vendor's own clients."""

import jwt
import requests
from world import NOW, Sandbox

PROJECT = "demo-project-1"
STREAM = "demo-stream-1"
KEY = "pubkey-demo-1"
# Invented, like everything in the example accounts.
KEY_ID, SECRET = "privkey-demo-1", "demo-secret-not-real-1"
STREAM_KEY_ID, STREAM_SECRET = "signkey-demo-1", "demo-stream-secret-not-real-1"
ANA = {"registered": "ana@example.test"}
BEN = {"registered": "ben@example.test"}
ANAS_COOKIE = "c0000000-0000-4000-8000-00000000000a"
GUEST = {"cookie": "c0000000-0000-4000-8000-00000000000c"}


def customer_token(ids: dict, expires: int = NOW + 3600, key: str = KEY_ID, secret: str = SECRET, **header) -> str:
    return jwt.encode({"sub": ids, "exp": expires}, secret, algorithm="HS256", headers={"kid": key, **header})


def stream_token(ids: dict, expires: int = NOW + 900, secret: str = STREAM_SECRET) -> str:
    return jwt.encode({"exp": expires, "ids": ids}, secret, algorithm="HS512", headers={"kid": STREAM_KEY_ID})


class App:
    """What both SDKs' requests have in common: the base is prepended to the path as is, and bodies are JSON."""

    fields: dict = {}

    def __init__(self, sandbox: Sandbox, authorization: str | None = f"Token {KEY}"):
        self.base, self.sandbox, self.authorization = sandbox.url, sandbox, authorization

    def send(self, method: str, path: str, body: dict | None = None, **fields):
        headers = {"Content-Type": "application/json", **self.fields, **fields}
        if self.authorization is not None:
            headers["Authorization"] = self.authorization
        return requests.request(method, self.base + path, json=body, headers=headers, timeout=30)

    def fetch_inbox(self, ids: dict, **members):
        body = {"customer_ids": ids, "application_id": "default-application", **members}
        return self.send("POST", f"/webxp/projects/{PROJECT}/appinbox/fetch", body)

    def mark_as_read(self, ids: dict, message: str, token: str):
        body = {"customer_ids": ids, "message_ids": [message], "sync_token": token}
        return self.send("POST", f"/webxp/projects/{PROJECT}/appinbox/markasread", body)

    def inbox(self, ids: dict, **members) -> list[str]:
        answer = self.fetch_inbox(ids, **members)
        assert answer.status_code == 200, answer.text
        return [message["id"] for message in answer.json()["messages"]]


class IOS(App):
    """One trailing slash of the base is dropped, GETs declare JSON, and cookies are in upper case."""

    fields = {
        "User-Agent": "ExponeaSDK/4.0.1 CFNetwork/1568 Darwin/24.0.0", "Accept": "application/json",
        "Accept-Language": "en-GB,en;q=0.9", "Accept-Encoding": "gzip, deflate, br"}


class Android(App):
    """Base and path are concatenated, so a base that ends with a slash produces two."""

    fields = {
        "User-Agent": "okhttp/4.12.0", "Accept-Encoding": "gzip", "Connection": "Keep-Alive",
        "Content-Type": "application/json; charset=utf-8"}

    def __init__(self, sandbox: Sandbox, *options):
        super().__init__(sandbox, *options)
        self.base += "/"
