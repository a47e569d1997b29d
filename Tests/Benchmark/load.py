"""Bounded load with wrk."""

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

SCRIPT = Path(__file__).parent / "requests.lua"


@dataclass
class Calls:
    """The same call, cycling through these tokens and that many sandboxes; 0 means the default one.

    The client cycles through that many texts, which differ only in these.
    """

    method: str
    target: str
    tokens: list[str]
    fields: dict[str, str] = field(default_factory=dict)
    body: str = ""
    sandboxes: int = 0
    texts: int = 1


# GETs, each on a new connection.
CLOSING = "closing"


@dataclass
class Round:
    requests: int
    per_second: float
    refused: int


def drive(url: str, seconds: int, calls: Calls | str | None = None) -> Round:
    """One round of wrk: GETs of the URL on persistent or new connections, or calls to its host."""
    command = ["wrk", "-t2", "-c64", f"-d{seconds}s"]
    if calls is None:
        return read(run([*command, url], {}))
    if calls is CLOSING:
        return read(run([*command, "-H", "Connection: close", url], {}))
    with tempfile.NamedTemporaryFile("w", prefix="understudy-tokens-") as file:
        file.write("\n".join(calls.tokens))
        file.flush()
        fields = "\n".join(f"{name}: {value}" for name, value in calls.fields.items())
        variables = {
            "TOKENS": file.name, "SANDBOXES": str(calls.sandboxes), "TEXTS": str(calls.texts),
            "METHOD": calls.method, "TARGET": calls.target, "FIELDS": fields, "BODY": calls.body,
        }
        return read(run([*command, "-s", str(SCRIPT), url], variables))


def run(command: list[str], variables: dict[str, str]) -> str:
    try:
        answer = subprocess.run(
            command, env={**os.environ, **variables}, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise RuntimeError("wrk is missing; run docker/bootstrap.sh bench") from None
    return answer.stdout


def read(text: str) -> Round:
    def number(pattern: str) -> float:
        match = re.search(pattern, text)
        return float(match[1]) if match else 0

    if "Requests/sec" not in text:
        raise RuntimeError(f"wrk says:\n{text}")
    # Lost connections and refusals must not count as throughput.
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    lost = sum(map(int, errors.groups())) if errors else 0
    return Round(
        requests=int(number(r"(\d+) requests in")), per_second=number(r"Requests/sec:\s+([\d.]+)"),
        refused=lost + int(number(r"Non-2xx or 3xx responses: (\d+)")))
