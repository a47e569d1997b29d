#!/usr/bin/env python3
"""Holds recorded exchanges and socket frames to the documents of the vendors' interfaces.

    judge.py FILE.jsonl…             fails also on descriptions, failures and shared parts that nothing met
    judge.py --partial FILE.jsonl…   does not: for the records of some tests only

The files are what `understudy serve --record` writes, the documents what the program prints with `routes --openapi` and
`--asyncapi`. A fault or a scenario may answer anything, so exchanges with an intervention are only counted, but
for failures that a test armed.
"""

import argparse
import collections
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.validators import extend
from world import BINARY, VENDORS

# What the journal shows in the place of content that it does not show.
OMITTED = re.compile(r"\((too long to be kept|\d+ bytes)\)")
MASK = "***"
FAILURE = "failure."
# RFC 3339 section 5.6, which the validator leaves to a package of its own.
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)")
FORMATS = FormatChecker()
FORMATS.checks("date-time")(lambda text: not isinstance(text, str) or MOMENT.fullmatch(text) is not None)


@dataclass
class Answer:
    """What a route may answer with one status."""

    types: dict[str, set[str]] = field(default_factory=dict)
    """The media types of its content, each with the schemas of which it must fit one; none for no content."""
    is_own: bool = False
    """Whether it is more than the status of a failure."""


@dataclass
class Route:
    answers: dict[int, Answer] = field(default_factory=dict)
    failures: set[str] = field(default_factory=set)


@dataclass
class Frame:
    action: str
    schema: dict


class Interface:
    """A vendor's documents, and which parts of them were met."""

    def __init__(self, vendor: str, document: dict, sockets: dict | None):
        self.vendor = vendor
        self.schemas = document["components"]["schemas"]
        self.routes: dict[str, Route] = {}
        for path in document["paths"].values():
            for operation in path.values():
                self.read(operation)
        self.frames: dict[str, Frame] = {}
        if sockets:
            actions = {
                name_of(message["$ref"]): operation["action"]
                for operation in sockets["operations"].values() for message in operation["messages"]}
            self.frames = {
                name: Frame(actions[name], message["payload"])
                for name, message in sockets["components"]["messages"].items()}
            # What frames share is there in both documents.
            self.schemas |= sockets["components"]["schemas"]
        own = {f"{name}.{status}" for name, route in self.routes.items() for status in route.answers}
        self.shared = {name for name in self.schemas if name not in own and not name.startswith(FAILURE)}
        self.met: set[tuple] = set()
        self.validators = {}
        self.validator = extend(Draft202012Validator, {"$ref": self.follow})

    def read(self, operation: dict) -> None:
        route = self.routes.setdefault(operation["x-route"], Route())
        route.failures.update(operation["x-failures"])
        for status, response in operation["responses"].items():
            if status != "default":
                answer = route.answers.setdefault(int(status), Answer())
                for kind, content in response.get("content", {}).items():
                    answer.types.setdefault(kind, set()).update(references(content.get("schema", {})))
                answer.is_own = answer.is_own or "x-source" in response

    def follow(self, validator, reference, instance, schema) -> Iterator[ValidationError]:
        """The keyword `$ref`, which notes what fits: only shared parts that some value fitted are met."""
        name = name_of(reference)
        errors = list(validator.descend(instance, self.schemas[name], schema_path=name))
        if all(map(is_masked, errors)):
            self.met.add(("part", name))
        yield from errors

    def errors(self, schema: dict, value) -> list[ValidationError]:
        made = self.validators.get(id(schema))
        if made is None:
            made = self.validators[id(schema)] = self.validator(schema, format_checker=FORMATS)
        return [error for error in made.iter_errors(value) if not is_masked(error)]

    @property
    def descriptions(self) -> dict[tuple, str]:
        """All that must be met, with its name in words."""
        named = {
            ("answer", name, status): f"{name} answers {status}"
            for name, route in self.routes.items() for status, answer in route.answers.items() if answer.is_own}
        failures = {name for route in self.routes.values() for name in route.failures}
        failures |= {name.removeprefix(FAILURE) for name in self.schemas if name.startswith(FAILURE)}
        named |= {("failure", name): f"the failure {name}" for name in failures}
        named |= {("part", name): f"the shared part {name}" for name in self.shared}
        return named | {("frame", name): f"the frame {name}" for name in self.frames}


def references(schema: dict) -> set[str]:
    """The schemas of which a value must fit one."""
    if "$ref" in schema:
        return {name_of(schema["$ref"])}
    return {name for each in schema.get("anyOf", []) for name in references(each)}


def name_of(reference: str) -> str:
    return reference.rpartition("/")[2].replace("~1", "/").replace("~0", "~")


def short(value, length: int = 160) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= length else f"{text[:length]}…"


def is_masked(error: ValidationError) -> bool:
    """Whether only a secret stands where something else is expected: it may be of any kind, and is recorded as a text."""
    if error.context:
        choices = collections.defaultdict(list)
        for each in error.context:
            choices[each.schema_path[0]].append(each)
        return any(all(map(is_masked, errors)) for errors in choices.values())
    return isinstance(error.instance, str) and MASK in error.instance


def problem_of(error: ValidationError) -> tuple[str, str, str]:
    """Where, what was found, and what the description says there."""
    deepest = best_match([error]) if error.context else error
    pointer = "".join(f"/{part}" for part in deepest.absolute_path)
    # A list's elements are described once.
    pointer = re.sub(r"/\d+(?=/|$)", "/*", pointer) or "/"
    if deepest.validator == "additionalProperties" and isinstance(deepest.instance, dict):
        known = sorted(deepest.schema.get("properties", {}))
        surplus = ", ".join(sorted(set(deepest.instance) - set(known)))
        return pointer, short(deepest.instance), f"no member {surplus}, only {short(known)}"
    if deepest.validator == "required":
        # One error for each: the message begins with its name in quotes.
        missing = deepest.message.split("'")[1]
        return pointer, short(deepest.instance), f"the member {missing}, which is always there"
    return pointer, short(deepest.instance), short({deepest.validator: deepest.validator_value})


def entries(file: Path) -> Iterator[tuple[int, dict]]:
    """The lines of a record with their numbers."""
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield number, json.loads(line)
            except ValueError as error:
                raise SystemExit(f"{file}:{number}: no line of JSON: {error}") from None


def is_armed(entry: dict) -> bool:
    """Whether a test armed the failure, and nothing else influenced the answer."""
    armed = rf": fail {re.escape(entry.get('failure') or '-')}(; waits for [^;]*)?$"
    return re.search(armed, str(entry.get("intervention"))) is not None


class Judge:
    def __init__(self, interfaces: dict[str, Interface]):
        self.interfaces = interfaces
        self.counts: collections.Counter = collections.Counter()
        self.left_out: collections.Counter = collections.Counter()
        # One line for all that differ in the same way, with the first as an example.
        self.problems: dict[tuple, list] = {}
        self.judged: dict[tuple, bool] = {}

    def read(self, file: Path) -> None:
        source = file.stem.split("-")[0]
        for number, entry in entries(file):
            if "dropped" in entry:
                self.left_out["lost by the recorder"] += entry["dropped"]
                continue
            place = f"{file.name}:{number}"
            interface = self.interfaces.get(entry.get("vendor"))
            if interface is None:
                self.left_out["of no vendor"] += 1
                continue
            for frame in (entry.get("socket") or {}).get("frames", []):
                self.judge_frame(interface, frame, source, place)
            if "response" in entry:
                self.judge(interface, entry, source, place)

    def note(self, interface: Interface, what: str, place: str, pointer: str = "", found: str = "", expected: str = ""):
        key = (interface.vendor, what, pointer, expected)
        if key in self.problems:
            self.problems[key][0] += 1
        else:
            self.problems[key] = [1, place, found]

    def judge(self, interface: Interface, entry: dict, source: str, place: str) -> None:
        route, status, failure = entry.get("route"), entry["status"], entry.get("failure")
        if not route and not failure:
            self.left_out["without a route"] += 1
        elif entry.get("intervention") and not is_armed(entry):
            self.left_out["with an intervention"] += 1
        else:
            self.counts["answers", interface.vendor] += 1
            self.counts["answers", "from", source] += 1
            method, body = entry["request"]["method"], entry["response"]["body"]
            kind = next((value for name, value in entry["response"]["headers"] if name.lower() == "content-type"), "")
            kind = kind.split(";")[0].strip().lower()
            bodiless = body is None and (method == "HEAD" or status == 304)
            digest = hashlib.sha1(json.dumps(body).encode()).digest()
            key = (interface.vendor, route, status, failure, bodiless, kind, digest)
            # The same answer is judged once, and counted as often as it was given.
            if self.judged.get(key) is not True:
                what, problems = f"{route or 'no route'} {status}{f' {failure}' if failure else ''}", False
                for pointer, found, expected in self.differences(interface, entry, kind, bodiless):
                    problems = True
                    self.note(interface, what, f"{place}, {method} {entry['request']['target'][:120]}", pointer, found, expected)
                self.judged[key] = not problems

    def differences(self, interface: Interface, entry: dict, kind: str, bodiless: bool) -> Iterator[tuple[str, str, str]]:
        route, status, failure = entry["route"], entry["status"], entry.get("failure")
        body = entry["response"]["body"]
        if not route:
            # What a vendor answers where it has nothing.
            interface.met.add(("failure", failure))
            for error in interface.errors(interface.schemas.get(f"{FAILURE}{failure}", {}), body):
                yield problem_of(error)
            return
        if route not in interface.routes:
            yield "", "a route that is not described", "a description"
            return
        described = interface.routes[route]
        answer = described.answers.get(status)
        if answer is None and is_armed(entry):
            answer = Answer({kind: {f"{FAILURE}{failure}"}})
        if answer is None or not (failure or answer.is_own):
            yield "", f"an answer that is not described, {short(body)}", f"{sorted(described.answers)}, or a failure"
            return
        # A test may arm any failure at any route.
        if failure and failure not in described.failures and not entry.get("intervention"):
            yield "", f"a failure that the route does not list, {short(body)}", f"one of {short(sorted(described.failures))}"
            return
        interface.met.add(("failure", failure) if failure else ("answer", route, status))
        if bodiless or isinstance(body, str) and OMITTED.fullmatch(body):
            self.counts["without their content", interface.vendor] += 1
            return
        # A failure without content is told by a redirect or by a challenge.
        told = {name.lower() for name, _ in entry["response"]["headers"]} & {"location", "www-authenticate"}
        if failure and body is None and told:
            return
        name = f"{FAILURE}{failure}" if failure else f"{route}.{status}"
        if name not in interface.schemas and body is None:
            return
        if kind not in answer.types and "*/*" not in answer.types:
            yield "", f"{kind or 'no media type'} {short(body)}", " or ".join(sorted(answer.types)) or "no content"
        elif name in answer.types.get(kind, ()) and name in interface.schemas:
            for error in interface.errors(interface.schemas[name], body):
                yield problem_of(error)

    def judge_frame(self, interface: Interface, frame: dict, source: str, place: str) -> None:
        message = frame["message"]
        self.counts["frames", interface.vendor] += 1
        self.counts["frames", "from", source] += 1
        if isinstance(message, str) and OMITTED.fullmatch(message):
            self.counts["without their content", interface.vendor] += 1
            return
        action = "send" if frame["from"] == "server" else "receive"
        own = {name: frame.schema for name, frame in interface.frames.items() if frame.action == action}
        errors = {name: interface.errors(schema, message) for name, schema in own.items()}
        met = {name for name in own if not errors[name]}
        interface.met.update(("frame", name) for name in met)
        # A client may say what it likes: what nobody describes is not heard.
        if met or action == "receive":
            return
        # That of the same name, otherwise the one that differs least.
        told = [[problem_of(error) for error in each] for each in errors.values()]
        nearest = min(told, key=lambda each: (any(pointer == "/name" for pointer, *_ in each), len(each)), default=[])
        for pointer, found, expected in nearest or [("", short(message), "a described frame")]:
            self.note(interface, "a frame", place, pointer, found, expected)

    def report(self, sources: list[str], is_partial: bool) -> int:
        for (vendor, what, pointer, expected), (count, place, found) in sorted(self.problems.items()):
            print(f"{vendor}: {what}{f', {pointer}' if pointer else ''}: found {found}; expected {expected}")
            print(f"    {count} time{'s' if count > 1 else ''}, first at {place}")
        failed = bool(self.problems) or bool(self.left_out["lost by the recorder"])
        for vendor, interface in self.interfaces.items():
            named = interface.descriptions
            unmet = [words for key, words in sorted(named.items(), key=str) if key not in interface.met]
            if not is_partial:
                for words in unmet:
                    print(f"{vendor}: {words}: described, and no test met it")
                failed = failed or bool(unmet)
            print(f"{vendor}: met {len(named) - len(unmet)} of {len(named)} descriptions")
        for kind in ("answers", "frames"):
            for title, keys in (("by vendor", [(kind, name) for name in self.interfaces]),
                                ("by source", [(kind, "from", name) for name in sources])):
                counts = [f"{key[-1]} {self.counts[key]}" for key in keys if self.counts[key]]
                print(f"{kind} {title}: {', '.join(counts) or 'none'}")
        left_out = ", ".join(f"{count} {why}" for why, count in self.left_out.items())
        print(f"not judged: {left_out or 'none'}")
        answers, frames = (sum(self.counts[kind, name] for name in self.interfaces) for kind in ("answers", "frames"))
        print(f"Judged {answers} answers, {len(self.judged)} of them different, and {frames} frames: "
              f"{len(self.problems)} differ from their description")
        return 1 if failed else 0


def printed(vendor: str, form: str) -> dict | None:
    """The document that the program prints; none where a vendor has no sockets."""
    done = subprocess.run([BINARY, "routes", f"--{form}", vendor], capture_output=True, text=True)
    if done.returncode:
        if form == "asyncapi":
            return None
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def interfaces() -> dict[str, Interface]:
    return {vendor: Interface(vendor, printed(vendor, "openapi"), printed(vendor, "asyncapi")) for vendor in VENDORS}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="+", type=Path, metavar="FILE.jsonl")
    options.add_argument("--partial", action="store_true", help="do not fail on descriptions that nothing met")
    wanted = options.parse_args()
    judge = Judge(interfaces())
    for file in wanted.files:
        judge.read(file)
    return judge.report(sorted({file.stem.split("-")[0] for file in wanted.files}), wanted.partial)


if __name__ == "__main__":
    sys.exit(main())
