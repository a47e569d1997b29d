"""The reference app is drilled: it does what every behaviour asks, and each mistake planted in it is found by name."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from drills.app import FAULTS
from world import BINARY, ROOT

APP = Path(__file__).parent / "drills/app.py"
BEHAVIOURS = {
    folder.parent.name: sorted(f"{folder.parent.name}-{file.stem}" for file in folder.glob("*.yaml"))
    for folder in sorted((ROOT / "Fixtures").glob("*/drills"))
}


def drilled(vendor: str, names: list[str], fault: str | None = None, parallel: int = 4) -> dict[str, str]:
    """What the drill says of the app, for each behaviour."""
    only = [option for name in names for option in ("--only", name)]
    app = [sys.executable, APP, vendor, *(["--fault", fault] if fault else [])]
    command = [BINARY, "drill", "--vendor", vendor, "--json", "--parallel", str(parallel), *only, "--", *app]
    result = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode in (0, 1), f"{fault} in {vendor}: {result.stderr}"
    found = {behaviour["drill"]: behaviour["result"] for behaviour in json.loads(result.stdout)["behaviours"]}
    assert result.returncode == ("broken" in found.values()), result.stderr
    return found


@pytest.mark.parametrize("vendor", BEHAVIOURS)
def test_a_correct_app_meets_every_behaviour_and_does_what_it_asks(vendor):
    assert drilled(vendor, []) == dict.fromkeys(BEHAVIOURS[vendor], "held")


def test_a_mistake_is_found_by_each_behaviour_that_names_it():
    cases = [(fault, vendor, names) for fault, of in FAULTS.items() for vendor, names in of.drills.items()]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda case: drilled(case[1], case[2], case[0], parallel=2), cases))
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
