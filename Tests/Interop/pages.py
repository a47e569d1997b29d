"""Fills the marked sections of the vendors' pages from what the program prints of itself.

A section reads `<!-- generated: failures -->`, what is generated, `<!-- end -->`. Run as a program, it writes the
pages; `test_vendor_pages.py` compares them.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

from world import BINARY, NOW, ROOT, VENDORS

CATALOG = ROOT / "Sources/Understudy/Understudy.docc"
# The page that lists what all vendors support; a vendor's name is part of its sections.
SUPPORTED = CATALOG / "Supported.md"
PAGES = {page: page.stem.lower() for page in sorted(CATALOG.glob("*.md")) if page.stem.lower() in VENDORS}
COMMAND = "python Tests/Interop/pages.py"

SECTION = re.compile(r"(<!-- generated: ([^>]+) -->\n).*?(<!-- end -->)", re.S)

# What the columns of `understudy routes` are called on the pages, in this order, and which of them are names in code.
COLUMNS = {
    "routes": {"route": "Route", "method": "Method", "path": "Path", "evidence": "Evidence", "source": "Source"},
    "failures": {"failure": "Failure", "status": "Status", "about": "When", "evidence": "Evidence", "source": "Source"},
    "switches": {
        "switch": "Switch", "about": "Decides", "documented": "Documented", "observed": "Observed", "values": "Values",
        "source": "Source"},
    "actions": {"action": "Action", "members": "Members (`!`: required)", "about": "Does"},
    "scenarios": {"scenario": "Scenario", "about": "Plays"},
}
CODE = {"route", "path", "failure", "switch", "action", "scenario", "members"}


def filled(page: str, vendor: str) -> str:
    """The page with its sections as the program prints them now."""
    return SECTION.sub(lambda section: f"{section[1]}\n{generated(section[2], vendor)}\n\n{section[3]}", page)


def generated(name: str, vendor: str) -> str:
    if name in COLUMNS:
        rows = ask("routes", f"--{name}", "--vendor", vendor, "--json")
        return table(COLUMNS[name].values(), [[cell(column, row[column]) for column in COLUMNS[name]] for row in rows])
    if name == "tokens":
        return tokens(vendor)
    if name.startswith("supported "):
        return supported(name.removeprefix("supported "))
    if name.startswith("rules "):
        return rules(vendor, name.removeprefix("rules "))
    raise ValueError(f"no section is called {name!r}")


def tokens(vendor: str) -> str:
    """The kinds of token that can be minted, from the text of the command that lists them."""
    lines = understudy("token", "mint", vendor).splitlines()
    rows = []
    for line in lines:
        if kind := re.match(r"([a-z-]+): (.*)", line):
            rows.append([f"`{kind[1]}`", escaped(kind[2]), [], ""])
        elif member := re.match(r"  --with ([\w-]+)=…\s+(.*)", line):
            rows[-1][2].append(f"`{member[1]}`: {escaped(member[2])}")
        elif defects := re.match(r"  own defects: (.*)", line):
            rows[-1][3] = ", ".join(f"`{defect}`" for defect in defects[1].split(", "))
    return table(
        ["Kind", "What it is", "Members", "Its own defects"],
        [[kind, about, "; ".join(members), defects] for kind, about, members, defects in rows])


def rules(vendor: str, kind: str) -> str:
    """The checks of a token in their order, as they are listed for a token minted at the clock of the examples."""
    token = understudy("token", "mint", vendor, kind, "--at", str(NOW)).strip()
    verdicts = ask("token", "explain", "--vendor", vendor, "--at", str(NOW), "--json", token, codes=(0, 1))["verdicts"]
    rows = [
        [str(place), f"`{finding['check']}`", expected(finding.get("expected")), escaped(finding.get("source", "ours"))]
        for place, finding in enumerate(verdicts[0]["findings"], 1)]
    return table(["", "Check", "Expects", "Source"], rows)


def supported(vendor: str) -> str:
    """A vendor's routes with the statuses and the number of failures that its OpenAPI document describes."""
    document = ask("routes", "--openapi", vendor)
    described = document["components"]["schemas"]
    routes, calls = {}, {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            routes.setdefault(operation["x-route"], operation)
            calls.setdefault(operation["x-route"], []).append(f"`{method.upper()} {path}`")
    answers = {name: answers_of(name, operation) for name, operation in routes.items()}
    failures = sum(name.startswith("failure.") for name in described)
    rows = [
        [f"`{name}`", "; ".join(calls[name]), operation["x-evidence"], ", ".join(answers[name]),
         str(len(operation["x-failures"]))]
        for name, operation in routes.items()]
    count = f"{len(routes)} routes, {sum(map(len, answers.values()))} answers and {failures} failures, each judged."
    return f"{count}\n\n" + table(["Route", "Calls", "Evidence", "Answers", "Failures"], rows)


def answers_of(route: str, operation: dict) -> list[str]:
    """The statuses of a route that are no failures."""
    return [status for status, answer in operation["responses"].items() if "x-evidence" in answer]


def expected(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        # A list may repeat a form of an address; each is listed once.
        return ", ".join(f"`{item}`" for item in dict.fromkeys(value))
    return escaped(str(value))


def cell(column: str, value: str) -> str:
    if column in CODE:
        return ", ".join(f"`{part}`" for part in value.split(", ")) if value else ""
    return escaped(value)


def escaped(text: str) -> str:
    """Text for a cell of a table, without anything that Markdown would read as its own."""
    return re.sub(r"([\\|*_<>`\[\]])", r"\\\1", text)


def table(heads, rows) -> str:
    lines = [list(heads), ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |".replace("  |", " |") for line in lines)


def ask(*arguments: str, codes=(0,)):
    return json.loads(understudy(*arguments, codes=codes))


def understudy(*arguments: str, codes=(0,)) -> str:
    command = [BINARY, *arguments, "--fixtures", ROOT / "Fixtures"]
    answer = subprocess.run(command, capture_output=True, text=True)
    if answer.returncode not in codes:
        raise RuntimeError(f"{' '.join(map(str, command))}:\n{answer.stderr}")
    return answer.stdout


def main() -> int:
    for path, vendor in [*PAGES.items(), (SUPPORTED, "")]:
        old = path.read_text()
        new = filled(old, vendor)
        if new != old:
            path.write_text(new)
            print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
