"""Completions in the shells that people use: types a line, presses TAB, and reads the completed line."""

import json
import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest
from world import BINARY, Sandbox

# The command that opens the shell without user settings, and the setup for completing `understudy`.
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source {folder}/script.bash"),
    "zsh": (["zsh", "-f", "-i"], "fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -D; bindkey -e"),
    "fish": (["fish", "--no-config", "--interactive"], "source {folder}/script.fish"),
}
# The typed text and its completion. Sandbox names need a server; everything else is known without one.
NAMES = [
    ("journal --vendor rez", "rezolve"), ("journal --route addressbook.li", "addressbook.list"), ("routes --vendor com", "comapi"),
    ("scenario rezolve-bu", "rezolve-busy-backend"), ("serve --scenario ims-keys-u", "ims-keys-unreachable"),
    ("serve --switch rezolve.device-ch", "rezolve.device-check="), ("routes --switch rezolve.device-ch", "rezolve.device-check="),
    ("token mint bloom", "bloomreach"), ("token explain --vendor im", "ims"), ("token verify --as ok", "okta"),
    ("serve --profile docu", "documented"), ("init --vendor com", "comapi"), ("init --language py", "python"),
    ("fixtures schemas --vendor ok", "okta"), ("fixtures imp", "import"),
]
SANDBOXES = [("sandbox completed-by-t", "completed-by-tab"), ("clock --sandbox completed-by-t", "completed-by-tab"),
             ("journal --sandbox completed-by-t", "completed-by-tab"), ("token explain --sandbox completed-by-t", "completed-by-tab")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The scripts for all shells, and the program under its own name."""
    folder = tmp_path_factory.mktemp("completions")
    for name, file in (("bash", "script.bash"), ("zsh", "_understudy"), ("fish", "script.fish")):
        script = subprocess.run([BINARY, "--generate-completion-script", name], capture_output=True, text=True, check=True)
        (folder / file).write_text(script.stdout)
    program = folder / "understudy"
    program.write_text(f'#!/bin/sh\nexec "{BINARY}" "$@"\n')
    program.chmod(0o755)
    return folder


def complete(shell: str, folder, lines: list[str], environment: dict) -> list[str]:
    """The lines after TAB is pressed at the end of each."""
    command, preparation = SHELLS[shell]
    assert shutil.which(shell), f"{shell} is not installed; docker/bootstrap.sh ci installs it"
    process, screen = pty.fork()
    if process == 0:
        os.environ.update({"TERM": "dumb", "HOME": str(folder), "PATH": f"{folder}:{os.environ['PATH']}", **environment})
        os.chdir(folder)
        os.execvp(command[0], command)
    written = ""

    def press(keys: str, wanted: str) -> str:
        nonlocal written
        os.write(screen, keys.encode())
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if select.select([screen], [], [], 0.2)[0]:
                written += os.read(screen, 65536).decode(errors="replace")
            if found := re.findall(wanted, written):
                return found[-1]
        raise AssertionError(f"{keys!r} did not lead to {wanted!r}: {written[-2000:]}")

    try:
        press(f"{preparation.format(folder=folder)}; echo rea''dy\r", "ready")
        results = []
        for number, line in enumerate(lines):
            # The completed line is printed, not run; the quotes keep the typed text from looking like the answer.
            # After three seconds the program gives up, and nothing is completed; on a busy machine the next time is in time.
            for attempt in range(20):
                name = f"{number}-{attempt}"
                result = press(f"understudy {line}\t\x01echo NR''{name}'<' \x05'>'\r", rf"NR{name}< understudy (.*?) ?>")
                if result != line:
                    break
            results.append(result)
        return results
    finally:
        os.close(screen)
        os.waitpid(process, 0)


@pytest.mark.parametrize("shell", SHELLS)
def test_names_are_completed_from_a_running_server(shell, folder, server, tmp_path):
    ports = tmp_path / "ports"
    ports.write_text(f"http {server.port}\n")
    Sandbox(server, "completed-by-tab").control("PUT", "clock", {"freeze": True})
    cases = NAMES + SANDBOXES
    results = complete(shell, folder, [line for line, _ in cases], {"UNDERSTUDY_PORT_FILE": str(ports)})
    assert [result.split()[-1] for result in results] == [name for _, name in cases]


@pytest.mark.parametrize("shell", SHELLS)
def test_names_are_completed_from_the_fixtures_without_a_server(shell, folder):
    results = complete(shell, folder, [line for line, _ in NAMES], {"UNDERSTUDY_PORT": "1"})
    assert [result.split()[-1] for result in results] == [name for _, name in NAMES]


def test_every_value_with_names_can_be_completed():
    told = json.loads(subprocess.run([BINARY, "--experimental-dump-help"], capture_output=True, text=True, check=True).stdout)
    without, asked = [], set()

    def look(command, path):
        for argument in command.get("arguments", []):
            name = (argument.get("names") or [{}])[-1].get("name") or argument["valueName"]
            if argument["kind"] == "flag" or name not in ("vendor", "route", "switch", "scenario", "names", "sandbox", "profile"):
                continue
            asked.add(name)
            if "custom" not in argument.get("completionKind", {}):
                without.append(f"{path} {name}")
        for each in command.get("subcommands", []):
            look(each, f"{path} {each['commandName']}")

    look(told["command"], "understudy")
    assert without == [] and asked >= {"vendor", "route", "switch", "scenario", "names", "sandbox", "profile"}
