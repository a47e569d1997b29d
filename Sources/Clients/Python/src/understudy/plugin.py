"""The pytest plugin: a server for the session, a sandbox for each test, and its journal when a test fails."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any, Dict, Generator, Iterator, List, Optional, Tuple

import pytest

from .errors import UnderstudyError
from .sandbox import Sandbox
from .server import Understudy

_sandbox = pytest.StashKey[Sandbox]()
_journal = pytest.StashKey[str]()
# By vendor and kind: the names that no test has met yet, in their order, and how many names there are.
_Coverage = Dict[str, Dict[str, Tuple[List[str], int]]]
_coverage = pytest.StashKey[_Coverage]()

# Runs that are killed must not fill a server that others use, too; a debugger may hold a test for long.
TTL = "2h"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("understudy", "understudy, a server that stands in for the app's backends")
    group.addoption("--understudy-url", metavar="URL", help="attach to this server (else $UNDERSTUDY_URL)")
    group.addoption(
        "--understudy-binary", metavar="FILE",
        help="start this program (else $UNDERSTUDY_BINARY, that of the package understudy-server, or understudy in PATH)")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--understudy-url") and config.getoption("--understudy-binary"):
        raise pytest.UsageError("--understudy-url attaches to a server, --understudy-binary starts one: name one of them")


@pytest.fixture(scope="session")
def understudy_options() -> List[str]:
    """Options of `understudy serve` for the server that is started; override it in a conftest.py."""
    return []


@pytest.fixture(scope="session")
def understudy(request: pytest.FixtureRequest, understudy_options: List[str]) -> Iterator[Understudy]:
    """The server of this session: the one that --understudy-url names, or one that is started and ended here."""
    binary: Optional[str] = request.config.getoption("--understudy-binary")
    url: Optional[str] = request.config.getoption("--understudy-url")
    # A flag overrides the environment.
    url = url or (os.environ.get("UNDERSTUDY_URL") if not binary else None)
    if url:
        yield Understudy.attach(url)
        return
    server = Understudy.start(*understudy_options, binary=binary)
    yield server
    code = server.stop()
    if code != 0:
        raise UnderstudyError(f"the server ended with code {code}")


@pytest.fixture
def sandbox(understudy: Understudy, request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A sandbox of the test's own, removed at its end."""
    made = understudy.sandbox_for(request.node.name, ttl=None if understudy.is_own else TTL)
    request.node.stash[_sandbox] = made
    yield made
    # Another fixture's end may have failed before, and is reported when this sandbox is gone.
    request.node.stash[_journal] = _described(made)
    # Neither is the test's fault: an older server has no coverage, and one that is gone took the sandbox with it.
    with suppress(UnderstudyError):
        _meet(request.config.stash.setdefault(_coverage, {}), made.control("GET", "coverage")["vendors"])
    with suppress(UnderstudyError):
        made.delete()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    made = item.stash.get(_sandbox, None)
    if report.failed and made is not None:
        text = item.stash.get(_journal, "") if report.when == "teardown" else _described(made)
        report.sections.append((f"Understudy's journal ({report.when})", text))
    return report


def _described(sandbox: Sandbox) -> str:
    try:
        return sandbox.journal.describe()
    except UnderstudyError as error:
        return f"The journal could not be read: {error}"


def _meet(known: _Coverage, vendors: List[Any]) -> None:
    """Takes the names that a test has met out of those that none has."""
    for found in vendors:
        if not found["routes"]["met"] + found["failures"]["met"]:
            continue
        kinds = known.setdefault(found["vendor"], {})
        for kind in ("failures", "routes"):
            never = found[kind]["never"]
            before = kinds.get(kind, (never, 0))[0]
            kinds[kind] = ([name for name in before if name in never], found[kind]["all"])


def pytest_sessionfinish(session: pytest.Session) -> None:
    # With pytest-xdist the tests run in workers, and the report is the controller's.
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["understudy_coverage"] = session.config.stash.get(_coverage, {})


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Optional[object]) -> None:
    known = node.config.stash.setdefault(_coverage, {})
    for vendor, kinds in getattr(node, "workeroutput", {}).get("understudy_coverage", {}).items():
        parts = {kind: {"never": never, "all": count, "met": count - len(never)} for kind, (never, count) in kinds.items()}
        _meet(known, [{"vendor": vendor, **parts}])


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    coverage = config.stash.get(_coverage, {})
    if not coverage:
        return
    terminalreporter.section("Understudy's coverage")
    for vendor, kinds in coverage.items():
        words = ", ".join(f"{count - len(never)} of {count} {kind}" for kind, (never, count) in kinds.items())
        names = [name for never, _ in kinds.values() for name in never]
        # The rest: `understudy coverage`.
        more = f" and {len(names) - 12} more" if len(names) > 12 else ""
        terminalreporter.line(f"{vendor}: {words}" + (f"; never met: {', '.join(names[:12])}{more}" if names else ""))
