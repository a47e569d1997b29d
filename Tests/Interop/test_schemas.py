"""The schemas by which editors complete and check fixtures, against the files, the program's lists and its reader.

They say draft 2020-12, and some editors read them as draft-07: everything here is judged by both. YAML is read as version
1.2, by which `on` is a text; the fixtures' own reader and the editors do so too.
"""

import copy
import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from changes import REMOVED, changed, verdicts
from jsonschema import Draft7Validator, Draft202012Validator
from world import BINARY, ROOT, VENDORS

FIXTURES = ROOT / "Fixtures"
# The vendors that describe their accounts.
DESCRIBED = [vendor for vendor in VENDORS if (FIXTURES / vendor / "schemas/accounts.schema.json").exists()]
KINDS = ["accounts", "failures", "changed-failures", "scenario"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The folder that init writes for all vendors."""
    folder = tmp_path_factory.mktemp("init")
    options = [word for vendor in VENDORS for word in ("--vendor", vendor)]
    subprocess.run([BINARY, "init", *options], cwd=folder, check=True, capture_output=True)
    return folder


class CoreLoader(yaml.CSafeLoader):
    """YAML by the core schema of version 1.2, section 10.3.2, as far as fixtures need it."""

    yaml_implicit_resolvers = {}


for tag, form, first in [
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"), ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789")]:
    CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{form})$"), list(first))
CoreLoader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(node.value))


def load(text: str):
    return yaml.load(text, Loader=CoreLoader)


class Schema:
    """A schema as both drafts have it."""

    def __init__(self, path: Path):
        self.content = json.loads(path.read_text())
        self.validators = []
        for draft in (Draft202012Validator, Draft7Validator):
            draft.check_schema(self.content)
            self.validators.append(draft(self.content))

    def errors(self, content) -> list[str]:
        return [f"{list(error.absolute_path)}: {error.message[:200]}" for each in self.validators for error in each.iter_errors(content)]

    def takes(self, content) -> bool:
        [verdict] = {each.is_valid(content) for each in self.validators}
        return verdict


def schema(written: Path, vendor: str, kind: str) -> Schema:
    return Schema(written / f"Fixtures/{vendor}/schemas/{kind}.schema.json")


def files(vendor: str, kind: str) -> list[Path]:
    """The files of a kind that ship with the program, starter files included."""
    patterns = {
        "accounts": ["accounts.yaml", "starter/accounts.yaml"], "failures": ["failures.yaml"],
        "changed-failures": ["starter/failures/*.yaml"], "scenario": ["scenarios/*.yaml", "starter/scenarios/*.yaml"]}
    return [path for pattern in patterns[kind] for path in sorted((FIXTURES / vendor).glob(pattern))]


PLACES = {
    "accounts": "accounts.yaml", "failures": "failures.yaml", "changed-failures": "failures/checked.yaml",
    "scenario": "scenarios/checked.yaml"}


def judged(folder: Path, kind: str, contents: list[tuple]) -> list[str]:
    """What Understudy's reader finds wrong with each vendor's content; JSON is also YAML."""
    folders = [folder / str(number) for number in range(len(contents))]
    for each, (vendor, content) in zip(folders, contents):
        path = each / vendor / PLACES[kind]
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(content))
    return verdicts(folders)


def test_each_written_file_is_valid_by_the_schema_that_it_names(written):
    checked = 0
    for path in [written / "understudy.yaml", *written.glob("Fixtures/**/*.yaml")]:
        name = re.match(r"# yaml-language-server: \$schema=(\S+)\n", path.read_text())[1]
        assert Schema(path.parent / name).errors(load(path.read_text())) == [], path
        checked += 1
    assert checked > 15


def test_another_validator_of_files_finds_nothing_wrong_with_them_either(written):
    # In this process, since each start of the command would import it all again.
    import check_jsonschema
    from click.testing import CliRunner, Result

    def judge(*words) -> Result:
        return CliRunner().invoke(check_jsonschema.main, [str(word) for word in words])

    schemas = sorted(written.glob("Fixtures/**/*.schema.json"))
    assert len(schemas) > 25
    done = judge("--check-metaschema", *schemas)
    assert done.exit_code == 0, done.output
    for vendor in VENDORS:
        # It takes half a minute for a complete list of failures, whose form a changed one has as well.
        for kind in (kind for kind in KINDS if kind != "failures" and files(vendor, kind)):
            path = written / f"Fixtures/{vendor}/schemas/{kind}.schema.json"
            done = judge("--schemafile", path, *files(vendor, kind))
            assert done.exit_code == 0, done.output
    wrong = written / "wrong.yaml"
    wrong.write_text("scenario: a\nabout: b\nvendor: ims\nstates: { a: [{ on: no.such.route }] }\n")
    done = judge("--schemafile", written / "Fixtures/ims/schemas/scenario.schema.json", wrong)
    assert done.exit_code == 1 and "no.such.route" in done.stdout


@pytest.mark.parametrize("vendor, kind", [(vendor, kind) for vendor in VENDORS for kind in KINDS if files(vendor, kind)])
def test_every_shipped_file_is_valid(vendor, kind, written):
    judge = schema(written, vendor, kind)
    for path in files(vendor, kind):
        assert judge.errors(load(path.read_text())) == [], path


def listed(vendor: str, *words: str) -> list[dict]:
    told = subprocess.run([BINARY, "routes", "--json", "--vendor", vendor, *words], capture_output=True, text=True, check=True)
    return json.loads(told.stdout)


@pytest.mark.parametrize("vendor", VENDORS)
def test_what_editors_complete_is_what_the_program_lists(vendor, written):
    names = [row["failure"] for row in listed(vendor, "--failures")]
    routes = list(dict.fromkeys(row["route"] for row in listed(vendor)))
    failures = schema(written, vendor, "failures").content
    assert list(failures["properties"]["failures"]["properties"]) == names
    condition = failures["$defs"]["condition"]["properties"]
    switches = {row["switch"].partition(".")[2]: row["values"] for row in listed(vendor, "--switches")}
    assert set(condition) == {"route", *switches} and condition["route"]["items"]["enum"] == routes
    for name, values in switches.items():
        if "enum" in condition[name]:
            assert ", ".join(condition[name]["enum"]) == values
        else:
            assert "pattern" in condition[name]
    rule = schema(written, vendor, "scenario").content["properties"]["states"]["additionalProperties"]["items"]["properties"]
    assert rule["on"]["anyOf"][0]["anyOf"][0]["enum"] == routes
    assert rule["fail"]["enum"] == names
    actions = {row["action"]: row["members"].replace("!", "").split(", ") if row["members"] else [] for row in listed(vendor, "--actions")}
    told = rule["do"]["anyOf"][-1]["properties"]
    assert {name: list(members["properties"]) for name, members in told.items()} == actions


def test_the_configuration_s_switches_are_those_of_the_program(written, tmp_path):
    judge = Schema(written / "Fixtures/schemas/configuration.schema.json")
    switches = {row["switch"]: row for vendor in VENDORS for row in listed(vendor, "--switches")}
    assert set(judge.content["properties"]["switches"]["properties"]) == set(switches)
    for name, row in switches.items():
        for value in {row["documented"], row["observed"]}:
            assert judge.errors({"switches": {name: value}}) == []
    cases = [
        ({"port": 9000, "profile": {"rezolve": "observed"}, "switches": {"rezolve.leeway-seconds": 5}}, True),
        ({"watch": True, "profile": "documented"}, True), ({}, True), ({"prot": 9000}, False), ({"port": [1]}, False),
        ({"profile": "other"}, False), ({"profile": {"rezolv": "observed"}}, False), ({"profile": {"rezolve": "other"}}, False),
        ({"switches": {"rezolve.device-chek": "off"}}, False), ({"switches": {"rezolve.device-check": "maybe"}}, False),
        ({"switches": {"rezolve.leeway-seconds": -5}}, False), ({"switches": {"rezolve.leeway-seconds": True}}, False),
        ({"switches": {"bloomreach.unknown-project-status": 404}}, True),
        ({"switches": {"bloomreach.unknown-project-status": 405}}, False),
    ]
    for content, is_good in cases:
        path = tmp_path / "understudy.yaml"
        path.write_text(json.dumps(content))
        read = subprocess.run([BINARY, "routes", "--config", path], capture_output=True, text=True)
        assert (judge.takes(content), read.returncode) == (is_good, 0 if is_good else 2), (content, read.stderr)


def test_a_file_of_added_accounts_has_the_lists_of_the_accounts_and_nothing_else(written, tmp_path):
    judge = schema(written, "okta", "added-accounts")
    mine = {"users": [{"id": "00umine", "login": "mine@example.test", "created": 1}], "groups": [{"id": "00gmine", "name": "Mine"}]}
    cases = [(mine, True), ({}, True), ({"servers": []}, False), ({"users": [{"id": "00umine"}]}, False)]
    folders = [tmp_path / str(number) for number in range(len(cases))]
    for folder, (content, _) in zip(folders, cases):
        path = folder / "okta/accounts/mine.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(content))
    for told, (content, is_good) in zip(verdicts(folders), cases):
        assert (judge.takes(content), told == "") == (is_good, is_good), (content, told)


ANSWER = {"evidence": "ours", "source": "tests"}


def test_files_about_answers_and_requests_are_judged_alike(written, tmp_path):
    """By the schema and by the reader, which also knows what stands in other files."""
    routes = list(dict.fromkeys(row["route"] for row in listed("ims")))
    good = {
        "schemas": {"part": {**ANSWER, "schema": {"type": ["string", "null"], "minLength": 1}}},
        "refusals": {"some": ["token-missing"]},
        "answers": {route: {"200": {**ANSWER, "schema": {"$ref": "part"}}, "204": ANSWER, "refused": ["some"]} for route in routes},
        "frames": {"hello": {**ANSWER, "direction": "sent", "schema": {"anyOf": [{"$ref": "part"}, True]}}},
    }
    place = ("answers", routes[0], "200", "schema")
    schemas = [
        {"typ": "string"}, {"type": "strin"}, {"enum": []}, {"minimum": "1"}, {"maxItems": -1}, {"required": "id"}, {"items": []},
        {"properties": {"a": {"type": "x"}}}, {"additionalProperties": "no"}, {"anyOf": [1]}, {"format": 1}, "string"]
    answers = [changed(good, place, schema) for schema in schemas] + [
        changed(good, ("answers", "none.such"), {}), changed(good, ("answers", routes[0], "99"), ANSWER),
        changed(good, ("answers", routes[0], "200", "evidence"), "seen"), changed(good, ("refusals", "some"), ["none-such"]),
        changed(good, ("frames", "hello", "direction"), "out"), changed(good, ("schemas", "part", "source"), REMOVED)]
    reads = {"requests": {routes[0]: {"query": {"limit": {"type": "integer"}}, "body": {"type": "object", "properties": {}}}}}
    requests = [
        changed(reads, ("requests", routes[0], "form"), True), changed(reads, ("requests", "none.such"), {}),
        changed(reads, ("requests", routes[0], "header"), {}), changed(reads, ("requests", routes[0], "query", "limit"), 1)]
    cases = [("answers", each) for each in (good, *answers)] + [("requests", each) for each in (reads, *requests)]
    folders = [tmp_path / str(number) for number in range(len(cases))]
    for folder, (kind, content) in zip(folders, cases):
        place = folder / "ims"
        (place / "answers").mkdir(parents=True)
        # The installed files would say the same again.
        for path in (FIXTURES / "ims/answers").glob("*.yaml"):
            (place / "answers" / path.name).write_text("{}")
        (place / "answers/checked.yaml").write_text(json.dumps(content if kind == "answers" else good))
        if kind == "requests":
            (place / "requests.yaml").write_text(json.dumps(content))
    for told, (kind, content) in zip(verdicts(folders), cases):
        is_good = content in (good, reads)
        assert (schema(written, "ims", kind).takes(content), told == "") == (is_good, is_good), (content, told)


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_shipped_file_about_answers_and_requests_is_valid(vendor, written):
    for kind, pattern in [("answers", "answers/*.yaml"), ("requests", "requests.yaml")]:
        judge = schema(written, vendor, kind)
        for path in (FIXTURES / vendor).glob(pattern):
            # Statuses are names, which YAML reads as numbers.
            assert judge.errors(json.loads(json.dumps(load(path.read_text())))) == [], path


# --- Wrong files: what a schema refuses the reader refuses as well, and the other way round.


def places(content, path=(), pattern=()):
    """Every place in a document, one for each pattern of member names: elements of a list, and of free maps, are alike."""
    yield path, pattern, content
    if isinstance(content, dict):
        for name, value in content.items():
            yield from places(value, (*path, name), (*pattern, name))
    elif isinstance(content, list):
        for index, value in enumerate(content):
            yield from places(value, (*path, index), (*pattern, "*"))


# Free-form values: any content is right for both.
FREE = {"body", "parameters", "sources", "properties", "profile", "jwks", "certs", "public_key"}


def alike(pattern: tuple, kind: str) -> tuple:
    """The pattern with names of failures, states and others of a map left open, so that each form is tried once."""
    if "failures" in kind and pattern[:1] == ("failures",) and len(pattern) > 1:
        pattern = ("failures", "*", *pattern[2:])
    if kind == "scenario" and pattern[:1] == ("states",) and len(pattern) > 1:
        pattern = ("states", "*", *pattern[2:])
    return tuple("*" if index and pattern[index - 1] in ("headers", "ids", "parameters") else name for index, name in enumerate(pattern))


def mutations(vendors: list[str], kind: str):
    """Documents with one change: an unknown member, a value of another type, a missing member."""
    tried = set()
    for vendor, file in ((vendor, file) for vendor in vendors for file in files(vendor, kind)):
        content = load(file.read_text())
        if kind == "scenario":
            # The file is installed as well, and no two scenarios have the same name.
            content["scenario"] = "checked"
        for path, pattern, value in places(content):
            pattern = alike(pattern, kind)
            if pattern in tried or FREE & set(pattern[:-1]):
                continue
            tried.add(pattern)
            place = f"{file.name}: {'.'.join(map(str, path))}"
            if isinstance(value, dict) and not FREE & set(pattern):
                yield vendor, f"{place} with another member", changed(content, path, {**value, "nobody-knows": "x"})
            other = [{}] if isinstance(value, dict) else {"nobody-knows": []}
            yield vendor, f"{place} = {other}", changed(content, path, other)
            if path and isinstance(path[-1], str):
                yield vendor, f"{place} removed", changed(content, path, REMOVED)


# The schemas of failures and scenarios are made by the same code for all vendors, so each form is tried once.
GROUPS = [*(([vendor], "accounts") for vendor in DESCRIBED), *((VENDORS, kind) for kind in KINDS if kind != "accounts")]


@pytest.mark.parametrize("vendors, kind", GROUPS, ids=lambda value: value if isinstance(value, str) else value[0])
def test_one_wrong_value_is_refused_by_schema_and_reader_alike(vendors, kind, written, tmp_path):
    judges = {vendor: schema(written, vendor, kind) for vendor in vendors}
    cases = [(vendor, place, content, judges[vendor].takes(content)) for vendor, place, content in mutations(vendors, kind)]
    # A schema knows nothing of other places: that what is left needs the member.
    cases = [case for case in cases if not (case[3] and case[1].endswith("removed"))]
    told = judged(tmp_path, kind, [(vendor, content) for vendor, _, content, _ in cases])
    apart = [
        f"{place}: the schema {'takes' if is_valid else 'refuses'} it; the reader: {wrong or 'good'}"
        for (_, place, _, is_valid), wrong in zip(cases, told) if is_valid != (wrong == "")]
    assert apart == [] and sum(not is_valid for *_, is_valid in cases) > 5


def words(schema_content: dict, path=()):
    """Every enumeration in a schema of accounts, with its place."""
    for name, value in (schema_content.get("properties") or {}).items():
        here = (*path, name)
        if "enum" in value:
            yield here, value["enum"]
        yield from words(value, here)
    if isinstance(schema_content.get("items"), dict):
        if "enum" in schema_content["items"]:
            yield (*path, 0), schema_content["items"]["enum"]
        yield from words(schema_content["items"], (*path, 0))


def holders(content, place: tuple):
    """The values that hold the last step of a place, in all elements of the lists on the way."""
    if len(place) == 1:
        yield content
    elif isinstance(place[0], int):
        for element in content:
            yield from holders(element, place[1:])
    elif place[0] in content:
        yield from holders(content[place[0]], place[1:])
    elif place[1:] == (0,):
        yield from holders(content.setdefault(place[0], []), place[1:])
    elif not isinstance(place[1], int):
        yield from holders(content.setdefault(place[0], {}), place[1:])


@pytest.mark.parametrize("vendor", DESCRIBED)
def test_the_words_of_accounts_are_those_that_the_reader_names(vendor, written, tmp_path):
    judge = schema(written, vendor, "accounts")
    content = load((FIXTURES / vendor / "accounts.yaml").read_text())
    enumerations, contents = list(words(judge.content)), []
    for place, _ in enumerations:
        wrong = copy.deepcopy(content)
        contents.append((vendor, wrong))
        holder = next(iter(holders(wrong, place)))
        if isinstance(place[-1], int):
            holder[:] = ["nobody-says-this"]
        else:
            holder[place[-1]] = "nobody-says-this"
    for (place, choices), told in zip(enumerations, judged(tmp_path, "accounts", contents)):
        named = re.search(r"(?:is not one of|expected) ([\w:, -]+?)(?:;.*)?\s*$", told)
        assert named, f"{place}: {told}"
        assert sorted(named[1].split(", ")) == sorted(choices), place


GOOD_ROUTE = {"method": "GET", "path": "/my/own/{id}", "respond": {"status": 201, "headers": {"X-A": "b"}, "body": {"a": 1}}}
WRONG_ROUTES = [
    {**GOOD_ROUTE, "method": "get"}, {**GOOD_ROUTE, "path": "my"}, {**GOOD_ROUTE, "path": "/a?b"},
    {**GOOD_ROUTE, "path": "/_understudy/journal"}, {**GOOD_ROUTE, "path": "/~a/b"}, {**GOOD_ROUTE, "respond": {"status": 99}},
    {**GOOD_ROUTE, "respond": {"text": "a"}}, {**GOOD_ROUTE, "respond": {"body": "a", "body_file": "a.txt"}}, {**GOOD_ROUTE, "about": "a"},
    *({name: GOOD_ROUTE[name] for name in GOOD_ROUTE if name != missing} for missing in GOOD_ROUTE)]


def test_own_routes_are_judged_alike(tmp_path):
    (tmp_path / "own").mkdir()
    subprocess.run([BINARY, "fixtures", "schemas", tmp_path], check=True, capture_output=True)
    judge = Schema(tmp_path / "own/schemas/routes.schema.json")
    contents = [{"routes": {"a.b": route}} for route in [GOOD_ROUTE, {**GOOD_ROUTE, "path": "/{rest...}"}, *WRONG_ROUTES]]
    contents += [{}, {"routes": {"a b": GOOD_ROUTE}}]
    folders = [tmp_path / str(number) for number in range(len(contents))]
    for folder, content in zip(folders, contents):
        (folder / "own").mkdir(parents=True)
        (folder / "own/routes.yaml").write_text(json.dumps(content))
    said = verdicts(folders)
    for content, verdict in zip(contents, said):
        assert judge.takes(content) == (verdict == ""), (content, verdict)
    assert [verdict == "" for verdict in said] == [True, True] + [False] * (len(said) - 2)
