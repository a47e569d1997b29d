"""The judges themselves: what differs from a description is found, and so is what nothing met or needed."""

import json

import pytest
from judge import Interface, Judge
from vendor_judge import Difference, Ledger

DOCUMENT = {
    "paths": {"/things/{id}": {"get": {
        "x-route": "thing.get", "x-failures": ["thing-unknown"],
        "responses": {
            "200": {"x-source": "ours", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/thing.get.200"}}}},
            "404": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/failure.thing-unknown"}}}}}}}},
    "components": {"schemas": {
        "thing": {
            "type": "object", "required": ["id", "made"], "additionalProperties": False,
            "properties": {"id": {"type": "integer"}, "made": {"type": "string", "format": "date-time"}, "secret": {"type": "object"}}},
        "thing.get.200": {"anyOf": [{"$ref": "#/components/schemas/thing"}, {"type": "null"}]},
        "failure.thing-unknown": {"type": "object", "properties": {"message": {"const": "no"}}, "additionalProperties": False}}}}
SOCKETS = {
    "operations": {"send": {"action": "send", "messages": [{"$ref": "#/channels/socket/messages/news"}]}},
    "components": {"schemas": {}, "messages": {"news": {"payload": {"$ref": "#/components/schemas/thing"}}}}}
THING, UNKNOWN = {"id": 1, "made": "2027-01-01T00:00:00.000Z"}, {"message": "no"}


def entry(body, status=200, failure=None, route="thing.get", **members) -> dict:
    return {
        "vendor": "shop", "route": route, "status": status, "failure": failure,
        "request": {"method": "GET", "target": "/things/1", "headers": [], "body": None},
        "response": {"status": status, "headers": [["Content-Type", "application/json; charset=utf-8"]], "body": body}, **members}


def frame(message) -> dict:
    return {"vendor": "shop", "socket": {"frames": [{"from": "server", "message": message}]}}


ALL = [entry(THING), entry(UNKNOWN, 404, "thing-unknown"), frame(THING)]


def judged(tmp_path, capsys, *lines, is_partial=True) -> tuple[int, str]:
    file = tmp_path / "shop.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    judge = Judge({"shop": Interface("shop", DOCUMENT, SOCKETS)})
    judge.read(file)
    return judge.report(["shop"], is_partial), capsys.readouterr().out


def test_what_fits_passes_and_is_counted(tmp_path, capsys):
    code, said = judged(tmp_path, capsys, *ALL, entry(THING), is_partial=False)
    assert code == 0, said
    assert "met 4 of 4 descriptions" in said
    assert "Judged 3 answers, 2 of them different, and 1 frames: 0 differ" in said


@pytest.mark.parametrize(("line", "words"), [
    (entry({**THING, "id": "1"}), 'thing.get 200, /id: found "1"; expected {"type": "integer"}'),
    (entry({**THING, "made": "yesterday"}), "/made: found \"yesterday\""),
    (entry({**THING, "new": 1}), "expected no member new, only"),
    (entry({"id": 1}), "expected the member made, which is always there"),
    (entry(THING, 201), "expected [200, 404], or a failure"),
    (entry(THING, 404), "expected [200, 404], or a failure"),
    (entry(UNKNOWN, 404, "thing-lost"), "a failure that the route does not list"),
    (entry({"message": "yes"}, 404, "thing-unknown"), '/message: found "yes"; expected {"const": "no"}'),
    (entry(THING, route="thing.put"), "a route that is not described"),
    (frame({"id": 1}), "a frame, /: "),
])
def test_what_differs_is_found(line, words, tmp_path, capsys):
    code, said = judged(tmp_path, capsys, line)
    assert code == 1 and words in said, said


@pytest.mark.parametrize("line", [
    entry({**THING, "secret": "***"}), entry("(too long to be kept)"), entry({"id": 2}, intervention="armed fault, call 1: respond 200"),
    entry(UNKNOWN, 404, "thing-unknown", route=None)])
def test_what_the_journal_hides_and_what_a_test_changed_are_not_held_to_it(line, tmp_path, capsys):
    code, said = judged(tmp_path, capsys, line)
    assert code == 0, said


@pytest.mark.parametrize("left", range(3))
def test_what_nothing_met_is_found(left, tmp_path, capsys):
    code, said = judged(tmp_path, capsys, *ALL[:left], *ALL[left + 1:], is_partial=False)
    assert code == 1 and "described, and no test met it" in said, said


def test_the_ledger_justifies_what_it_names_and_says_what_nothing_needs(tmp_path):
    file = tmp_path / "ledger.yaml"
    file.write_text("""
        differences:
          - { vendor: shop, routes: ["thing.*"], status: [200, 201], differs: [/*/new undeclared], why: w, source: s }
    """)
    ledger = Ledger(file)
    assert ledger.justifies(Difference("shop", "thing.get", 200, "/*/new", "undeclared"), "descriptions")
    for route, status, place in [("thing.get", 202, "/*/new"), ("other.get", 200, "/*/new"), ("thing.get", 200, "/new/a")]:
        assert not ledger.justifies(Difference("shop", route, status, place, "undeclared"), "descriptions")
    assert list(ledger.unneeded({("shop", "descriptions")})) == ["shop thing.*: status 201, since w"]
    assert list(ledger.unneeded({("shop", "models")})) == []
