"""Journal exports: a HAR that other tools open, and contract cases that pass when rerun; neither contains a secret."""

import json
import re
import subprocess
from datetime import datetime
from urllib.parse import quote, urlsplit

import pytest
import requests
from payloads import PAYLOADS
from world import ADA, API_KEY, BINARY, DEVICE, PARTNER, Sandbox

BOOK = f"/api/v1/partner/{PARTNER}/customer/{ADA}/addressbook"
PASSWORD = "Correct-Horse-1!"


def hostile_calls(sandbox: Sandbox) -> list[str]:
    """Sends every payload in each place that a client can fill; returns the secrets that were sent."""
    secrets = [PASSWORD]
    with requests.Session() as session:
        for payload in PAYLOADS:
            name = quote(payload, safe="")[:500]
            text = payload.encode("ascii", "ignore").decode().replace("\n", " ")[:900]
            token = sandbox.mint(claims={"x": payload, payload[:50] or "x": payload})
            secrets += [token, token.rsplit(".", 1)[1]]
            session.post(f"{sandbox.url}{BOOK}/{name}?a={name}", json={payload: payload}, headers={
                "x-rezolve-partner-apikey": API_KEY, "x-rezolve-device-id": text, "x-hostile": text, "authorization": f"Bearer {token}"})
            session.post(f"{sandbox.url}/v2/credentials/login", json={"username": payload, "password": PASSWORD}, headers={"x-rezolve-partner-apikey": API_KEY})
    return secrets


@pytest.fixture(scope="module")
def exported(server):
    sandbox = Sandbox(server, "exports")
    secrets = hostile_calls(sandbox)
    files = {form: requests.get(f"{sandbox.url}/_understudy/journal?format={form}") for form in ("har", "hurl")}
    assert {answer.status_code for answer in files.values()} == {200}
    return sandbox, secrets, files


def test_no_secret_is_in_what_is_taken_out(exported):
    _, secrets, files = exported
    assert len(secrets) == 1 + 2 * len(PAYLOADS)
    for form, answer in files.items():
        assert [secret for secret in secrets if secret in answer.text] == [], form
        assert "***" in answer.text or form == "hurl"


def members(value: dict, /, **kinds) -> None:
    """Checks that the value has these members, of these types."""
    for name, kind in kinds.items():
        assert isinstance(value[name], kind) and not (kind is int and isinstance(value[name], bool)), (name, value[name])


def test_the_har_is_one_by_version_1_2(exported):
    sandbox, _, files = exported
    log = files["har"].json()["log"]
    assert log["version"] == "1.2"
    members(log["creator"], name=str, version=str)
    journal = sandbox.control("GET", "journal")["entries"]
    assert len(log["entries"]) == len(journal) == 2 * len(PAYLOADS)
    for entry, recorded in zip(log["entries"], journal):
        members(entry, startedDateTime=str, time=int, request=dict, response=dict, cache=dict, timings=dict)
        datetime.fromisoformat(entry["startedDateTime"])
        members(entry["timings"], send=int, wait=int, receive=int)
        request, response = entry["request"], entry["response"]
        members(request, method=str, url=str, httpVersion=str, cookies=list, headers=list, queryString=list, headersSize=int, bodySize=int)
        members(response, status=int, statusText=str, httpVersion=str, cookies=list, headers=list, content=dict, redirectURL=str, headersSize=int, bodySize=int)
        members(response["content"], size=int, mimeType=str)
        for pair in request["headers"] + response["headers"] + request["queryString"]:
            members(pair, name=str, value=str)
        assert urlsplit(request["url"]).netloc == f"127.0.0.1:{sandbox.server.port}"
        if "postData" in request:
            members(request["postData"], mimeType=str, text=str)
            json.loads(request["postData"]["text"])
        assert (response["status"], request["method"]) == (recorded["status"], recorded["request"]["method"])
    hostile = [entry for entry in log["entries"] if entry["request"]["queryString"]]
    shown = {pair["value"] for entry in hostile for pair in entry["request"]["queryString"]}
    assert len(shown & set(PAYLOADS)) > 150, "texts are as they were sent"


def test_the_cases_pass_when_they_are_run_again(exported, tmp_path):
    sandbox, _, files = exported
    (tmp_path / "again.hurl").write_text(files["hurl"].text)
    done = subprocess.run(
        [BINARY, "contract", "run", tmp_path / "again.hurl", "--against", sandbox.server.url, "--json"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    left_out = len(re.findall(r"^# left out: ", files["hurl"].text, re.MULTILINE))
    run = len(re.findall(r"\{\{base\}\}/(?!_understudy)", files["hurl"].text))
    # A call with a password cannot be repeated; every other one is.
    assert run + left_out == 2 * len(PAYLOADS) and run >= len(PAYLOADS) - 5, (run, left_out)
