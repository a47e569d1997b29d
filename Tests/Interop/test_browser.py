"""Comapi from a web page on another origin, in Chromium: what scripts may send and what answers they may read."""

import json

import pytest
import requests
from browser import NoBrowser, visit
from messaging import A
from world import Sandbox

NAME = "web-page"
USERS = ["mira", "zoë~?>"]


@pytest.fixture(scope="module")
def sandbox(server):
    sandbox = Sandbox(server, NAME)
    sandbox.control("PUT", "faults", {"route": "facebook.state", "fail": "unavailable"})
    return sandbox


@pytest.fixture(scope="module")
def seen(sandbox):
    """The page's results; the page is visited once."""
    try:
        seen = visit(
            "messaging.html", base=sandbox.url, sandbox=NAME, space=A.id, secret=A.secret, issuer=A.issuer,
            audience=A.audience)
    except NoBrowser as problem:
        pytest.fail(str(problem), pytrace=False)
    assert "error" not in seen, seen["error"]
    assert not sandbox.url.startswith(seen["origin"]), "the page must come from another origin"
    return seen


@pytest.fixture(scope="module")
def entries(sandbox, seen):
    """The journal's entries for the page."""
    return sandbox.control("GET", "journal")["entries"]


def fields(entry: dict, part: str) -> dict[str, str]:
    return {name.lower(): value for name, value in entry[part]["headers"]}


def wanted_fields(entry: dict) -> set[str]:
    """The fields for which a browser requests permission."""
    return set(filter(None, fields(entry, "request").get("access-control-request-headers", "").split(",")))


def test_a_page_signs_the_answer_to_a_challenge_and_reads_its_session(seen):
    for answer, claims, user in zip((seen["mira"], seen["bob"]), seen["claims"], USERS):
        body = json.loads(answer["text"])
        assert (answer["status"], answer["type"], body["session"]["profileId"]) == (200, "cors", user)
        assert (answer["contentType"], answer["cacheControl"]) == ("application/json; charset=utf-8", "no-store")
        # Decoded with atob, as the vendor's SDK does.
        assert (claims["apiSpaceId"], claims["jti"]) == (A.id, body["session"]["id"])
        assert claims["exp"] - claims["iat"] == 3600


ERRORS = {
    "withoutToken": (401, {"message": "Unauthorized"}, "session-missing"),
    "byRequest": (401, {"message": "Unauthorized"}, "session-missing"),
    "brokenToken": (401, {"message": "Unauthorized"}, "session-malformed"),
    "malformed": (
        400, {"validationFailures": [{"paramName": "body", "message": "is not valid JSON for this call"}]}, "malformed-body"),
    "unknownPath": (404, {"message": "Not Found"}, "unknown-path"),
    "wrongMethod": (405, {"message": "Method Not Allowed"}, "method-not-allowed"),
    "unknownSpace": (404, {"message": "Not Found"}, "unknown-space"),
    "tooLarge": (413, {"message": "Payload Too Large"}, "body-too-large"),
    "unavailable": (503, {"message": "Service Unavailable"}, "unavailable"),
    "noHandshake": (426, {"message": "Upgrade Required"}, "upgrade-required"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_a_page_can_read_why_its_call_failed(seen, name):
    status, body, _ = ERRORS[name]
    answer = seen["errors"][name]
    assert (answer["status"], json.loads(answer["text"])) == (status, body)
    if name != "byRequest":
        assert (answer["type"], answer["cacheControl"]) == ("cors", "no-store")


def test_the_journal_has_the_reasons_in_their_order(seen, entries):
    reasons = [entry["failure"] for entry in entries if entry["failure"]]
    expected = ["bad-signature", *(failure for _, _, failure in ERRORS.values()), "etag-mismatch", "session-ended"]
    assert reasons == expected
    assert json.loads(seen["refused"]["text"]) == {"message": "Invalid JWT"}
    assert seen["refused"]["status"] == 403


def test_the_browser_asked_before_calls_and_was_answered_without_a_token(seen, entries):
    asked = [entry for entry in entries if entry["route"] == "preflight"]
    methods = {fields(entry, "request")["access-control-request-method"] for entry in asked}
    assert methods == {"GET", "POST", "PUT", "PATCH", "DELETE"}
    assert set.union(*map(wanted_fields, asked)) == {
        "authorization", "cache-control", "content-filename", "content-type", "if-match", "if-modified-since", "pragma"}
    for entry in asked:
        request, response = fields(entry, "request"), fields(entry, "response")
        assert request["origin"] == seen["origin"] and "authorization" not in request
        assert entry["response"]["status"] == 204
        assert response["access-control-allow-origin"] == "*" and response["access-control-max-age"] == "600"


def test_the_question_before_a_call_that_names_its_sandbox_in_a_header_names_none(seen, server):
    asked = requests.get(f"{server.url}/_understudy/journal?route=preflight", timeout=30).json()["entries"]
    assert "x-understudy-sandbox" in set.union(*map(wanted_fields, asked))


def test_a_page_sees_tags_and_sends_them_back(seen):
    profile = seen["profile"]
    assert profile["read"]["etag"] and profile["patched"]["etag"] != profile["read"]["etag"]
    assert [profile[name]["status"] for name in ("read", "patched", "again")] == [200, 200, 412]
    assert json.loads(profile["patched"]["text"])["firstName"] == "Mira"
    assert json.loads(profile["again"]["text"]) == {"message": "Precondition Failed"}
    # A base that ends in a slash, and a sandbox selected by header.
    for other in ("doubled", "byHeader"):
        assert (seen[other]["status"], seen[other]["text"]) == (200, profile["patched"]["text"])


def test_two_users_of_a_page_share_a_conversation(seen):
    assert seen["opened"] == [True, True]
    assert [greeting["name"] for greeting in seen["greetings"]] == ["socket.info"] * 2
    assert [greeting["context"]["createdBy"] for greeting in seen["greetings"]] == USERS
    calls = seen["calls"]
    assert {name: answer["status"] for name, answer in calls.items()} == {
        "created": 201, "updated": 200, "sent": 200, "marked": 200, "typing": 204, "page": 200}
    assert calls["marked"]["text"] == "OK"
    [message] = json.loads(calls["page"]["text"])["messages"]
    assert message["parts"][0]["data"] == "Ahoj 👍"
    assert message["statusUpdates"]["zoë~?>"]["status"] == "read"
    told = [
        "conversation.create", "conversation.participantAdded", "conversation.participantAdded", "conversation.update",
        "conversationMessage.sent", "conversationMessage.read"]
    assert seen["told"] == [[*told, "conversation.participantTyping"], told]
    assert seen["echo"] is True


def test_a_page_uploads_in_three_forms_and_shows_what_it_uploaded(seen):
    uploads = [json.loads(answer["text"]) for answer in seen["uploads"]]
    assert [(upload["name"], upload["size"], upload["type"], upload["folder"]) for upload in uploads] == [
        ("j.txt", 2, "text/plain", "content"), ("a.txt", 2, "text/plain", "content"), ("b.txt", 2, "text/x-own", "x")]
    assert [(content["status"], content["text"]) for content in seen["contents"]] == [(200, "hi")] * 3


def test_sockets_close_with_their_codes_and_a_refused_one_never_opens(seen):
    assert (seen["ended"]["status"], seen["ended"]["text"]) == (204, "")
    assert seen["closed"] == {"code": 1000, "reason": "The session was ended.", "clean": True}
    assert (seen["left"]["code"], seen["left"]["clean"]) == (1000, True)
    # This is all that a script learns about a refused handshake.
    assert seen["refusedSocket"]["opened"] is False
    assert (seen["refusedSocket"]["closed"]["code"], seen["refusedSocket"]["closed"]["clean"]) == (1006, False)
