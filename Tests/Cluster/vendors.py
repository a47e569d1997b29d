"""What the clients of the cluster do with each vendor: hold a token, read with it, and leave marks in its state.

A mark is a text that stands in the vendor's exported state once the change was made: `mark-12-` for change 12.
"""

import re
from dataclasses import dataclass
from typing import Callable

from players import API_KEY, SPACE

DEVICE = "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a"
PHONES = "/api/v1/partner/317/customer/entity123/phonebook"
INBOX = "/webxp/projects/demo-project-1/appinbox/fetch"
EVENTS = "/track/v2/projects/demo-project-1/customers/events"
TALK = f"{SPACE}/conversations/talk"
MARK = re.compile(rb"mark-(\d+)-")

# Method, path, body and fields of a call.
Call = tuple[str, str, object, dict]


def bearer(token: str) -> dict:
    return {"Authorization": f"Bearer {token}"}


def rezolve(token: str) -> dict:
    return {**bearer(token), "x-rezolve-partner-apikey": API_KEY, "x-rezolve-device-id": DEVICE}


def action(vendor: str, name: str, **members) -> Call:
    return "POST", f"/_understudy/state/{vendor}/{name}", members, {}


@dataclass
class Vendor:
    name: str
    # Which token is minted once and used for all calls: it has to work at every later owner of the sandbox.
    token: str
    read: Callable[[str], Call]
    # Ways to leave a mark, with the token: calls of the vendor, and actions.
    marks: list[Callable[[str, str], Call]]
    # What is called once, before marks can be left.
    begin: list[Callable[[str], Call]]


TRIP = {"started_at": "2027-01-15T07:00:00Z", "ended_at": "2027-01-15T07:30:00Z", "distance_meters": 21000}
EVENT = {"customer_ids": {"registered": "ana@example.test"}, "event_type": "session_start", "timestamp": 1_900_000_000}

VENDORS = [
    Vendor("rezolve", "login", lambda token: ("GET", PHONES, None, rezolve(token)), [
        lambda token, mark: ("POST", PHONES, {"name": mark, "phone": "+15550100"}, rezolve(token)),
        lambda token, mark: action("rezolve", "register-customer", partner_entity_id=mark)], []),
    Vendor("ims", "user", lambda token: ("GET", "/ims/v1/me", None, bearer(token)), [
        lambda token, mark: ("POST", "/ims/v1/trips", {"trip_id": mark, **TRIP}, bearer(token)),
        lambda token, mark: action("ims", "enroll-user", email=f"{mark}@example.test")], []),
    Vendor("bloomreach", "customer-token", lambda token: ("POST", INBOX, {}, bearer(token)), [
        lambda token, mark: ("POST", EVENTS, {**EVENT, "properties": {"p": mark}}, {"Authorization": "Token pubkey-demo-1"}),
        lambda token, mark: action(
            "bloomreach", "track-event", customer="ben@example.test", event_type="visit", properties={"p": mark})], []),
    Vendor("comapi", "session", lambda token: ("GET", f"{SPACE}/profiles/mira", None, bearer(token)), [
        lambda token, mark: ("POST", f"{TALK}/messages", {
            "parts": [{"name": "body", "type": "text/plain", "data": mark, "size": len(mark)}]}, bearer(token)),
        lambda token, mark: action("comapi", "send-message", conversation="talk", profile="mira", text=mark)],
        [lambda token: ("POST", f"{SPACE}/conversations", {"id": "talk", "participants": [{"id": "bob"}]}, bearer(token))]),
    Vendor("okta", "access", lambda token: ("GET", "/oauth2/default/v1/userinfo", None, bearer(token)), [
        lambda token, mark: action("okta", "add-user", login=f"{mark}@example.test", password="Not-A-Secret-1"),
        lambda token, mark: action("okta", "trusted-origin", origin=f"http://{mark}.test:3000")], []),
]


def socket_path(sandbox: str, token: str) -> str:
    return f"/~{sandbox}{SPACE}/socket?token={token}"


@dataclass
class Extra:
    """Something of a sandbox besides clock and state; its values are texts, `None` for that of a new sandbox."""

    path: str
    put: Callable[[str], object]
    read: Callable[[dict], str | None]
    value: Callable[[int], str]


SCENARIOS = ["okta-clock-skew", "okta-consent-refused", "okta-mfa-required", "okta-password-expired"]
# None of them concerns a call that the clients make; a scenario of Okta is not put where its calls are made.
EXTRAS = {
    "switch": Extra(
        "/_understudy/settings", lambda value: {"switches": {"ims.sdk-near-expiry-seconds": value}},
        lambda answer: none_if(answer["switches"]["ims.sdk-near-expiry-seconds"], "60"),
        # At most 3600.
        lambda number: str(100 + number % 3000)),
    "fault": Extra(
        "/_understudy/faults", lambda value: {"route": "wallet.list", "call": int(value), "fail": "token-expired"},
        lambda answer: next((str(fault["call"]) for fault in answer["faults"]), None), lambda number: str(100 + number)),
    "scenario": Extra(
        "/_understudy/scenarios", lambda value: {"scenario": value},
        lambda answer: next((active["scenario"] for active in answer["active"]), None),
        lambda number: SCENARIOS[number % len(SCENARIOS)]),
}


def none_if(value: str, usual: str) -> str | None:
    return None if value == usual else value
