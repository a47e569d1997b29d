"""What is installed: the wheel, its types, and the README's examples."""

import os
import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import understudy

SOURCE = Path(__file__).resolve().parents[3] / "Sources/Clients/Python"
README = (SOURCE / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.S)


@pytest.fixture(scope="module")
def wheel():
    """The wheel that `Tests/Clients/run` has built and installed."""
    [wheel] = Path(os.environ["CLIENT_WHEELS"]).glob("understudy-*.whl")
    return wheel


def test_the_tests_use_what_was_installed():
    assert "site-packages" in understudy.__file__


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == {str(path.relative_to(SOURCE / "src")) for path in (SOURCE / "src").rglob("*") if path.is_file()}
    assert "understudy/py.typed" in names


def test_it_needs_nothing(wheel):
    said = metadata.metadata("understudy")
    assert said["Version"] == understudy.__version__ and said["Requires-Python"] == ">=3.9"
    assert [each for each in metadata.requires("understudy") or [] if "extra" not in each] == []


def test_without_pytest_nothing_of_pytest_is_imported():
    code = "import sys, understudy; assert 'pytest' not in sys.modules"
    subprocess.run([sys.executable, "-I", "-c", code], check=True, timeout=60)


def test_it_is_installed_from_the_folder_as_well(wheel, tmp_path):
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target", tmp_path,
         SOURCE], check=True, timeout=300)
    installed = {
        str(path.relative_to(tmp_path)) for path in (tmp_path / "understudy").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts}
    assert installed == {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


# As strict, mypy reports a comment `type: ignore` that hides no such error.
TYPED = """
from typing import List, Optional

from understudy import Sandbox


def test_it(sandbox: Sandbox) -> None:
    token: str = sandbox.mint("rezolve/login", expires_in=900)
    reason: Optional[str] = sandbox.journal.last().reason
    sandbox.arm({"route": "addressbook.list", "call": 3, "fault": {"delay": {"from": "0s", "to": "1s"}, "reset": True}})
    vendors: List[str] = [vendor["id"] for vendor in sandbox.control("GET", "vendors")["vendors"]]
    unix: float = sandbox.clock.advance(minutes=31).unix
    print(token, reason, vendors, unix, sandbox.expect_calls(exactly=0)[:1])

    sandbox.set_profile("strict")  # type: ignore[arg-type]
    sandbox.clock.advance(minute=31)  # type: ignore[call-arg]
    sandbox.control()  # type: ignore[call-arg]
    sandbox.journal.entries(rout="x")  # type: ignore[call-arg]
    len(sandbox.journal.last().reason)  # type: ignore[arg-type]
"""


def test_users_have_types(tmp_path):
    (tmp_path / "mine.py").write_text(TYPED)
    made = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", "mine.py"], cwd=tmp_path,
        capture_output=True, text=True, timeout=300)
    assert made.returncode == 0, made.stdout + made.stderr


def test_the_readme_s_first_test_passes(pytester):
    [block] = re.findall(r"<!-- first test -->\n```python\n(.*?)```", README, re.S)
    pytester.makepyfile(block)
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


# What the example of the main README leaves to its reader.
APP = """
import urllib.error, urllib.request

class App:
    def __init__(self, backend, token):
        self.backend, self.token = backend, token

    def read_addresses(self):
        call = urllib.request.Request(self.backend + "/api/v1/partner/317/customer/entity123/addressbook", headers={
            "x-rezolve-partner-apikey": "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6", "authorization": "Bearer " + self.token,
            "x-rezolve-device-id": "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a"})
        try:
            urllib.request.urlopen(call, timeout=10).close()
        except urllib.error.HTTPError as error:
            error.close()
"""


def test_the_main_readme_s_example_passes(pytester):
    [block] = re.findall(r"```python\n(.*?)```", (SOURCE.parents[2] / "README.md").read_text(), re.S)
    pytester.makepyfile(APP + block)
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_the_readme_s_other_example_runs(tmp_path):
    [block] = [block for block in BLOCKS if "Understudy.start" in block]
    said = subprocess.run([sys.executable, "-c", block], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=60)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/~signup Sandbox signup was not called\.\n", said.stdout)


def test_the_readme_names_what_there_is():
    rows = dict(re.findall(r"^\| `([\w.]+)` \| (.*) \|$", README, re.M))
    for row, kind in {
        "Understudy": understudy.Understudy, "Sandbox": understudy.Sandbox, "sandbox.clock": understudy.Clock,
        "sandbox.journal": understudy.Journal,
    }.items():
        names = set(re.findall(r"`(\w+)", rows[row]))
        offered = {name for name in vars(kind) if not name.startswith("_")}
        # Set by __init__, each beside a method; the README says what they are for.
        assert names - {"base_url", "headers"} <= offered, row
        assert offered - names <= {"sandbox_for", "is_own", "ports", "version"}, row
