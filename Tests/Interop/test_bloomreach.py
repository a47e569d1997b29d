"""Bloomreach as used by its Python client, its SDKs and its example apps."""

import gzip
import json

import pytest
import requests
from engagement import (
    ANA, ANAS_COOKIE, BEN, GUEST, IOS, KEY_ID, PROJECT, SECRET, STREAM, Android, App, customer_token, stream_token)
from exponea_python_sdk import Exponea
from exponea_python_sdk.exceptions import APIException
from world import NOW


@pytest.fixture
def frozen(sandbox):
    sandbox.set_clock(now=NOW, freeze=True)
    return sandbox


@pytest.fixture
def client(frozen):
    return Exponea(PROJECT, username=KEY_ID, password=SECRET, url=frozen.url)


# The Python client


def test_the_client_changes_a_customer_and_reads_it_back(client):
    assert client.tracking.update_customer_properties(ANA, {"city": "Brno", "visits": 3}) is True
    assert client.customer.get_customer_attributes(
        ANA, properties=["first_name", "city", "visits", "none"], ids=["registered", "cookie"],
        segmentations=["segmentation-1"], expressions=["expression-1"], aggregations=["aggregate-1"],
        predictions=["prediction-1"],
    ) == {
        "properties": {"first_name": "Ana", "city": "Brno", "visits": 3, "none": None},
        "ids": {"registered": "ana@example.test", "cookie": [ANAS_COOKIE]},
        "segmentations": {"segmentation-1": "loyal"}, "expressions": {"expression-1": 41.5},
        "aggregations": {"aggregate-1": 3}, "predictions": {"prediction-1": 0.75},
    }


def test_the_client_reads_consents(client):
    assert client.customer.get_customer_consents(ANA, ["newsletter", "other"]) == {"newsletter": True, "other": False}
    assert client.customer.get_customer_consents(BEN, ["newsletter"]) == {"newsletter": False}


def test_the_client_tracks_events_and_reads_them_back_in_the_order_of_their_arrival(client):
    assert client.tracking.add_event(ANA, "payment", {"total": 12.5}, NOW - 10.5) is True
    assert client.tracking.add_event(ANA, "view") is True
    assert client.tracking.add_event(ANA, "payment") is True
    assert client.customer.get_events(ANA, ["payment"]) == [
        {"type": "payment", "timestamp": NOW - 10.5, "properties": {"total": 12.5}},
        {"type": "payment", "timestamp": NOW, "properties": {}},
    ]
    assert [event["type"] for event in client.customer.get_customer(ANA)["events"]] == ["payment", "view", "payment"]


def test_the_client_s_batch_goes_on_behind_a_command_that_fails(client):
    tracking = client.tracking
    assert tracking.batch_commands([
        tracking.update_customer_properties({"registered": "new@example.test"}, {"a": 1}, batch=True),
        tracking.add_event({"registered": "new@example.test"}, "", batch=True),
        tracking.add_event({"registered": "new@example.test"}, "view", batch=True),
        tracking.get_system_time(batch=True),
    ]) == [True, False, True, NOW]
    new = client.customer.get_customer({"registered": "new@example.test"})
    assert new["ids"] == {"registered": "new@example.test", "cookie": []}
    assert new["properties"] == {"a": 1}
    assert [event["type"] for event in new["events"]] == ["view"]
    with pytest.raises(APIException, match="No commands"):
        tracking.batch_commands([])


def test_the_client_asks_for_the_time_of_the_sandbox(client, frozen):
    assert client.tracking.get_system_time() == NOW
    frozen.set_clock(advance="31m")
    assert client.tracking.get_system_time() == NOW + 31 * 60


def test_the_client_exports_all_customers_and_one_becomes_anonymous(client):
    customers = client.customer.get_customers()
    assert [customer["ids"]["registered"] for customer in customers] == ["ana@example.test", "ben@example.test", None]
    assert [customer["properties"]["first_name"] for customer in customers] == ["Ana", None, None]
    client.tracking.add_event(ANA, "view")
    assert client.customer.anonymize_customer(ANA) is True
    with pytest.raises(APIException, match="Customer does not exist"):
        client.customer.get_customer(ANA)
    guest = client.customer.get_customer({"cookie": ANAS_COOKIE})
    assert guest["ids"]["cookie"] == [ANAS_COOKIE] and guest["properties"] == {}
    assert [event["type"] for event in guest["events"]] == ["view"]


def test_the_client_raises_what_each_family_of_calls_answers(client, frozen):
    cases = [
        (lambda: client.customer.get_events({"registered": "no"}, ["a"]), "Customer does not exist"),
        (lambda: client.customer.get_customer_attributes(ANA, segmentations=["x"]), "Segmentation with id x does not"),
        (lambda: client.customer.get_customer_attributes({}, properties=["a"]), "Must specify at least one customer ID"),
        (lambda: client.tracking.add_event({}, "a"), "At least one id should be specified"),
        (lambda: client.catalog.get_catalog_name("c"), "No such endpoint"),
    ]
    for call, message in cases:
        with pytest.raises(APIException, match=message):
            call()
    for project, username, password, message in [
        (PROJECT, "nobody", SECRET, "access key not found"), (PROJECT, KEY_ID, "wrong", "access key not found"),
        ("demo-project-9", KEY_ID, SECRET, "Could not authenticate"), ("demo_project", KEY_ID, SECRET, "Invalid project id"),
    ]:
        with pytest.raises(APIException, match=message):
            Exponea(project, username=username, password=password, url=frozen.url).tracking.get_system_time()
    assert frozen.last_entry()["failure"] == "invalid-project-id"


def test_the_client_raises_the_text_of_a_backend_that_is_down(client, frozen):
    frozen.control("PUT", "faults", {"route": "track.events", "fail": "service-unavailable"})
    with pytest.raises(APIException, match="Service Unavailable"):
        client.tracking.add_event(ANA, "a")
    assert client.tracking.add_event(ANA, "a") is True


# App inbox, with tokens signed by another library


@pytest.mark.parametrize("sdk", [IOS, Android])
def test_an_sdk_with_a_customer_token_fetches_marks_and_gets_a_delta(frozen, sdk):
    ids = {"cookie": ANAS_COOKIE, **ANA}
    app = sdk(frozen, f"Bearer {customer_token(ANA)}")
    first = app.fetch_inbox(ids).json()
    assert [message["id"] for message in first["messages"]] == ["msg-push-1", "msg-html-1"]
    assert all(not message["is_read"] for message in first["messages"])
    assert app.mark_as_read(ids, "msg-push-1", first["sync_token"]).json() == {"success": True}
    delta = app.fetch_inbox(ids, sync_token=first["sync_token"]).json()
    assert [(message["id"], message["is_read"]) for message in delta["messages"]] == [("msg-push-1", True)]
    # Another of the customer's devices, with the public key.
    other = App(frozen).fetch_inbox({"cookie": "another", **ANA}).json()
    assert [message["is_read"] for message in other["messages"]] == [True, False]


def test_a_token_of_the_ids_before_an_identify_is_over(frozen):
    app = IOS(frozen, f"Bearer {customer_token(ANA)}")
    for ids in [{"cookie": ANAS_COOKIE, **BEN}, {"cookie": "c0000000-0000-4000-8000-0000000000ff"}, {**ANA, "email_id": "x"}]:
        refused = app.fetch_inbox(ids)
        assert (refused.status_code, refused.json()["success"]) == (401, False)
        assert frozen.last_entry()["failure"] == "customer-token-ids-mismatch"
    assert app.inbox(ANA) == ["msg-push-1", "msg-html-1"]


@pytest.mark.parametrize(("token", "failure"), [
    (customer_token(ANA, expires=NOW), "customer-token-expired"),
    (customer_token(ANA, secret="another-secret-that-is-long-enough"), "customer-token-bad-signature"),
    (customer_token(ANA, key="privkey-demo-9"), "customer-token-unknown-key"),
    (stream_token(ANA), "customer-token-wrong-algorithm"),
    (customer_token({}), "customer-token-bad-subject"),
    ("a.b", "customer-token-malformed"),
])
def test_a_token_with_a_fault_is_refused_with_its_reason(frozen, token, failure):
    refused = IOS(frozen, f"Bearer {token}").fetch_inbox(ANA)
    assert refused.status_code == 401
    assert refused.json().get("token_expired", False) is (failure == "customer-token-expired")
    assert frozen.last_entry()["failure"] == failure


def test_an_ios_app_gets_410_after_a_deletion_and_fetches_once_more(frozen):
    app = IOS(frozen)
    token = app.fetch_inbox(ANA).json()["sync_token"]
    frozen.control("POST", "state/bloomreach/delete-inbox-message", {"customer": ANA, "message": "msg-push-1"})
    gone = app.fetch_inbox(ANA, sync_token=token)
    assert (gone.status_code, gone.json()) == (410, {"success": False, "error": "invalid sync token"})
    assert app.inbox(ANA) == ["msg-html-1"]


def test_an_android_app_goes_on_with_its_old_token_after_an_identify(frozen):
    app = Android(frozen)
    token = app.fetch_inbox(ANA).json()["sync_token"]
    assert app.inbox(BEN, sync_token=token) == ["msg-push-2"]
    # It cannot handle 410, which is what the switch is for.
    frozen.control("POST", "state/bloomreach/clear-inbox", {"customer": "ana@example.test"})
    assert app.fetch_inbox(ANA, sync_token=token).status_code == 410
    frozen.switch("bloomreach.sync-token-check", "full-resync")
    assert app.inbox(ANA, sync_token=token) == []


# The other calls of the SDKs


@pytest.mark.parametrize("sdk", [IOS, Android])
def test_an_sdk_starts_a_session(frozen, sdk):
    app = sdk(frozen)
    track = f"/track/v2/projects/{PROJECT}"
    done = {"errors": [], "success": True}
    event = {
        "customer_ids": GUEST, "event_type": "session_start", "timestamp": NOW + 0.25,
        "properties": {"application_id": "default-application", "device_id": "d", "platform": "test"}}
    assert app.send("POST", f"{track}/customers/events", event).json() == done
    click = {"url": "https://a.example.test/?xnpe_cmp=1", "properties": {"platform": "test"}, "timestamp": NOW}
    assert app.send("POST", f"{track}/campaigns/clicks", click).json() == done
    identify = {"customer_ids": {**GUEST, "registered": "new@example.test"}, "properties": {"a": "b"}, "timestamp": None}
    assert app.send("POST", f"{track}/customers", identify).json() == done
    consents = app.send("GET", f"/data/v2/projects/{PROJECT}/consent/categories").json()
    assert app.send("POST", f"/data/v2/projects/{PROJECT}/consent/categories").json() == consents
    assert consents["success"] and consents["results"][0]["sources"]["crm"] is True
    messages = app.send("POST", f"/webxp/s/{PROJECT}/inappmessages?compatibility=3", {"customer_ids": GUEST, "device": "ios"})
    assert [message["id"] for message in messages.json()["data"]] == ["inapp-1", "inapp-rich-1"]
    assert app.send("GET", f"/wxstatic/projects/{PROJECT}/bundle-ios.json?v=2").json()["success"] is True
    blocks = app.send(
        "POST", f"/webxp/s/{PROJECT}/inappcontentblocks?v=2", {"customer_ids": ANA, "content_block_ids": ["block-2"]})
    assert blocks.json()["data"][0]["content"] == {"html": "<div>Hello Ana</div>"}
    link = app.send("POST", f"/webxp/projects/{PROJECT}/cookies/{ANAS_COOKIE}/link-ids", {"external_ids": ANA})
    assert link.json() == {"success": True}
    segments = app.send("GET", f"/webxp/projects/{PROJECT}/segments?cookie={ANAS_COOKIE}").json()
    assert set(segments) == {"discovery", "content", "merchandising"}
    check = {"customer_ids": GUEST, "push_notification_id": "t", "platform": "ios", "application_id": "default-application"}
    assert app.send("POST", f"/campaigns/send-self-check-notification?project_id={PROJECT}", check).json() == {"success": True}
    frozen.control("POST", "journal/verify", {"where": {"vendor": "bloomreach", "status": 200}, "exactly": 11})


def test_escaped_slashes_charsets_and_android_s_spelling_of_a_cookie_do_not_matter(frozen):
    app = Android(frozen)
    body = json.dumps({"customer_ids": ANA, "event_type": "a/b", "properties": {"url": "https://x/y"}}).replace("/", "\\/")
    answer = requests.post(
        f"{frozen.url}//track/v2/projects/{PROJECT}/customers/events", data=body.encode(),
        headers={"Content-Type": "application/json; charset=utf-8", "authorization": "token  pubkey-demo-1 "}, timeout=30)
    assert answer.json() == {"errors": [], "success": True}
    assert "discovery" in app.send("GET", f"/webxp/projects/{PROJECT}/segments?cookie=?cookie={ANAS_COOKIE}").json()
    assert app.send("POST", "/track/v2/projects//customers", {}).status_code == 404


def test_a_compressed_body_is_refused_in_plain_text(frozen):
    body = gzip.compress(json.dumps({"customer_ids": ANA}).encode())
    refused = requests.post(
        f"{frozen.url}/webxp/projects/{PROJECT}/appinbox/fetch", data=body, timeout=30,
        headers={"Content-Encoding": "gzip", "Content-Type": "application/json", "Authorization": "Token pubkey-demo-1"})
    assert refused.status_code == 400
    assert refused.headers["Content-Type"].startswith("text/plain")
    assert refused.text == "BadRequest: The browser (or proxy) sent a request that this server could not understand."
    assert frozen.last_entry()["failure"] == "compressed-body"


def test_answers_are_json_with_an_id_and_never_compressed(frozen):
    answers = [IOS(frozen).fetch_inbox(ANA) for _ in range(2)]
    assert {answer.headers["Content-Type"] for answer in answers} == {"application/json"}
    assert all("Content-Encoding" not in answer.headers for answer in answers)
    assert len({answer.headers["x-request-id"] for answer in answers}) == 2


# Streams


def test_a_stream_takes_a_token_for_the_inbox_and_none_for_tracking(frozen):
    fetch, ids = f"/webxp/streams/{STREAM}/appinbox/fetch", {"customer_ids": {"cookie": ANAS_COOKIE, **ANA}}
    signed, bare = Android(frozen, f"Bearer {stream_token(ANA)}"), Android(frozen, None)
    assert len(signed.send("POST", fetch, ids).json()["messages"]) == 2
    missing = bare.send("POST", fetch, ids)
    assert (missing.status_code, missing.json()["error"]) == (401, "missing token")
    event = {"customer_ids": GUEST, "event_type": "view", "properties": {}}
    assert bare.send("POST", f"/track/u/v1/customers/events?stream_id={STREAM}", event).json()["success"] is True
    items = signed.send(
        "POST", f"/optimization/streams/{STREAM}/recommend/user", {"customer_ids": ANA, "engine_id": "bestsellers", "size": 5})
    assert items.json()["errors"] == "[]" and items.json()["data"][0]["item_id"] == "item-1"
    for token, failure in [
        (stream_token(ANA, expires=NOW - 1), "stream-token-expired"), (stream_token(BEN), "stream-token-ids-mismatch"),
        (stream_token(ANA, secret="x" * 64), "stream-token-bad-signature"), (customer_token(ANA), "stream-token-wrong-algorithm"),
    ]:
        refused = Android(frozen, f"Bearer {token}").send("POST", fetch, ids)
        assert refused.status_code == 401
        assert frozen.last_entry()["failure"] == failure


# The example apps


def test_the_example_apps_get_a_token_that_opens_the_inbox(frozen):
    order = {"project_id": PROJECT, "kid": KEY_ID, "sub": ANA, "exp": NOW + 60}
    answer = App(frozen, None).send("POST", "/webxp/exampleapp/customertokens", order).json()
    assert answer["expire_time"] == NOW + 60
    app = IOS(frozen, f"Bearer {answer['customer_token']}")
    assert len(app.inbox(ANA)) == 2
    frozen.set_clock(advance="60s")
    expired = app.fetch_inbox(ANA)
    assert (expired.status_code, expired.json()["token_expired"]) == (401, True)


def test_minted_tokens_are_those_that_another_library_signs(frozen):
    minted = frozen.control("POST", "tokens/bloomreach/customer-token")["token"]
    assert len(IOS(frozen, f"Bearer {minted}").inbox(ANA)) == 2
    # The vendor's sample has this member order; the signature covers different bytes and is valid as well.
    import jwt

    claims = jwt.decode(minted, SECRET, algorithms=["HS256"], options={"verify_exp": False, "verify_sub": False})
    assert claims["sub"] == ANA
    assert jwt.get_unverified_header(minted) == {"alg": "HS256", "typ": "JWT", "kid": KEY_ID}
