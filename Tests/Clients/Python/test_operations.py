"""The client has every operation of the control API, with its parameters, and no other."""

import copy
import inspect
import json
import re
import subprocess
import sys

import pytest

from understudy import Control

METHODS = {"get", "put", "post", "delete", "patch"}


@pytest.fixture(scope="module")
def operations(document):
    """Each operation by the name of its method, with its parameters and whether it has a content."""
    found = {}
    for item in document["paths"].values():
        for method, operation in item.items():
            if method in METHODS:
                found[operation["operationId"].replace(".", "_")] = operation
    return found


def parameters(operation: dict, place: str) -> set:
    return {(each["name"], each.get("required", False)) for each in operation.get("parameters", []) if each["in"] == place}


def methods() -> dict:
    return {name: value for name, value in vars(Control).items() if inspect.isfunction(value) and not name.startswith("_")}


def test_each_operation_has_a_method_and_each_method_an_operation(operations):
    assert len(operations) > 30
    assert set(methods()) == set(operations)


def test_each_method_has_the_parameters_of_its_operation_and_no_others(operations):
    for name, method in methods().items():
        arguments = [each for each in inspect.signature(method).parameters.values() if each.name != "self"]
        given = {
            kind: {(each.name, each.default is each.empty) for each in arguments if each.kind is kind}
            for kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)}
        content = operations[name].get("requestBody")
        positional = parameters(operations[name], "path") | ({("body", content["required"])} if content else set())
        assert given[inspect.Parameter.POSITIONAL_OR_KEYWORD] == positional, name
        assert given[inspect.Parameter.KEYWORD_ONLY] == parameters(operations[name], "query"), name


def generate(root, *arguments) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, root / "Sources/Clients/generate", *arguments], capture_output=True, text=True, timeout=60)


def test_the_written_files_say_what_the_document_says(root, understudy):
    made = generate(root, "--check", understudy.url)
    assert made.returncode == 0, f"run Sources/Clients/generate against a server of this version:\n{made.stdout}{made.stderr}"


def change_operation(document):
    document["paths"]["/_understudy/reset"]["put"] = {
        **document["paths"]["/_understudy/reset"]["post"], "operationId": "reset.other"}


def change_parameter(document):
    document["paths"]["/_understudy/journal"]["get"]["parameters"][0]["name"] = "seller"


def change_member(document):
    document["components"]["schemas"]["Clock"]["properties"]["zone"] = {"type": "string", "description": "New."}


def change_status(document):
    document["paths"]["/_understudy/reset"]["post"]["responses"]["202"] = {"description": "Later."}


@pytest.mark.parametrize("change", [change_operation, change_parameter, change_member, change_status])
def test_a_change_of_the_document_is_noticed_in_all_languages(root, document, tmp_path, change):
    changed = copy.deepcopy(document)
    change(changed)
    (tmp_path / "document.json").write_text(json.dumps(changed))
    made = generate(root, "--check", tmp_path / "document.json")
    assert made.returncode == 1
    assert "--- Sources/Clients/Python/src/understudy/control.py" in made.stdout


# Each operation once: path parameters, content, query.
CALLS = {
    "health": {}, "health_live": {}, "health_ready": {}, "openapi": {}, "metrics": {}, "vendors_list": {},
    "vendors_sample": {"vendor": "rezolve"},
    "journal_list": {
        "vendor": "rezolve", "route": "rua.*", "status": "4xx", "failure": "token-expired", "since": "5m", "after": 0,
        "unmatched": False, "refused": True, "kind": "incoming", "last": 3, "format": "brief", "wait": "1ms", "count": 1},
    "journal_clear": {}, "journal_get": {"id": 1, "format": "brief"},
    "journal_verify": {"body": {"exactly": 1, "where": {"route": "rua.guest"}}, "wait": "1ms"},
    "clock_get": {}, "clock_set": {"body": {"advance": "1s"}}, "clock_clear": {},
    "settings_get": {}, "settings_set": {"body": {"switches": {"rezolve.device-check": "off"}}},
    "tokens_kinds": {}, "tokens_explain": {"body": {"token": "a.b.c"}}, "tokens_mint": {"vendor": "rezolve", "kind": "login"},
    "faults_list": {}, "faults_set": {"body": {"faults": []}}, "faults_clear": {},
    "scenarios_list": {"rules": True}, "scenarios_set": {"body": {"scenarios": []}}, "scenarios_clear": {},
    "actions_list": {},
    "state_act": {"vendor": "rezolve", "action": "register-customer", "body": {"partner_entity_id": "user-9"}},
    "state_get": {"vendor": "rezolve"}, "state_set": {"vendor": "rezolve", "body": {}},
    "keys_list": {}, "keys_drill": {"vendor": "ims", "issuer": "rotating", "drill": "overlap"},
    "sandboxes_list": {"replicas": "all"}, "sandboxes_set": {"name": "called", "body": {"ttl": "10m"}}, "sandboxes_delete": {"name": "called"},
    "reset": {},
}


def test_the_table_calls_each_operation_with_each_of_its_query_parameters(operations):
    assert set(CALLS) == set(operations)
    for name, arguments in CALLS.items():
        assert parameters(operations[name], "query") <= {(argument, False) for argument in arguments}, name


@pytest.mark.parametrize("name", CALLS)
def test_the_server_takes_the_call(understudy, sandbox, call, name):
    call("POST", "/v2/credentials/register/guest")
    arguments = dict(CALLS[name])
    if name == "state_set":
        arguments["body"] = sandbox.state("rezolve")
    if name == "sandboxes_delete":
        understudy.sandbox("called", ttl="10m")
    answer = getattr(sandbox.control, name)(**arguments)
    is_silent = re.search(r"_(clear|delete)$|^reset$", name) and name != "clock_clear"
    assert answer is None if is_silent else answer is not None


def test_what_a_call_sends_arrives(sandbox, call):
    call("POST", "/v2/credentials/register/guest")
    call("GET", "/nowhere")
    control = sandbox.control
    assert [entry["status"] for entry in control.journal_list(unmatched=True, format="brief")["entries"]] == [404]
    assert control.journal_list(route="rua.*", last=1)["entries"][0]["route"] == "rua.guest"
    assert control.journal_list(format="hurl").startswith("#") or "POST" in control.journal_list(format="hurl")
    assert "log" in control.journal_list(format="har")
    assert control.journal_verify({"exactly": 3})["verified"] is False
    assert control.journal_get(2)["request"]["target"] == "/nowhere"
    assert "rules" in control.scenarios_list(rules=True)["available"][0]
    assert "rules" not in control.scenarios_list(rules=False)["available"][0]
