"""The manual: one page per command, made by the argument parser's own tool, and without warnings from viewers."""

import json
import shutil
import subprocess
import sys

import pytest
from world import BINARY, ROOT


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("man") / "man1"
    made = subprocess.run([ROOT / "docker/manual.sh", BINARY, folder], capture_output=True, text=True, timeout=600)
    assert made.returncode == 0, made.stdout + made.stderr
    return {page.name: page for page in folder.iterdir()}


def commands(command: dict, path: tuple = ()):
    path = (*path, command["commandName"])
    yield path, command
    for each in command.get("subcommands", []):
        yield from commands(each, path)


def test_every_command_has_a_page_with_all_its_options(pages):
    told = json.loads(subprocess.run([BINARY, "--experimental-dump-help"], capture_output=True, text=True, check=True).stdout)
    known = dict(commands(told["command"]))
    assert set(pages) == {".".join(path) + ".1" for path in known} and len(known) > 15
    for path, command in known.items():
        text = pages[".".join(path) + ".1"].read_text()
        assert command["abstract"].rstrip(".") in " ".join(text.split()).replace("\\", ""), path
        for argument in command.get("arguments", []):
            for name in argument.get("names", []):
                assert name["name"].replace("-", "\\-") in text or name["name"] in text, (path, name)


@pytest.mark.skipif(sys.platform != "linux", reason="only man-db warns")
def test_man_shows_every_page_without_a_warning(pages):
    assert shutil.which("man"), "man is not installed; docker/bootstrap.sh ci installs it"
    for name, page in pages.items():
        shown = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True, env={"MANWIDTH": "100", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})
        assert (shown.returncode, shown.stderr) == (0, ""), name
        assert name.removesuffix(".1").replace(".", " ") in shown.stdout, name
    journal = subprocess.run(["man", "-l", pages["understudy.journal.1"]], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}).stdout
    assert "Example: understudy journal --refused --follow\n" in journal, "an example has a line of its own"


def test_mandoc_finds_nothing_wrong(pages):
    assert shutil.which("mandoc"), "mandoc is not installed; docker/bootstrap.sh ci installs it"
    found = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *pages.values()], capture_output=True, text=True)
    assert found.stdout + found.stderr == ""
