"""The clients' tests: `sandbox` and `understudy` are the fixtures of the plugin under test."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The browser is driven as it is there.
sys.path.append(str(ROOT / "Tests/Interop"))

pytest_plugins = ["pytester"]


@pytest.fixture
def server_package(tmp_path, monkeypatch):
    """The package understudy-server as pip records it, and in PATH another program; nothing else names one."""
    environment, elsewhere = tmp_path / "environment", tmp_path / "elsewhere"
    record = environment / "lib/site-packages/understudy_server-0.2.0.dist-info/RECORD"
    for folder in (record.parent, environment / "bin", elsewhere):
        folder.mkdir(parents=True)
    record.write_text("../../bin/understudy,,\n")
    (record.parent / "METADATA").write_text("Metadata-Version: 2.4\nName: understudy-server\nVersion: 0.2.0\n")
    program = environment / "bin/understudy"
    program.symlink_to(os.environ["UNDERSTUDY_BINARY"])
    (elsewhere / "understudy").write_text("#!/bin/sh\necho this is the one in PATH >&2\nexit 3\n")
    (elsewhere / "understudy").chmod(0o755)
    monkeypatch.setenv("PATH", f"{elsewhere}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(record.parents[1]))
    monkeypatch.syspath_prepend(str(record.parents[1]))
    monkeypatch.delenv("UNDERSTUDY_BINARY")
    return program
