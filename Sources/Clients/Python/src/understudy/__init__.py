"""Understudy from Python test suites: start a server or attach to one, give each test a sandbox, and control it.

    with Understudy.start() as server, server.sandbox("signup") as sandbox:
        app = App(sandbox.base_url, token=sandbox.mint("rezolve/login", expires_in=900))
        sandbox.clock.advance(minutes=31)
        app.read_addresses()
        sandbox.expect_calls(failure="token-expired", exactly=1)
        print(sandbox.journal.last().reason)
"""

from .clock import Clock, Reading
from .errors import (
    Forbidden, Invalid, NotFound, Refusal, StartFailed, TooLarge, Unauthorized, UnderstudyError, UnmetExpectation,
    Unreachable,
)
from .journal import Entry, Journal
from .sandbox import Sandbox
from .server import Understudy

__version__ = "0.2.0"

__all__ = [
    "Clock", "Entry", "Forbidden", "Invalid", "Journal", "NotFound", "Reading", "Refusal", "Sandbox", "StartFailed",
    "TooLarge", "Unauthorized", "Understudy", "UnderstudyError", "UnmetExpectation", "Unreachable",
]
