"""The control API checked against its own description: by an OpenAPI validator, and call by call with JSON Schema."""

import json
import re
import subprocess

import jsonschema
import pytest
import requests
from description import Description
from openapi_spec_validator import OpenAPIV31SpecValidator
from world import API_KEY, BINARY, VENDORS, Server

# operation: (path parameters, query, content, status), one success and one failure
CALLS = {
    "coverage": [({}, "", None, 200), ({}, "?vendor=rezolve", None, 200), ({}, "?x=1", None, 400)],
    "index": [({}, "", None, 200), ({}, "?x=1", None, 400)],
    "health": [({}, "", None, 200), ({}, "?x=1", None, 400)],
    "openapi": [({}, "", None, 200), ({}, "?x=1", None, 400)],
    "openapi.vendor": [
        ({"document": "rezolve.json"}, "", None, 200), ({"document": "rezolve.json"}, "?x=1", None, 400),
        ({"document": "nobody.json"}, "", None, 404), ({"document": "rezolve"}, "", None, 404)],
    "asyncapi.vendor": [
        ({"document": "comapi.json"}, "", None, 200), ({"document": "rezolve.json"}, "", None, 404),
        ({"document": "nobody.json"}, "", None, 404)],
    "metrics": [({}, "", None, 200), ({}, "?x=1", None, 400)],
    "journal.list": [
        ({}, "", None, 200), ({}, "?status=404&vendor=rezolve&since=0&after=0&unmatched=true", None, 200),
        ({}, "?wait=1ms&count=99", None, 200), ({}, "?status=x", None, 400), ({}, "?wait=2", None, 400),
        ({}, "?format=brief&last=2&refused=false&since=5m&status=4xx&route=rua.*", None, 200), ({}, "?format=har", None, 200),
        ({}, "?format=hurl", None, 200), ({}, "?format=xml", None, 400), ({}, "?route=none.*", None, 400),
        ({}, "?refused=1", None, 400), ({}, "?since=-5m", None, 400), ({}, "?last=-1", None, 400),
    ],
    "journal.get": [
        ({"id": "1"}, "", None, 200), ({"id": "3"}, "", None, 200), ({"id": "4"}, "", None, 200),
        ({"id": "99"}, "", None, 404), ({"id": "1"}, "?format=brief", None, 200), ({"id": "1"}, "?format=har", None, 200),
        ({"id": "1"}, "?format=hurl", None, 200), ({"id": "1"}, "?format=x", None, 400),
    ],
    "journal.verify": [
        ({}, "", {"exactly": 2, "where": {"route": "rua.guest", "method": "POST"}}, 200),
        ({}, "", {"at_least": 3, "where": {"path": {"like": "/v2/*"}, "header": {"x-a": "b"}}}, 409),
        ({}, "?wait=1ms", {"at_most": 0}, 409), ({}, "", {"at_least": 2, "at_most": 1}, 400),
        ({}, "", {"where": {"rout": "x"}}, 400),
    ],
    "journal.clear": [({}, "", None, 204), ({}, "?x=1", None, 400)],
    "clock.get": [({}, "", None, 200), ({}, "?x=1", None, 400)],
    "clock.set": [
        ({}, "", {"now": "2027-01-15T08:00:00Z", "freeze": True}, 200), ({}, "", {"now": 1800000000.5}, 200),
        ({}, "", {"advance": "31m", "freeze": False}, 200), ({}, "", {"now": "soon"}, 400), ({}, "", {"no": 1}, 400),
    ],
    "clock.clear": [({}, "", None, 200), ({}, "?x=1", None, 400)],
    "settings.get": [({}, "", None, 200), ({}, "?x=1", None, 400)],
    "settings.set": [
        ({}, "", {"profile": "observed", "seed": 7}, 200),
        ({}, "", {"profile": {"rezolve": None}, "switches": {"rezolve.device-check": "off"}, "seed": None}, 200),
        ({}, "", {"public_base": "from-host"}, 200), ({}, "", {"public_base": None}, 200),
        ({}, "", {"profile": "other"}, 400), ({}, "", {"seed": -1}, 400), ({}, "", {"public_base": "x"}, 400),
    ],
    "tokens.kinds": [({}, "", None, 200), ({}, "?x=1", None, 400)],
    "tokens.explain": [
        ({}, "", {"token": "x", "vendor": "rezolve", "request": {}}, 200), ({}, "", {"token": "a.b.c"}, 200),
        ({}, "", {}, 400), ({}, "", {"token": "x", "vendor": "nobody"}, 404),
    ],
    "explain": [
        ({}, "", {"recording": "curl https://a.example/ims/v1/me", "answer": {"status": 401}, "at": 1800000000}, 200),
        ({}, "", {}, 400), ({}, "", {"recording": "curl"}, 400),
        ({}, "", {"recording": "curl https://a.example/ims/v1/me", "vendor": "nobody"}, 404),
    ],
    "tokens.mint": [
        ({"vendor": "rezolve", "kind": "login"}, "", None, 200),
        ({"vendor": "rezolve", "kind": "login"}, "", {"defect": "expired", "claims": {"a": 1}}, 200),
        ({"vendor": "rezolve", "kind": "login"}, "", {"defect": "none"}, 400),
        ({"vendor": "rezolve", "kind": "other"}, "", None, 404),
    ],
    "faults.list": [({}, "", None, 200), ({}, "?x=1", None, 400)],
    "faults.set": [
        ({}, "", {"route": "rua.guest", "call": 3, "fail": "service-unavailable"}, 200),
        ({}, "", {"faults": [
            {"vendor": "rezolve", "every": 2, "fault": {"delay": {"from": "0s", "to": "1ms"}, "truncate": 3}},
            {"route": ["rua.*"], "probability": 0.5, "seed": 1, "times": "always", "when": {"body": {"a": {"over": "2s"}}},
             "respond": {"status": 429, "headers": {"a": "b"}, "body": {"c": []}}},
            {"route": "rua.guest", "fault": {"drip": {"chunk": 1, "every": "1ms"}}, "times": 2},
            {"route": "rua.guest", "fault": "reset"},
        ]}, 200),
        ({}, "", {"route": "rua.guest", "fail": "none"}, 400), ({}, "", {"fail": "token-expired"}, 400),
    ],
    "faults.clear": [({}, "", None, 204), ({}, "?x=1", None, 400)],
    "vendors.list": [({}, "", None, 200), ({}, "?x=1", None, 400)],
    "vendors.sample": [({"vendor": "rezolve"}, "", None, 200), ({"vendor": "nobody"}, "", None, 404)],
    "scenarios.list": [({}, "?rules=true", None, 200), ({}, "?rules=1", None, 400), ({}, "", None, 200), ({}, "?x=1", None, 400)],
    "scenarios.set": [
        ({}, "", {"scenarios": []}, 200), ({}, "", "SCENARIO", 200), ({}, "", {"scenario": "none"}, 400)],
    "scenarios.clear": [({}, "", None, 204), ({}, "?x=1", None, 400)],
    "actions.list": [({}, "", None, 200), ({}, "?x=1", None, 400)],
    "state.act": [
        ({"vendor": "rezolve", "action": "register-customer"}, "", {"partner_entity_id": "user-9"}, 200),
        ({"vendor": "rezolve", "action": "register-customer"}, "", None, 400),
        ({"vendor": "rezolve", "action": "none"}, "", {}, 404), ({"vendor": "nobody", "action": "none"}, "", {}, 404)],
    "state.get": [({"vendor": "rezolve"}, "", None, 200), ({"vendor": "nobody"}, "", None, 404)],
    "state.set": [
        ({"vendor": "rezolve"}, "", "STATE", 200), ({"vendor": "rezolve"}, "", {"no": 1}, 400),
        ({"vendor": "nobody"}, "", {}, 404)],
    "keys.list": [({}, "", None, 200), ({}, "?x=1", None, 400)],
    # No vendor here publishes keys; the drills themselves are tested in Swift, with a test vendor.
    "keys.drill": [
        ({"vendor": "rezolve", "issuer": "any", "drill": "overlap"}, "", None, 404),
        ({"vendor": "nobody", "issuer": "any", "drill": "overlap"}, "", None, 404)],
    "health.live": [({}, "", None, 200), ({}, "?x=1", None, 400)],
    "health.ready": [({}, "", None, 200), ({}, "?x=1", None, 400)],
    "sandboxes.list": [
        ({}, "", None, 200), ({}, "?replicas=all", None, 400), ({}, "?x=1", None, 400)],
    "sandboxes.set": [
        ({"name": "described"}, "", {"ttl": "10m"}, 200), ({"name": "described"}, "", {"ttl": None}, 200),
        ({"name": "described"}, "", {"ttl": "-1s"}, 400)],
    "sandboxes.delete": [({"name": "described"}, "", None, 204), ({"name": "nobody"}, "", None, 404)],
    "reset": [({}, "", None, 204), ({}, "?x=1", None, 400)],
}


@pytest.fixture(scope="module")
def description(server):
    return Description(server.url)


def call(sandbox, description, operation, parameters, query, content):
    method, path = description.operations[operation]
    if content == "SCENARIO":
        # Any scenario will do; without one, an empty list is sent.
        names = [scenario["scenario"] for scenario in sandbox.control("GET", "scenarios")["available"]]
        content = {"scenario": names[0]} if names else {"scenarios": []}
    if content == "STATE":
        content = sandbox.control("GET", "state/rezolve")
    url = sandbox.server.url + path.format(**parameters) + query
    return requests.request(method, url, json=content, headers={"X-Understudy-Sandbox": sandbox.url.rsplit("~")[-1]}), content


def test_the_document_is_valid_openapi_3_1(description):
    OpenAPIV31SpecValidator(description.document).validate()


def references(value):
    if isinstance(value, dict):
        yield from [value["$ref"]] if isinstance(value.get("$ref"), str) else []
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from references(each)


def target(document, reference: str):
    for part in reference.removeprefix("#/").split("/"):
        document = document[part]
    return document


@pytest.mark.parametrize("vendor", VENDORS)
def test_each_vendor_s_document_is_valid_openapi_3_1_and_the_program_writes_the_same(server, vendor):
    document = requests.get(f"{server.url}/_understudy/openapi/{vendor}.json", timeout=30).json()
    OpenAPIV31SpecValidator(document).validate()
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    told = subprocess.run([BINARY, "routes", "--openapi", vendor], check=True, capture_output=True, text=True).stdout
    assert json.loads(told) == document


def test_the_document_of_sockets_holds_together(server):
    document = requests.get(f"{server.url}/_understudy/asyncapi/comapi.json", timeout=30).json()
    assert document["asyncapi"] == "3.0.0" and document["channels"] and document["components"]["messages"]
    for reference in references(document):
        assert target(document, reference), reference
    for message in document["components"]["messages"].values():
        jsonschema.Draft202012Validator.check_schema(message["payload"])
    for operation in document["operations"].values():
        assert operation["action"] in ("send", "receive")
        # By AsyncAPI 3.0 the messages of an operation are those of its channel.
        channel = operation["channel"]["$ref"]
        assert all(message["$ref"].startswith(f"{channel}/messages/") for message in operation["messages"])
    for channel in document["channels"].values():
        assert set(re.findall(r"{(\w+)}", channel["address"])) == set(channel["parameters"])


def test_an_answer_with_a_member_that_is_not_described_would_be_found(sandbox, description):
    clock = sandbox.control("GET", "clock")
    reference = description.pointer("components", "schemas", "Clock")
    description.check(reference, clock)
    for wrong in [{**clock, "other": 1}, {**clock, "frozen": "no"}, {"now": clock["now"]}]:
        with pytest.raises(jsonschema.ValidationError):
            description.check(reference, wrong)


def test_the_table_of_calls_has_every_operation(description):
    assert set(CALLS) == set(description.operations)


@pytest.mark.parametrize(
    ("operation", "parameters", "query", "content", "status"),
    [(name, *case) for name, cases in CALLS.items() for case in cases],
    ids=[f"{name}-{number}" for name, cases in CALLS.items() for number in range(len(cases))])
def test_answers_are_what_the_document_promises(sandbox, description, operation, parameters, query, content, status):
    requests.post(f"{sandbox.url}/v2/credentials/register/guest", headers={"x-rezolve-partner-apikey": API_KEY})
    requests.post(f"{sandbox.url}/v2/credentials/register/guest")
    requests.get(f"{sandbox.url}/nowhere")
    # The one that is deleted: the cases run in any order.
    requests.get(re.sub("/~[^/]+$", "/~described/_understudy/clock", sandbox.url)).raise_for_status()
    requests.post(f"{sandbox.url}/v2/credentials/logi", data=b"\xff\x00", headers={"authorization": "Bearer a.b.c"})
    answer, content = call(sandbox, description, operation, parameters, query, content)
    assert answer.status_code == status, answer.text
    description.check_answer(operation, answer)
    if content is not None and answer.ok:
        description.check_content(operation, content)


@pytest.mark.parametrize(("operation", "content"), [
    ("clock.set", {"now": "soon"}), ("clock.set", {"no": 1}), ("clock.set", {"advance": "5"}),
    ("settings.set", {"profile": "other"}), ("settings.set", {"seed": -1}), ("tokens.explain", {}),
    ("faults.set", {"route": "x", "fail": "y", "cal": 1}), ("faults.set", {"route": "x", "call": 0}),
    ("journal.verify", {"at_least": -1}), ("journal.verify", {"where": {"rout": {"iz": 1}}}),
    ("journal.verify", {"where": {"method": {"iz": 1}}}), ("scenarios.set", {"scenaro": "x"}),
])
def test_the_schemas_know_what_the_calls_refuse(sandbox, description, operation, content):
    answer, _ = call(sandbox, description, operation, {}, "", content)
    assert answer.status_code == 400
    with pytest.raises(jsonschema.ValidationError):
        description.check_content(operation, content)


def test_refusals_before_any_call_have_the_promised_shape(description, server):
    problem = description.pointer("components", "schemas", "Problem")
    for path in description.document["paths"]:
        target = server.url + path.replace("{", "").replace("}", "")
        wrong = requests.patch(target)
        assert wrong.status_code == 405 and wrong.headers["allow"]
        description.check(problem, wrong.json())
        conflict = requests.get(target, headers={"X-Understudy-Sandbox": "Not A Name"})
        assert conflict.status_code == 400
        description.check(problem, conflict.json())
    description.check(problem, requests.get(f"{server.url}/_understudy/nothing").json())


def test_a_content_over_the_limit_and_a_missing_token_are_refused_as_described(tmp_path):
    server = Server(tmp_path, "--control-token", "steer", "--state-limit", "2")
    try:
        headers = {"authorization": "Bearer steer"}
        document = requests.get(f"{server.url}/_understudy/openapi.json", headers=headers).json()
        assert document["security"] == [{"controlToken": []}]
        for path, item in document["paths"].items():
            for method in set(item) - {"parameters"}:
                target = server.url + path.replace("{", "").replace("}", "")
                bare = requests.request(method, target)
                assert bare.status_code == (200 if path.startswith("/_understudy/health") or path == "/_understudy/" else 401), path
                limit = 2 << 20 if method == "put" and path == "/_understudy/state/{vendor}" else 1 << 20
                large = requests.request(method, target, headers=headers, data=b" " * (limit + 1))
                assert large.status_code == 413 and large.json()["error"]["code"] == "body-too-large"
    finally:
        assert server.stop() == 0
