"""The reference app is drilled: it does what every behaviour asks, and each mistake planted in it is found by name."""

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from drills.app import FAULTS
from world import BINARY, ROOT

DRILLS = Path(__file__).parent / "drills"
BEHAVIOURS = {
    folder.parent.name: sorted(f"{folder.parent.name}-{file.stem}" for file in folder.glob("*.yaml"))
    for folder in sorted((ROOT / "Fixtures").glob("*/drills"))
}


# The app as a command of its own.
ALONE = [sys.executable, DRILLS / "app.py"]


@pytest.fixture(scope="module")
def hosted():
    """The command of an app that one process has imported for all behaviours."""
    with tempfile.TemporaryDirectory(prefix="understudy-app-") as folder:
        place = Path(folder) / "socket"
        host = subprocess.Popen([sys.executable, DRILLS / "host.py", place], stdout=subprocess.PIPE)
        try:
            assert host.stdout.readline() == b"ready\n"
            yield [sys.executable, "-I", "-S", DRILLS / "ask.py", place]
            assert host.poll() is None, "the host of the apps ended"
        finally:
            host.terminate()
            host.wait(15)
            host.stdout.close()


def drilled(app: list, vendor: str, names: list[str], fault: str | None = None, parallel: int = 4) -> dict[str, str]:
    """What the drill says of the app, for each behaviour."""
    only = [option for name in names for option in ("--only", name)]
    app = [*app, vendor, *(["--fault", fault] if fault else [])]
    command = [BINARY, "drill", "--vendor", vendor, "--json", "--parallel", str(parallel), *only, "--", *app]
    result = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode in (0, 1), f"{fault} in {vendor}: {result.stderr}"
    found = {behaviour["drill"]: behaviour["result"] for behaviour in json.loads(result.stdout)["behaviours"]}
    assert result.returncode == ("broken" in found.values()), result.stderr
    return found


@pytest.mark.parametrize("vendor", BEHAVIOURS)
def test_a_correct_app_meets_every_behaviour_and_does_what_it_asks(vendor, hosted):
    assert drilled(hosted, vendor, []) == dict.fromkeys(BEHAVIOURS[vendor], "held")


@pytest.mark.parametrize("vendor", BEHAVIOURS)
def test_the_app_is_drilled_as_a_command_of_its_own_too(vendor):
    names = BEHAVIOURS[vendor][:1]
    assert drilled(ALONE, vendor, names) == dict.fromkeys(names, "held")


def test_a_mistake_is_found_by_each_behaviour_that_names_it(hosted):
    cases = [(fault, vendor, names) for fault, of in FAULTS.items() for vendor, names in of.drills.items()]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda case: drilled(hosted, case[1], case[2], case[0], parallel=2), cases))
    missed = {
        (fault, name): result[name]
        for (fault, _, names), result in zip(cases, found, strict=True)
        for name in names
        if result[name] != "broken"
    }
    assert missed == {}


def test_enough_mistakes_are_planted_and_all_name_a_behaviour_that_exists():
    assert len(FAULTS) >= 25
    named = {name for of in FAULTS.values() for names in of.drills.values() for name in names}
    assert named <= {name for names in BEHAVIOURS.values() for name in names}
