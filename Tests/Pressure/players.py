"""The turns of the soak's clients, each in its own sandbox; ``Wrong`` is raised for an unexpected answer. A turn takes
at most a second or two, and leaves nothing open except what its sandbox keeps.
"""

import base64
import http.client
import json
import os
import random
import socket
import struct
import subprocess
import time

from program import BINARY

SPACE = "/apispaces/b1f0c3d2-5a47-4c1e-9d88-0e6a7f2b4c15"
API_KEY = "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6"


class Wrong(Exception):
    """An unexpected answer."""


class Client:
    """One connection into one sandbox."""

    def __init__(self, port: int, sandbox: str):
        self.port, self.sandbox, self.latencies = port, sandbox, []
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def ask(self, method: str, path: str, body=None, *, status: int | None = 200, selects: bool = True, **fields) -> bytes:
        """The content of the answer, which must have that status; None allows any."""
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} if content is not None else {}
        if selects:
            headers["X-Understudy-Sandbox"] = self.sandbox
        begin = time.monotonic()
        for attempt in (1, 2):
            try:
                self.connection.request(method, path, content, {**headers, **fields})
                answer = self.connection.getresponse()
                received = answer.read()
                break
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                # The server may close a persistent connection at any time; clients retry once.
                self.connection.close()
                if attempt == 2:
                    raise
        self.latencies.append((time.monotonic() - begin, f"{method} {path}"))
        if status is not None and answer.status != status:
            raise Wrong(f"{method} {path} answered {answer.status}: {received[:300]!r}")
        return received

    def json(self, method: str, path: str, body=None, **options) -> dict:
        return json.loads(self.ask(method, path, body, **options))

    def control(self, method: str, call: str, body=None, **options) -> dict:
        received = self.ask(method, f"/_understudy/{call}", body, **options)
        return json.loads(received) if received else {}

    def metrics(self) -> dict:
        """The samples without labels."""
        lines = self.ask("GET", "/_understudy/metrics").decode().splitlines()
        pairs = (line.split(" ") for line in lines if line and not line.startswith("#") and "{" not in line)
        return {name: float(value) for name, value in pairs}

    def sandboxes(self) -> list[str]:
        return [entry["name"] for entry in self.control("GET", "sandboxes")["sandboxes"]]

    def leave(self, dice: random.Random) -> None:
        """Deletes the sandbox, resets it, lets it expire, or leaves it to be evicted."""
        match dice.randrange(4):
            case 0: self.delete()
            case 1: self.control("POST", "reset", status=204)
            case 2: self.control("PUT", f"sandboxes/{self.sandbox}", {"ttl": "2s"}, selects=False)

    def delete(self) -> None:
        """Deletes the sandbox if it still exists."""
        self.control("DELETE", f"sandboxes/{self.sandbox}", selects=False, status=None)

    def close(self) -> None:
        self.connection.close()


def session(client: Client, user: str) -> str:
    """The token of a new Comapi session."""
    challenge = client.json("GET", f"{SPACE}/sessions/start")
    token = client.control("POST", "tokens/comapi/app", {"user": user, "nonce": challenge["nonce"]})["token"]
    answer = client.json("POST", f"{SPACE}/sessions", {
        "authenticationId": challenge["authenticationId"], "authenticationToken": token})
    return answer["token"]


def open_socket(client: Client, token: str) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", client.port), 30)
    key = base64.b64encode(os.urandom(16)).decode()
    connection.sendall("\r\n".join([
        f"GET {SPACE}/socket?token={token} HTTP/1.1", "Host: localhost", "Connection: Upgrade", "Upgrade: websocket",
        "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}", f"X-Understudy-Sandbox: {client.sandbox}", "", "",
    ]).encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        part = connection.recv(4096)
        if not part:
            break
        answer += part
    if not answer.startswith(b"HTTP/1.1 101 "):
        connection.close()
        raise Wrong(f"a handshake was answered {answer[:200]!r}")
    return connection


def frame(opcode: int, payload: bytes) -> bytes:
    """A short client frame with an all-zero mask."""
    return bytes([0x80 | opcode, 0x80 | len(payload)]) + bytes(4) + payload


# MARK: turns

def contracts(client: Client, dice: random.Random) -> None:
    """Runs every vendor's contract cases with the program's runner."""
    base = f"http://127.0.0.1:{client.port}/~{client.sandbox}"
    run = subprocess.run([contracts.binary, "contract", "run", "--against", base], capture_output=True, text=True,
                         timeout=120, cwd=contracts.folder)
    if run.returncode:
        failed = [line for line in run.stdout.splitlines() if not line.startswith("ok")]
        raise Wrong(f"contract run ended with {run.returncode}: {failed[:5]} {run.stderr[:300]}")


contracts.binary, contracts.folder = BINARY, None


def sockets(client: Client, dice: random.Random) -> None:
    """Sockets: some closed properly, some dropped, some left until the sandbox ends."""
    opened = [open_socket(client, session(client, user)) for user in ("mira", "bob", "mira")]
    try:
        for connection in opened:
            connection.sendall(frame(1, b'{"name":"echo","payload":{}}') + frame(9, b"ping"))
            if not connection.recv(4096):
                raise Wrong("a socket ended that should have echoed")
        opened[0].sendall(frame(8, struct.pack("!H", 1000)))
        opened[1].close()
        if dice.random() < 0.5:
            client.delete()
    finally:
        for connection in opened:
            connection.close()


def states(client: Client, dice: random.Random) -> None:
    """Exports and imports every vendor's state."""
    for vendor in client.control("GET", "health")["vendors"]:
        state = client.ask("GET", f"/_understudy/state/{vendor['id']}")
        if client.ask("PUT", f"/_understudy/state/{vendor['id']}", state) != state:
            raise Wrong(f"{vendor['id']}: what was put back is not what was taken out")


def faults(client: Client, dice: random.Random) -> None:
    """Requests under faults of every kind and an active scenario."""
    fault = dice.choice([{"delay": "50ms"}, "reset", "empty", {"truncate": 5}, "garbage", {"drip": {"chunk": 20, "every": "5ms"}}])
    client.control("PUT", "faults", {"vendor": "rezolve", "route": "rua.guest", "times": "always", "fault": fault})
    for scenario in client.control("GET", "scenarios")["available"][:3]:
        client.control("PUT", "scenarios", {"activate": [scenario["scenario"]]}, status=None)
    for _ in range(3):
        try:
            client.ask("POST", "/v2/credentials/register/guest", status=None, **{"x-rezolve-partner-apikey": API_KEY})
        except (OSError, http.client.HTTPException):
            client.close()


def polls(client: Client, dice: random.Random) -> None:
    """Long polls that end by timeout, by an entry, by deletion of the sandbox, and by a client that disconnects."""
    client.control("GET", "journal?wait=100ms&count=5")
    waiting = [Client(client.port, client.sandbox) for _ in range(3)]
    try:
        for other in waiting:
            other.connection.request("GET", "/_understudy/journal?wait=20s&count=1", headers={
                "X-Understudy-Sandbox": client.sandbox})
        waiting[0].close()
        if dice.random() < 0.5:
            client.delete()
            # A poll that had not started yet waits in the next sandbox with that name.
        client.ask("GET", "/nowhere", status=404)
        for other in waiting[1:]:
            if other.connection.getresponse().status != 200:
                raise Wrong("a long poll was refused")
    finally:
        for other in waiting:
            other.close()


def tokens(client: Client, dice: random.Random) -> None:
    """Mints and explains tokens of every kind, valid and defective."""
    for kind in client.control("GET", "tokens")["kinds"]:
        path = f"tokens/{kind['vendor']}/{kind['kind']}"
        order = {"defect": dice.choice(kind["defects"])} if kind["defects"] and dice.random() < 0.5 else {}
        # Some defects need a parameter.
        token = client.control("POST", path, order, status=None).get("token")
        if token:
            client.control("POST", "tokens/explain", {"token": token})


def clocks(client: Client, dice: random.Random) -> None:
    """Moves the clock beyond the end of sessions, and changes settings and seed."""
    session(client, "mira")
    client.control("PUT", "clock", {"advance": dice.choice(["31m", "2h", "400d"])})
    client.control("PUT", "settings", {"profile": dice.choice(["documented", "observed"])})
    client.control("PUT", "settings", {"seed": dice.randrange(1000)})
    session(client, "bob")


def drills(client: Client, dice: random.Random) -> None:
    """Breaks, repairs and rotates keys; each new pair costs the server some processor time."""
    for issuer in client.control("GET", "keys")["issuers"]:
        for drill in ("break", "repair"):
            client.control("POST", f"keys/{issuer['vendor']}/{issuer['issuer']}/{drill}", status=None)
    if dice.random() < 0.1 and (issuers := client.control("GET", "keys")["issuers"]):
        client.control("POST", f"keys/{issuers[0]['vendor']}/{issuers[0]['issuer']}/overlap", status=None)


PLAYERS = [
    (play.__name__, play) for play in (contracts, sockets, sockets, states, faults, polls, tokens, clocks, drills)]
