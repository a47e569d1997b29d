"""The tests on the pages that show how to use each vendor; the pages quote them."""

import json
import urllib.error
import urllib.request
from typing import NamedTuple

REZOLVE = {"x-rezolve-partner-apikey": "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6", "x-rezolve-device-id": "my-phone"}
ADDRESSES = "/api/v1/partner/317/customer/entity123/addressbook"
OPERATOR = {"x-ims-operator-key": "ims-operator-test-key"}
PUBLIC_KEY = {"authorization": "Token pubkey-demo-1"}
ANA = {"registered": "ana@example.test"}
SPACE = "/apispaces/b1f0c3d2-5a47-4c1e-9d88-0e6a7f2b4c15"


class Answer(NamedTuple):
    status: int
    body: dict


def ask(sandbox, path, token=None, body=None, headers=None) -> Answer:
    """Stands for the app under test: a call, of which it sees the status and the content."""
    fields = {"content-type": "application/json", **({"authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
    content = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(sandbox.base_url + path, content, fields), timeout=30) as answer:
            return Answer(answer.status, json.loads(answer.read() or b"null"))
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, json.loads(error.read() or b"null"))


def test_a_rezolve_session_is_renewed_after_half_an_hour(sandbox):
    token = sandbox.mint("rezolve/login", device_id="my-phone")
    assert ask(sandbox, ADDRESSES, token, headers=REZOLVE).status == 200
    sandbox.clock.advance(minutes=31)
    assert ask(sandbox, ADDRESSES, token, headers=REZOLVE).status == 401
    renewed = ask(sandbox, "/v2/credentials/ping", token, headers=REZOLVE).body["accessToken"].removeprefix("Bearer ")
    assert ask(sandbox, ADDRESSES, renewed, headers=REZOLVE).status == 200
    sandbox.expect_calls(failure="token-expired", exactly=1)


def test_ims_knows_a_user_only_after_activation(sandbox):
    dora = {"tenant": "demo", "email": "dora@example.test", "enterprise_id": "EMP-0005"}
    user = ask(sandbox, "/ims/v1/users", body=dora, headers=OPERATOR).body["id"]
    token = sandbox.mint("ims/user", sub="EMP-0005")
    assert ask(sandbox, "/ims/v1/me", token).status == 403
    ask(sandbox, f"/ims/v1/users/{user}/activate", body={}, headers=OPERATOR)
    assert ask(sandbox, "/ims/v1/me", token).body["state"] == "active"
    sandbox.expect_calls(failure="user-not-active", exactly=1)


def test_bloomreach_gets_the_purchase_and_refuses_an_old_token(sandbox):
    token = sandbox.mint("bloomreach/customer-token")
    purchase = {"customer_ids": ANA, "event_type": "purchase", "properties": {"total_price": 12}}
    ask(sandbox, "/track/v2/projects/demo-project-1/customers/events", body=purchase, headers=PUBLIC_KEY)
    sandbox.act("bloomreach/expect-event", event_type="purchase", customer=ANA, exactly=1)
    sandbox.clock.advance(minutes=61)
    assert ask(sandbox, "/webxp/projects/demo-project-1/appinbox/fetch", token, {"customer_ids": ANA}).status == 401
    sandbox.expect_calls(route="appinbox.fetch", failure="customer-token-expired", exactly=1)


def test_comapi_delivers_what_the_other_side_writes(sandbox):
    token = sandbox.mint("comapi/session", profile="mira")
    ask(sandbox, f"{SPACE}/conversations", token, {"id": "trip-42", "participants": [{"id": "bob"}]})
    sandbox.act("comapi/send-message", conversation="trip-42", profile="bob", text="Hello")
    [message] = ask(sandbox, f"{SPACE}/conversations/trip-42/messages", token).body["messages"]
    assert (message["context"]["sentBy"], message["parts"][0]["data"]) == ("bob", "Hello")
    sandbox.expect_calls(route="message.list", status=200, exactly=1)


def test_an_okta_token_is_good_for_an_hour(sandbox):
    token = sandbox.mint("okta/access", user="ada@example.test")
    assert ask(sandbox, "/oauth2/default/v1/userinfo", token).body["email"] == "ada@example.test"
    sandbox.clock.advance(minutes=61)
    assert ask(sandbox, "/oauth2/default/v1/userinfo", token).status == 401
    assert sandbox.journal.last().reason.startswith("expiry: ")
