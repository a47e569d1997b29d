#!/usr/bin/env python3
"""Holds recorded exchanges to what the vendors themselves publish, but for the differences that ledger.yaml justifies.

    vendor_judge.py FILE.jsonl…

There are two oracles: the vendors' OpenAPI descriptions, which are not ours to copy, so $UNDERSTUDY_DESCRIPTIONS names the folder
that has them, and the models of Okta's SDK for Python. What the ledger says and nothing needs any more fails too, where the
oracle could be asked.
"""

import argparse
import collections
import hashlib
import importlib.util
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator
from jsonschema.validators import extend
from judge import FORMATS, MASK, OMITTED, entries, is_armed, is_masked, name_of, problem_of, short

HERE = Path(__file__).parent
# By vendor: its files, and how a path of ours begins there. Comapi's owner publishes the same resources for servers.
DESCRIPTIONS = {
    "okta": ("okta-*.yaml", []),
    "comapi": ("dotdigital-*.json", [(re.compile(r"/apispaces/[^/]+(?!/sessions/start$)"), "/cpaas")]),
}
VERBATIM = ("enum", "format", "maxItems", "maximum", "maxLength", "minItems", "minimum", "minLength", "pattern")


@dataclass(frozen=True)
class Difference:
    vendor: str
    route: str
    status: int
    place: str
    """The member, as a JSON pointer with `*` for elements; `status` or `content` for what concerns the whole answer."""
    kind: str
    """Such as undeclared, missing or another kind of value."""

    def __str__(self) -> str:
        return f"{self.vendor}: {self.route} {self.status} {self.place} {self.kind}"


def loaded(file: Path) -> dict:
    if file.suffix == ".json":
        return json.loads(file.read_text(encoding="utf-8"))
    return yaml.load(file.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


class Places:
    """What stands at the paths of a description: the most literal template fits."""

    def __init__(self):
        self.templates: dict[str, list] = collections.defaultdict(list)

    def add(self, method: str, template: str, value) -> None:
        pattern = "/".join("[^/]+" if part.startswith("{") else re.escape(part) for part in template.split("/"))
        self.templates[method.upper()].append((template.count("{"), re.compile(pattern), value))
        self.templates[method.upper()].sort(key=lambda each: each[0])

    def find(self, method: str, path: str):
        return next((value for _, pattern, value in self.templates[method] if pattern.fullmatch(path)), None)


class Description:
    """An OpenAPI 3.0 document as JSON Schema in which no object has members that are not declared."""

    name = "descriptions"

    def __init__(self, vendor: str, file: Path):
        self.vendor, self.document = vendor, loaded(file)
        self.schemas: dict[str, dict] = {}
        self.places = Places()
        for path, item in self.document["paths"].items():
            for method, operation in item.items():
                if isinstance(operation, dict) and "responses" in operation:
                    self.places.add(method, path, operation["responses"])
        self.validator = extend(Draft202012Validator, {"$ref": self.follow})
        self.validators = {}

    def at(self, reference: str) -> dict:
        value = self.document
        for part in reference.removeprefix("#/").split("/"):
            value = value[part.replace("~1", "/").replace("~0", "~")]
        return value

    def follow(self, validator, reference, instance, schema):
        if reference not in self.schemas:
            self.schemas[reference] = self.converted(self.at(reference))
        yield from validator.descend(instance, self.schemas[reference], schema_path=name_of(reference))

    def merged(self, schema: dict) -> dict:
        """The schema with its `allOf` in it, so that what it declares is in one place."""
        if "$ref" in schema:
            return self.merged(self.at(schema["$ref"]))
        whole = {name: value for name, value in schema.items() if name != "allOf"}
        whole["properties"] = dict(schema.get("properties", {}))
        whole["required"] = list(schema.get("required", []))
        for part in map(self.merged, schema.get("allOf", [])):
            whole["properties"] = {**part["properties"], **whole["properties"]}
            whole["required"] += part["required"]
            for name, value in part.items():
                # The choice among its heirs is the parent's.
                if name != "discriminator":
                    whole.setdefault(name, value)
        return whole

    def converted(self, schema: dict) -> dict:
        if "$ref" in schema:
            return {"$ref": schema["$ref"]}
        heirs = schema.get("discriminator", {}).get("mapping", {})
        whole = self.merged(schema)
        made = {name: whole[name] for name in VERBATIM if name in whole}
        if "type" in whole:
            made["type"] = whole["type"]
        if "items" in whole:
            made["items"] = self.converted(whole["items"])
        choices = [self.converted(each) for each in whole.get("oneOf", []) + whole.get("anyOf", [])]
        if choices:
            made["anyOf"] = choices
        if whole["properties"]:
            made["properties"] = {name: self.converted(value) for name, value in whole["properties"].items()}
            made["required"] = [
                name for name in whole["required"] if not whole["properties"].get(name, {}).get("writeOnly")]
        free = whole.get("additionalProperties", not (whole["properties"] and not choices))
        made["additionalProperties"] = self.converted(free) if isinstance(free, dict) else free
        if heirs:
            made = self.chosen(schema, heirs, made)
        if whole.get("nullable") and "type" in made:
            made["type"] = [made["type"], "null"]
            if "enum" in made:
                made["enum"] = [*made["enum"], None]
        return made

    def chosen(self, parent: dict, heirs: dict, otherwise: dict) -> dict:
        name = parent["discriminator"]["propertyName"]
        for value, heir in heirs.items():
            reference = heir if heir.startswith("#") else f"#/components/schemas/{heir}"
            if self.at(reference) is parent:
                continue
            otherwise = {
                "if": {"properties": {name: {"const": value}}, "required": [name]},
                "then": {"$ref": reference}, "else": otherwise}
        return otherwise

    def differences(self, method: str, path: str, status: int, kind: str, body) -> Iterator[tuple[str, str, str]] | None:
        responses = self.places.find(method, path)
        return None if responses is None else self.compared(responses, status, kind, body)

    def compared(self, responses: dict, status: int, kind: str, body) -> Iterator[tuple[str, str, str]]:
        response = responses.get(str(status)) or responses.get(f"{status // 100}XX") or responses.get("default")
        if response is None:
            yield "status", "undeclared", f"only {', '.join(responses)} are declared"
            return
        if "$ref" in response:
            response = self.at(response["$ref"])
        contents = response.get("content", {})
        if body is None or not contents:
            # A status that is declared without content says nothing of it.
            if body is not None and status in (204, 304):
                yield "content", "undeclared", short(body)
            return
        if kind not in contents:
            yield "content", f"{kind or 'none'} instead of {' or '.join(contents)}", short(body)
            return
        schema = contents[kind].get("schema")
        if schema is None:
            return
        made = self.validators.get(id(schema))
        if made is None:
            made = self.validators[id(schema)] = self.validator(self.converted(schema), format_checker=FORMATS)
        for error in made.iter_errors(body):
            if not is_masked(error):
                yield from told(error)


def told(error) -> Iterator[tuple[str, str, str]]:
    pointer, found, expected = problem_of(error)
    base = "" if pointer == "/" else pointer
    if surplus := re.match(r"no member (.*), only ", expected):
        for name in surplus[1].split(", "):
            yield f"{base}/{name}", "undeclared", found
    elif missing := re.match(r"the member (.*), which is always there", expected):
        yield f"{base}/{missing[1]}", "missing", found
    else:
        yield pointer, "differs", f"{found}; expected {expected}"


class Models:
    """The models of Okta's SDK, and which of them it makes of each answer: the SDK is generated, so its source can be read."""

    name = "models"
    vendor = "okta"

    def __init__(self):
        import okta.models

        self.models = okta.models
        self.places = Places()
        folder = Path(importlib.util.find_spec("okta").submodule_search_locations[0]) / "api"
        for file in sorted(folder.glob("*_api.py")):
            text = file.read_text(encoding="utf-8")
            kinds = re.findall(r"_response_types_map: [^=]*= \{(.*?)\}", text, re.S)
            calls = re.findall(r'method="(\w+)",\s*resource_path="([^"]+)"', text)
            for (method, path), kind in zip(calls, self.paired(kinds, len(calls)), strict=True):
                self.places.add(method, path, dict(re.findall(r'"(\d+)": (?:"([^"]*)"|None)', kind)))

    @staticmethod
    def paired(kinds: list[str], calls: int) -> list[str]:
        """One map for each call, of the methods that each call has in several forms."""
        assert calls and len(kinds) % calls == 0, (len(kinds), calls)
        return kinds[::len(kinds) // calls]

    def differences(self, method: str, path: str, status: int, kind: str, body):
        responses = self.places.find(method, path)
        return None if responses is None else self.compared(responses, status, body)

    def compared(self, responses: dict, status: int, body) -> Iterator[tuple[str, str, str]]:
        if str(status) not in responses:
            yield "status", "undeclared", f"only {', '.join(responses)} are declared"
            return
        words = re.fullmatch(r"(List\[)?(\w+)\]?", responses[str(status)] or "")
        model = getattr(self.models, words[2], None) if words else None
        if model is None or body is None or not hasattr(model, "from_dict"):
            return
        for each in body if words[1] and isinstance(body, list) else [body]:
            try:
                model.from_dict(without_secrets(each))
            except Exception as error:  # whatever it does not take
                errors = getattr(error, "errors", None)
                for one in errors() if errors else [{"loc": (), "msg": str(error)}]:
                    place = "".join("/*" if isinstance(part, int) else f"/{part}" for part in one["loc"]) or "/"
                    yield ("/*" + place if words[1] else place), "differs", f"{words[2]}: {one['msg'].splitlines()[0]}"


def without_secrets(value):
    """The value without what is masked, which no model takes for what it was."""
    if isinstance(value, list):
        return [without_secrets(each) for each in value]
    if isinstance(value, dict):
        return {name: without_secrets(each) for name, each in value.items() if not (isinstance(each, str) and MASK in each)}
    return value


def fits(pattern: str, text: str) -> bool:
    """Whether the text is of that form, in which `*` is any name."""
    return re.fullmatch(re.escape(pattern).replace(r"\*", "[^/ ]+"), text) is not None


class Ledger:
    """The differences that are justified, and which parts of which entries were needed."""

    def __init__(self, file: Path):
        self.entries = yaml.safe_load(file.read_text(encoding="utf-8"))["differences"]
        self.needed: set[tuple] = set()

    def justifies(self, difference: Difference, oracle: str) -> bool:
        found = False
        for number, entry in enumerate(self.entries):
            if entry["vendor"] != difference.vendor or oracle not in entry.get("by", [oracle]):
                continue
            parts = {
                "routes": [each for each in entry["routes"] if fits(each, difference.route)],
                "status": [each for each in entry.get("status", [difference.status]) if each == difference.status],
                "differs": [each for each in entry["differs"] if fits(each, f"{difference.place} {difference.kind}")]}
            if all(parts.values()):
                self.needed.update((number, name, each) for name, fitting in parts.items() for each in fitting)
                found = True
        return found

    def unneeded(self, oracles: set[tuple[str, str]]) -> Iterator[str]:
        """What nothing needed, of the entries whose oracles were all asked."""
        for number, entry in enumerate(self.entries):
            if {(entry["vendor"], each) for each in entry.get("by", ["descriptions"])} <= oracles:
                for name in ("routes", "status", "differs"):
                    for each in entry.get(name, []):
                        if (number, name, each) not in self.needed:
                            yield f"{entry['vendor']} {', '.join(entry['routes'])}: {name} {each}, since {entry['why']}"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="+", type=Path, metavar="FILE.jsonl")
    wanted = options.parse_args()
    oracles: list = [Models()]
    folder = os.environ.get("UNDERSTUDY_DESCRIPTIONS")
    if folder:
        oracles += [
            Description(vendor, file) for vendor, (files, _) in DESCRIPTIONS.items() for file in sorted(Path(folder).glob(files))]
    else:
        print("Not held to the vendors' descriptions: UNDERSTUDY_DESCRIPTIONS names no folder that has them, since they are "
              "not ours to copy")
    ledger = Ledger(HERE / "ledger.yaml")
    counts: collections.Counter = collections.Counter()
    found: dict[Difference, list] = {}
    known: dict[tuple, bool] = {}
    for file in wanted.files:
        for number, entry in entries(file):
            judge(entry, f"{file.name}:{number}", oracles, ledger, counts, found, known)
    for difference, (count, place, oracle, text) in sorted(found.items(), key=lambda each: str(each[0])):
        print(f"{difference}: {text}")
        print(f"    by the {oracle}, {count} different answers, first at {place}")
    unneeded = list(ledger.unneeded({(oracle.vendor, oracle.name) for oracle in oracles}))
    for words in unneeded:
        print(f"ledger.yaml: nothing needs this any more: {words}")
    judged = ", ".join(f"{count} by the {name} of {vendor}" for (vendor, name), count in sorted(counts.items()))
    print(f"Judged {judged or 'none'}: {len(found)} unjustified differences; "
          f"{len({number for number, *_ in ledger.needed})} of {len(ledger.entries)} entries of the ledger needed")
    return 1 if found or unneeded else 0


def judge(entry, place, oracles, ledger, counts, found, known) -> None:
    if not entry.get("route") or "response" not in entry or entry.get("intervention") and not is_armed(entry):
        return
    vendor, status, body = entry["vendor"], entry["status"], entry["response"]["body"]
    method, path = entry["request"]["method"], entry["request"]["target"].partition("?")[0]
    path = "/" + "/".join(filter(None, path.split("/")))
    headers = {name.lower(): value for name, value in entry["response"]["headers"]}
    kind = headers.get("content-type", "").split(";")[0].strip().lower()
    if method == "HEAD" or isinstance(body, str) and OMITTED.fullmatch(body):
        return
    for pattern, new in DESCRIPTIONS.get(vendor, ("", []))[1]:
        path = pattern.sub(new, path, count=1) if pattern.match(path) else path
    digest = hashlib.sha1(json.dumps(body).encode()).digest()
    for number, oracle in enumerate(oracles):
        if oracle.vendor != vendor:
            continue
        differences = oracle.differences(method, path, status, kind, body)
        if differences is None:
            continue
        counts[vendor, oracle.name] += 1
        key = (number, entry["route"], method, status, kind, digest)
        if key in known:
            continue
        known[key] = True
        for at, what, text in differences:
            if at == "status" and entry.get("intervention"):
                # The test chose the route.
                continue
            difference = Difference(vendor, entry["route"], status, at, what)
            if not ledger.justifies(difference, oracle.name):
                first = f"{place}, {method} {entry['request']['target'][:100]}"
                found.setdefault(difference, [0, first, oracle.name, text])[0] += 1


if __name__ == "__main__":
    sys.exit(main())
