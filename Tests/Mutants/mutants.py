"""Reports which small source changes no test notices."""

import argparse
import collections
import fnmatch
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from mutation import apply, candidates, switch_file

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / ".build/mutants"
# What earlier runs found out: changes that do not compile, and tests that fail without any change.
KNOWN = COPY / ".build/mutants.json"
# These are C, or have their tests in packages of their own, which a build of this one does not contain.
LEFT_OUT = [
    "Sources/*.docc/*", "Sources/CEmbedded/*", "Sources/CEpoll/*", "Sources/COpenSSL/*", "Sources/Clients/*",
    "Sources/UnderstudyTesting/*"]
VENDORS = [folder.name for folder in sorted((ROOT / "Sources/Vendors").iterdir())]
# The test targets that use more than one module.
SHARED = ["ConformanceTests", "UnderstudyTests", "UnderstudyCLITests", "PropertyTests"]
# The modules below the program, each of which may use those before it.
ALL = ["JSON", "Wire", "Tokens", "HTTPEngine", "Contracts", "Emulation", *VENDORS]
# With a main file of its own SwiftPM does not look for XCTest cases, for which it needs the index that is not built.
ENTRY = """\
import Testing

@main struct Runner {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
"""


def arguments():
    parser = argparse.ArgumentParser(description="Tells which small changes of the sources no test notices.")
    parser.add_argument("number", type=int, help="how many changes")
    parser.add_argument("--seed", type=int, default=None, help="the same changes each time")
    parser.add_argument("--only", default="Sources/*", help="the files that are changed, as a pattern")
    parser.add_argument(
        "--patience", type=int, default=900,
        help="seconds after which a run of tests counts as hung; a third of that for the quick ones")
    parser.add_argument("--from", type=int, default=1, dest="first", help="the place in the list at which to begin")
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
    # Not in Git, but the versions that were tested.
    for path in [*listed.stdout.splitlines(), "Package.resolved"]:
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
    if sys.platform != "darwin":
        wanted["Tests/XCTMain.swift"] = ENTRY.encode()
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


def known() -> dict:
    return json.loads(KNOWN.read_text()) if KNOWN.is_file() else {"wrong": [], "failing": None}


def remember(**facts) -> None:
    KNOWN.parent.mkdir(parents=True, exist_ok=True)
    KNOWN.write_text(json.dumps(known() | facts, indent=1))


def signature(one) -> str:
    """What makes a change the same one in another run."""
    return f"{one}, {one.start}"


def build(mutants):
    """Builds the copy and removes changes that do not compile."""
    wrong_before = set(known()["wrong"])
    mutants = {number: one for number, one in mutants.items() if signature(one) not in wrong_before}
    while True:
        write(mutants)
        run = subprocess.run(
            ["swift", "build", "--build-tests", "--disable-index-store"], cwd=COPY, capture_output=True, text=True)
        if run.returncode == 0:
            return mutants
        text = run.stdout + run.stderr
        wrong = {(m[1], int(m[2])) for m in re.finditer(rf"{re.escape(str(COPY))}/(\S+?):(\d+):\d+: error", text)}
        bad = {n for n, one in mutants.items() if any(
            path == one.path and abs(line - one.line) <= 12 for path, line in wrong)}
        exact = {n for n in bad if (mutants[n].path, mutants[n].line) in wrong}
        # A missing return, for one, is reported at the end of its function: then the change above it is the cause.
        above = [
            max(((one.line, n) for n, one in mutants.items() if one.path == path and one.line < line), default=None)
            for path, line in wrong]
        switches = {path for path, _ in wrong if path.endswith("MutantSwitch.swift")}
        bad = exact or bad or {one[1] for one in above if one}
        if not bad:
            sys.exit(f"the copy does not build, and no change is to blame {switches or ''}:\n{text[-4000:]}")
        for number in bad:
            print(f"does not compile: {mutants[number]}", flush=True)
        wrong_before |= {signature(mutants[number]) for number in bad}
        remember(wrong=sorted(wrong_before))
        mutants = {number: one for number, one in mutants.items() if number not in bad}


@dataclass(frozen=True)
class Stage:
    """Tests that may notice a change: those of some targets, or the contract cases."""

    name: str
    targets: tuple[str, ...] = ()
    # The only vendor that the conformance kit tests; all if empty.
    vendor: str = ""
    is_quick: bool = True


CONTRACT = Stage("contract cases")


def stages(one) -> list[Stage]:
    """The tests that may notice a change, the nearest first, no target twice.

    A vendor's change cannot reach another vendor's tests, and a test of a foundation module reaches nothing above it.
    """
    module = target(one.path).split("/")[-1]
    own = Stage("own tests", (f"{module}Tests",))
    match module:
        case "UnderstudyCLI":
            return [CONTRACT, own]
        case "Contracts":
            return [own, CONTRACT, Stage("tests above", ("UnderstudyTests", "UnderstudyCLITests"), is_quick=False)]
        case "Understudy":
            above = [f"{vendor}Tests" for vendor in VENDORS] + [name for name in SHARED if name != "UnderstudyTests"]
        case _ if module in VENDORS:
            # The library of a vendor is named after it, and has no part in the conformance kit of its own.
            vendor = next(name for name in VENDORS if module.startswith(name))
            return [
                Stage(CONTRACT.name, vendor=vendor.lower()), own,
                Stage("conformance", ("ConformanceTests",), vendor.lower(), is_quick=False),
                Stage("tests above", tuple(
                    [f"{name}Tests" for name in VENDORS if name.startswith(vendor) and name != module]
                    + [name for name in SHARED if name != "ConformanceTests"]), is_quick=False)]
        case _:
            above = [f"{name}Tests" for name in ALL[ALL.index(module) + 1 :]] + SHARED
    return [own, CONTRACT, Stage("tests above", tuple(above), is_quick=False)]


@dataclass
class Outcome:
    """The result of a run of tests; `failing` has the tests that are known to have failed."""

    failed: bool
    hung: bool = False
    failing: frozenset[str] = frozenset()


def command(pattern: str, leaving_out, events: str) -> list[str]:
    """Runs the tests whose names match."""
    bundle = COPY / ".build/debug/understudyPackageTests.xctest"
    skipped = [word for name in leaving_out for word in ("--skip", whole(name))]
    streamed = ["--event-stream-output-path", events, "--event-stream-version", "0"]
    # On Linux the tests are a program, which begins sooner than by `swift test`.
    start = [str(bundle), "--testing-library", "swift-testing", *streamed] if bundle.is_file() else [
        "Tests/run", "--skip-build", "--disable-xctest", *streamed]
    return [*start, "--filter", pattern, *skipped]


def whole(name: str) -> str:
    """A pattern for one test."""
    return "^" + re.escape(name) + "(/|$)"


def failures(events: str) -> frozenset[str]:
    """The tests to which an event stream attributes issues."""
    found = set()
    for line in Path(events).read_text(errors="replace").splitlines():
        try:
            payload = json.loads(line)["payload"]
        except ValueError:
            continue  # The last line of a run that crashed.
        is_failure = payload.get("kind") == "issueRecorded" and not payload.get("issue", {}).get("isKnown")
        if is_failure and "testID" in payload:
            # Without the place in the source.
            found.add(re.sub(r"/[^/]*\.swift:\d+:\d+$", "", payload["testID"]))
    return frozenset(found)


def attempt(number: int, stage: Stage, patience: int, only=(), leaving_out=(), stops_early=False) -> Outcome:
    """Runs a stage, or only some of its tests, with a change in force; to the first failure if it stops early."""
    environment = dict(
        os.environ, UNDERSTUDY_MUTANT=str(number), SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH="6")
    if stage.vendor:
        environment["CONFORMING_VENDOR"] = stage.vendor
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as events:
        if stage.name == CONTRACT.name:
            line = [str(COPY / ".build/debug/understudy"), "contract", "run"]
            if stage.vendor:
                line.append(f"Fixtures/{stage.vendor}/contract")
        else:
            names = "|".join(map(whole, sorted(only))) or "^(" + "|".join(stage.targets) + r")\."
            line = command(names, leaving_out, events.name)
        process = subprocess.Popen(
            line, cwd=COPY, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        end = time.monotonic() + (patience // 3 if stage.is_quick else patience)
        try:
            unread = b""
            while (status := process.poll()) is None and time.monotonic() < end:
                time.sleep(0.2)
                unread = unread[-20:] + events.read()
                if stops_early and b"issueRecorded" in unread and (failing := failures(events.name)):
                    return Outcome(True, failing=failing)
            return Outcome(status != 0, hung=status is None, failing=failures(events.name))
        finally:
            # Programs that the tests started must not be left either.
            try:
                os.killpg(process.pid, 9)
            except ProcessLookupError:
                pass
            process.wait()


def notices(number: int, some, patience: int, failing_anyway) -> tuple[str, frozenset[str]] | None:
    """The first of the stages that notices a change, and its tests that do; `None` if none does.

    A failing test counts only if it fails again, and alone: on a busy machine it may miss its time limit.
    """
    for stage in some:
        accidents = set(failing_anyway)
        while True:
            first = attempt(number, stage, patience, leaving_out=accidents, stops_early=True)
            if not first.failed:
                break
            again = first if first.hung else attempt(number, stage, patience, only=first.failing, leaving_out=accidents)
            if again.failed:
                return stage.name + (", which hung" if again.hung else ""), again.failing or first.failing
            print(f"failed once only: {', '.join(sorted(first.failing)) or stage.name}", flush=True)
            # The rest of the stage has not been seen.
            accidents |= first.failing
            if not first.failing:
                break
    return None


def failing_unchanged(patience: int) -> list[str]:
    """The tests that fail without any change, such as one that looks at the sources; they cannot judge a change."""
    if attempt(-1, CONTRACT, patience).failed:
        sys.exit("without any change the contract cases fail")
    everything = Stage("all tests", tuple(f"{name}Tests" for name in ALL) + tuple(SHARED), is_quick=False)
    first = attempt(-1, everything, patience)
    if not first.failed:
        return []
    if first.hung or not first.failing:
        sys.exit(f"without any change the tests {'hang' if first.hung else 'crash'}")
    again = attempt(-1, everything, patience, only=first.failing)
    # What failed only once did so by the machine's load.
    return sorted(again.failing)


def main():
    options = arguments()
    chosen = list(choose(options).items())
    random.Random(options.seed).shuffle(chosen)
    compiling = build(dict(chosen))
    began = time.monotonic()
    if (failing := known()["failing"]) is None or options.first == 1:
        remember(failing=(failing := failing_unchanged(options.patience)))
        print(f"Without any change the tests took {time.monotonic() - began:.0f} s.", flush=True)
    for name in failing:
        print(f"Fails without any change, and is left out: {name}", flush=True)
    stages_that_noticed, survivors, waiting = collections.Counter(), [], []
    tried = [
        (number, one) for number, one in chosen if number in compiling and not is_for_another_system(one.path)
    ][: options.number]

    def ask(place: int, number: int, one, some, are_more: bool):
        began = time.monotonic()
        result = notices(number, some, options.patience, failing)
        took = f"{time.monotonic() - began:.0f} s"
        if result:
            stage, tests = result
            stages_that_noticed[stage] += 1
            some = f" - {min(tests)}{f' and {len(tests) - 1} more' if len(tests) > 1 else ''}" if tests else ""
            print(f"{place}. noticed by {stage} ({took}): {one}{some}", flush=True)
        elif are_more:
            waiting.append((place, number, one))
            print(f"{place}. not yet noticed ({took}): {one} (UNDERSTUDY_MUTANT={number})\n    {text(one)}", flush=True)
        else:
            survivors.append((number, one))
            print(f"{place}. SURVIVED ({took}): {one} (UNDERSTUDY_MUTANT={number})\n    {text(one)}", flush=True)

    # First the quick tests for all changes, so that a run that is broken off has said the most by then.
    for place, (number, one) in list(enumerate(tried, 1))[options.first - 1 :]:
        all_stages = stages(one)
        quick = [stage for stage in all_stages if stage.is_quick]
        ask(place, number, one, quick, len(quick) < len(all_stages))
    for place, number, one in waiting:
        ask(place, number, one, [stage for stage in stages(one) if not stage.is_quick], False)
    noticed = sum(stages_that_noticed.values())
    print(f"Of {noticed + len(survivors)} changes the tests noticed {noticed}:")
    for stage, number in stages_that_noticed.most_common():
        print(f"  {number} by {stage}")
    print("Survivors:")
    for number, one in survivors:
        print(f"  {one} (UNDERSTUDY_MUTANT={number})\n    {text(one)}")


def is_for_another_system(path: str) -> bool:
    """Whether the file has code for macOS only, none of which is in a build on Linux."""
    return sys.platform != "darwin" and "+Darwin" in path


def text(one) -> str:
    return (ROOT / one.path).read_text().split("\n")[one.line - 1].strip()


main()
