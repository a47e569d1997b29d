"""Reports which small source changes no test notices."""

import argparse
import collections
import fnmatch
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from mutation import apply, candidates, switch_file

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / ".build/mutants"
# Changes here affect only timing or text for people, so no test can notice them.
LEFT_OUT = ["Sources/*.docc/*", "Sources/CEpoll/*", "Sources/COpenSSL/*"]


def arguments():
    parser = argparse.ArgumentParser(description="Tells which small changes of the sources no test notices.")
    parser.add_argument("number", type=int, help="how many changes")
    parser.add_argument("--seed", type=int, default=None, help="the same changes each time")
    parser.add_argument("--only", default="Sources/*", help="the files that are changed, as a pattern")
    parser.add_argument("--patience", type=int, default=900, help="seconds after which a run of tests counts as hung")
    return parser.parse_args()


def sources(pattern: str) -> list[str]:
    listed = subprocess.run(["git", "ls-files", "Sources"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [
        path for path in listed.split()
        if path.endswith(".swift") and fnmatch.fnmatch(path, pattern)
        and not any(fnmatch.fnmatch(path, out) for out in LEFT_OUT)]


def choose(options):
    """The requested number of changes, at most one per line, plus spares for those that do not compile."""
    everything = [one for path in sources(options.only) for one in candidates(path, (ROOT / path).read_text())]
    generator = random.Random(options.seed)
    chosen, lines = [], set()
    # Balances the kinds: there are ten constants for each condition.
    pools = collections.defaultdict(list)
    for one in everything:
        pools[one.kind].append(one)
    for pool in pools.values():
        generator.shuffle(pool)
    while len(chosen) < options.number * 3 // 2 + 5 and any(pools.values()):
        for kind in sorted(pools):
            if pools[kind]:
                one = pools[kind].pop()
                if (one.path, one.line) not in lines:
                    lines.add((one.path, one.line))
                    chosen.append(one)
    print(f"{len(everything)} places can be changed, of which {len(chosen)} are tried.", flush=True)
    return dict(enumerate(chosen))


def target(path: str) -> str:
    """The module folder of a file."""
    parts = path.split("/")
    return "/".join(parts[:3] if parts[1] == "Vendors" else parts[:2])


def write(mutants) -> None:
    """Writes the changes into the copy, next to the rest of the unchanged tree."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
        check=True)
    wanted = {}
    for path in listed.stdout.splitlines():
        if (ROOT / path).is_file():
            wanted[path] = (ROOT / path).read_bytes()
    files, modules = collections.defaultdict(dict), collections.defaultdict(dict)
    for number, one in mutants.items():
        files[one.path][number] = one
        modules[target(one.path)].setdefault(number, one)
    for path, own in files.items():
        wanted[path] = apply(wanted[path].decode(), own).encode()
    for folder, own in modules.items():
        operators = {number: one for number, one in own.items() if one.kind == "operator"}
        wanted[f"{folder}/MutantSwitch.swift"] = switch_file(operators).encode()
    for old in COPY.rglob("MutantSwitch.swift"):
        if ".build" not in old.relative_to(COPY).parts and str(old.relative_to(COPY)) not in wanted:
            old.unlink()
    for path, content in wanted.items():
        place = COPY / path
        # An unchanged file keeps its time, so that it is not recompiled.
        if not place.is_file() or place.read_bytes() != content:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            shutil.copymode(ROOT / path if (ROOT / path).exists() else __file__, place)


def build(mutants):
    """Builds the copy and removes changes that do not compile."""
    while True:
        write(mutants)
        run = subprocess.run(["swift", "build", "--build-tests"], cwd=COPY, capture_output=True, text=True)
        if run.returncode == 0:
            return mutants
        text = run.stdout + run.stderr
        wrong = {(m[1], int(m[2])) for m in re.finditer(rf"{re.escape(str(COPY))}/(\S+?):(\d+):\d+: error", text)}
        bad = {n for n, one in mutants.items() if any(
            path == one.path and abs(line - one.line) <= 12 for path, line in wrong)}
        exact = {n for n in bad if (mutants[n].path, mutants[n].line) in wrong}
        switches = {path for path, _ in wrong if path.endswith("MutantSwitch.swift")}
        bad = exact or bad
        if not bad:
            sys.exit(f"the copy does not build, and no change is to blame {switches or ''}:\n{text[-4000:]}")
        print(f"{len(bad)} changes do not compile.", flush=True)
        mutants = {number: one for number, one in mutants.items() if number not in bad}


def stages(one) -> list[tuple[str, list[str]]]:
    """The tests that may notice a change, quickest first."""
    module = target(one.path).split("/")[-1]
    binary = str(COPY / ".build/debug/understudy")
    all_tests = ["Tests/run", "--skip-build"]
    near = {"Emulation": "EmulationTests|UnderstudyTests", "Wire": "WireTests", "Understudy": "UnderstudyTests"}
    return [
        ("contract cases", [binary, "contract", "run"]),
        ("own tests", [*all_tests, "--filter", f"^({near.get(module, module.replace('UnderstudyTesting', 'None') + 'Tests')})\\."]),
        ("all tests", all_tests),
    ]


def notices(number: int, one, patience: int):
    """The stage that notices a change; `None` if none does."""
    environment = dict(os.environ, UNDERSTUDY_MUTANT=str(number))
    for name, command in stages(one):
        process = subprocess.Popen(
            command, cwd=COPY, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        try:
            if process.wait(timeout=patience) != 0:
                return name
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            return name + ", which hung"
    return None


def main():
    options = arguments()
    mutants = build(choose(options))
    if (calm := notices(-1, next(iter(mutants.values())), options.patience)) is not None:
        sys.exit(f"without any change the {calm} fail")
    chosen = list(mutants.items())
    random.Random(options.seed).shuffle(chosen)
    noticed, survivors = 0, []
    for number, one in chosen[: options.number]:
        began = time.monotonic()
        stage = notices(number, one, options.patience)
        noticed += stage is not None
        if stage is None:
            survivors.append(one)
        print(f"{'noticed by ' + stage if stage else 'SURVIVED'} ({time.monotonic() - began:.0f} s): {one}", flush=True)
    print(f"Of {noticed + len(survivors)} changes the tests noticed {noticed}. Survivors:")
    for one in survivors:
        line = (ROOT / one.path).read_text().split("\n")[one.line - 1].strip()
        print(f"  {one}\n    {line}")


main()
