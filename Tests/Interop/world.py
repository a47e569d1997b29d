"""A running Understudy and what a test needs to know about its example accounts."""

import contextlib
import json
import os
import random
import socket
from pathlib import Path

import requests
from child import Child

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("UNDERSTUDY_BINARY") or ROOT / ".build/debug/understudy").absolute()
VENDORS = sorted(path.parent.name for path in (ROOT / "Fixtures").glob("*/accounts.yaml"))

# Where servers append their exchanges, which judge.py holds to the documents. Not the program's own variable: a test may
# start the program with fixtures of its own, which the documents do not describe.
RECORD = os.environ.get("EXCHANGES")

NOW = 1_800_000_000
PARTNER = "317"
API_KEY = "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6"
# Invented, like everything in the example accounts.
AUTH_KEY = "understudy-test-key-not-a-secret-0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNO=="
DEVICE = "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a"
ADA = "entity123"


def reserved_port() -> int:
    """A free port below those that the system gives out itself, so that it is still free soon after."""
    while True:
        port = random.randrange(20_000, 32_768)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Server(Child):
    """The built program on two free ports; by default it has a separate local CA."""

    def __init__(self, folder: Path, *options, secure_port: int = 0):
        port_file, authorities = folder / "port", folder / "ca"
        command = [
            BINARY, "serve", "--port", "0", "--https-port", str(secure_port), "--port-file", port_file,
            "--log", "text", *options]
        recording = {"UNDERSTUDY_RECORD": RECORD} if RECORD and "--fixtures" not in options else {}
        super().__init__(command, folder, port_file, {"UNDERSTUDY_CA_DIRECTORY": str(authorities), **recording})
        self.port, self.secure_port = self.ports["http"], self.ports["https"]
        self.authority = authorities / "understudy-ca.pem"
        self.url = f"http://127.0.0.1:{self.port}"


def record_frame(vendor: str, sender: str, message: object) -> None:
    """Hands a message of a socket to those who judge it, in the form of the journal, which keeps only the newest."""
    if RECORD:
        with open(RECORD, "a", encoding="utf-8") as file:
            file.write(json.dumps({"vendor": vendor, "socket": {"frames": [{"from": sender, "message": message}]}}) + "\n")


class Sandbox:
    """A separate sandbox in the server, selected by path prefix or by header."""

    def __init__(self, server: Server, name: str, by_header: bool = False):
        self.server = server
        self.url = server.url if by_header else f"{server.url}/~{name}"
        self.headers = {"X-Understudy-Sandbox": name} if by_header else {}

    def control(self, method: str, call: str, body: object = None):
        answer = requests.request(method, f"{self.url}/_understudy/{call}", json=body, headers=self.headers)
        assert answer.ok, answer.text
        return answer.json() if answer.content else None

    def set_clock(self, **change) -> None:
        self.control("PUT", "clock", change)

    def switch(self, name: str, value: str) -> None:
        self.control("PUT", "settings", {"switches": {name: value}})

    def mint(self, kind: str = "login", **order) -> str:
        return self.control("POST", f"tokens/rezolve/{kind}", order)["token"]

    def last_entry(self) -> dict:
        return self.control("GET", "journal?last=1")["entries"][-1]

    def call(self, method: str, path: str, token: str | None = None, device: str | None = DEVICE, **options):
        headers = {"x-rezolve-partner-apikey": API_KEY, **self.headers}
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        if device is not None:
            headers["x-rezolve-device-id"] = device
        return requests.request(method, self.url + path, headers=headers, **options)

    def customer(self, path: str, entity: str = ADA) -> str:
        return f"/api/v1/partner/{PARTNER}/customer/{entity}/{path}"
